"""The files of the console as HTTP answers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from punctual.runtime.lambdas.console_files import ConsoleFiles

SIGN_IN = "https://punctual-test.auth.us-east-1.amazoncognito.com"
PAGE = '<!doctype html><base href="./" /><script type="module" src="./assets/index-1a2b.js"></script>'

COPY = "index-1a2b.js.br"
SCRIPT = "console.log('loaded')"


@pytest.fixture
def files(tmp_path: Path) -> ConsoleFiles:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    for suffix, content in (("", SCRIPT), (".br", "brotli"), (".gz", "gzip")):
        (folder / "assets" / f"index-1a2b.js{suffix}").write_text(content)
    (tmp_path / "secret.txt").write_text("not for readers")
    return ConsoleFiles(folder, root="/console/", sign_in=SIGN_IN)


def body(answer: dict[str, Any]) -> bytes:
    return base64.b64decode(answer["body"])


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/jobs", "/console/jobs/01m7/edit"])
def test_every_address_of_a_view_returns_the_page_with_the_base_of_the_console(files: ConsoleFiles, path: str) -> None:
    answer = files.answer(path, {})
    assert answer["statusCode"] == 200
    assert body(answer) == PAGE.replace('href="./"', 'href="/console/"', 1).encode()
    assert answer["headers"]["Content-Type"] == "text/html; charset=utf-8"
    assert answer["headers"]["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("accepted", "encoding", "content"),
    [
        ("gzip, deflate, br, zstd", "br", "brotli"),
        ("GZIP;q=0.5", "gzip", "gzip"),
        ("br; q=0, gzip", "gzip", "gzip"),
        ("brotli", None, SCRIPT),
        ("", None, SCRIPT),
    ],
)
def test_an_asset_never_changes_and_is_sent_as_the_smallest_copy_that_the_client_accepts(
    files: ConsoleFiles, accepted: str, encoding: str | None, content: str
) -> None:
    answer = files.answer("/console/assets/index-1a2b.js", {"accept-encoding": accepted})
    assert answer["headers"]["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer["headers"]["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer["headers"].get("Content-Encoding") == encoding
    assert body(answer) == content.encode()


def test_the_entity_tag_is_that_of_the_content_in_each_encoding(files: ConsoleFiles) -> None:
    accepted = ("", "gzip", "br")
    answers = [files.answer("/console/assets/index-1a2b.js", {"accept-encoding": one}) for one in accepted]
    assert len({answer["headers"]["ETag"] for answer in answers}) == 1
    assert {answer["headers"]["Vary"] for answer in answers} == {"Accept-Encoding"}


def test_an_unchanged_file_is_not_sent_again(files: ConsoleFiles) -> None:
    etag = files.answer("/console", {})["headers"]["ETag"]
    answer = files.answer("/console", {"if-none-match": etag})
    assert answer["statusCode"] == 304
    assert "body" not in answer
    assert files.answer("/console", {"if-none-match": '"another"'})["statusCode"] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/console/assets/missing.js",
        "/console/../secret.txt",
        "/console/assets/../../secret.txt",
        "/console/x.map",
        f"/console/assets/{COPY}",
    ],
)
def test_no_other_file_is_served(files: ConsoleFiles, path: str) -> None:
    assert files.answer(path, {})["statusCode"] == 404


def test_the_policy_allows_only_files_of_the_console_and_requests_to_the_api_and_the_sign_in(
    files: ConsoleFiles,
) -> None:
    policy = dict(
        one.split(" ", 1) for one in files.answer("/console", {})["headers"]["Content-Security-Policy"].split("; ")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": f"'self' {SIGN_IN}",
        "base-uri": "'self'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
