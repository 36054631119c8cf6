from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest

from punctual.runtime.lambdas import log


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """The standard output while the root logger is configured by ``log.configure``."""
    written, root = io.StringIO(), logging.getLogger()
    monkeypatch.setattr("sys.stdout", written)
    monkeypatch.setattr(root, "handlers", root.handlers)
    monkeypatch.setattr(root, "level", root.level)
    log.configure()
    return written


def read(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_any_logger_writes_one_json_object_per_line_with_its_extra_fields(lines: io.StringIO) -> None:
    logging.getLogger("a.task").info("checked %d\nrecords", 7, extra={"missing": {"id": 2}})
    [line] = read(lines)
    assert (line["level"], line["message"], line["missing"]) == ("INFO", "checked 7\nrecords", {"id": 2})
    assert line["timestamp"].endswith("Z")


def test_only_warnings_and_errors_have_their_place_in_the_code(lines: io.StringIO) -> None:
    logging.getLogger("a.task").info("done")
    logging.getLogger("a.task").warning("odd")
    done, odd = read(lines)
    assert set(done) == {"level", "message", "timestamp"}
    assert odd["location"].startswith("test_log:")


def test_context_fields_are_logged_inside_the_block_only(lines: io.StringIO) -> None:
    with log.about(execution_id="e", attempt=1):
        logging.getLogger("a.task").warning("inside")
    logging.getLogger("a.task").warning("outside")
    inside, outside = read(lines)
    assert (inside["execution_id"], inside["attempt"]) == ("e", 1)
    assert "execution_id" not in outside


def test_an_exception_is_logged_with_its_traceback(lines: io.StringIO) -> None:
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("a.task").exception("failed")
    assert "ValueError: no" in read(lines)[0]["exception"]


def test_requests_of_libraries_are_never_logged(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_DEBUG_PERCENT", "100.1")
    with log.sampled():
        for library in ("botocore.auth", "boto3.resources", "urllib3.connectionpool", "s3transfer.tasks"):
            logging.getLogger(library).debug("the request with its credentials")
    assert not read(lines)


@pytest.mark.parametrize(("percent", "messages"), [("100.1", ["inside"]), ("0", [])])
def test_the_sampled_share_of_invocations_logs_debug_lines(
    lines: io.StringIO, monkeypatch: pytest.MonkeyPatch, percent: str, messages: list[str]
) -> None:
    monkeypatch.setenv("LOG_DEBUG_PERCENT", percent)
    with log.sampled():
        logging.getLogger("a.task").debug("inside")
    logging.getLogger("a.task").debug("outside")
    assert [line["message"] for line in read(lines)] == messages


@pytest.mark.usefixtures("lines")
def test_the_level_of_the_stage_decides_which_lines_are_logged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    log.configure()
    logging.getLogger("a.task").info("no")
    logging.getLogger("a.task").warning("yes")
    assert json.loads(capsys.readouterr().out)["message"] == "yes"
