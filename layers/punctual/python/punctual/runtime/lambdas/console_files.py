"""The files of the console as HTTP answers: compressed by the build, with entity tags and a strict security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from mimetypes import guess_type
from pathlib import Path
from typing import Any

PAGE = "index.html"
BASE = b'<base href="./" />'
NEVER_CHANGES = "public, max-age=31536000, immutable"
ASK_EACH_TIME = "no-cache"
ASSETS = "assets/"
"""Files in this folder have a hash of their content in the name."""
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""The suffixes of the compressed copies that the build puts beside a file, the smallest first."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class File:
    content: bytes
    content_type: str
    compressed: Mapping[str, bytes] = field(default_factory=dict)
    """By encoding. Empty for the page, which is small and whose base is filled in."""

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    def encoding_for(self, accepted: str) -> str | None:
        """The encoding of the smallest copy that the client accepts; None for the file itself."""
        names = {name.strip() for name, _, weight in map(_parted, accepted.lower().split(",")) if weight != "q=0"}
        return next((name for name in self.compressed if name in names), None)


@dataclass(frozen=True)
class ConsoleFiles:
    folder: Path
    root: str
    """The path of the console: `/console/`, on the emulator below the path of the API."""
    sign_in: str
    """The origin of the sign-in page, or an empty string if it is the console's own."""

    def answer(self, path: str, headers: dict[str, str]) -> dict[str, Any]:
        """Return the file at ``path``, which is below the API, or the page for the address of a view."""
        name = path.removeprefix("/console").lstrip("/")
        file = self._files.get(name) if _names_file(name) else self._page
        if file is None:
            return {"statusCode": HTTPStatus.NOT_FOUND, "headers": HEADERS, "body": "not found"}
        common = {
            **HEADERS,
            "Cache-Control": NEVER_CHANGES if name.startswith(ASSETS) else ASK_EACH_TIME,
            "Content-Security-Policy": self._policy,
            "ETag": file.etag,
            "Vary": "Accept-Encoding",
        }
        if file.etag in headers.get("if-none-match", ""):
            return {"statusCode": HTTPStatus.NOT_MODIFIED, "headers": common}
        encoding = file.encoding_for(headers.get("accept-encoding", ""))
        return {
            "statusCode": HTTPStatus.OK,
            "headers": {
                **common,
                "Content-Type": file.content_type,
                **({"Content-Encoding": encoding} if encoding else {}),
            },
            "isBase64Encoded": True,
            "body": base64.b64encode(file.compressed[encoding] if encoding else file.content).decode(),
        }

    @cached_property
    def _policy(self) -> str:
        connect = f"'self' {self.sign_in}".strip()
        return (
            f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src {connect}; "
            "base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
        )

    @cached_property
    def _page(self) -> File | None:
        page = self._files.get(PAGE)
        if page is None:
            return None
        base = f'<base href="{self.root}" />'.encode()
        return File(page.content.replace(BASE, base), page.content_type)

    @cached_property
    def _files(self) -> dict[str, File]:
        """Every file of the folder, by its name below it. No other file is ever read."""
        copies = tuple(ENCODINGS.values())
        paths = (path for path in self.folder.rglob("*") if path.is_file() and path.suffix not in copies)
        return {path.relative_to(self.folder).as_posix(): _read(path) for path in paths}


def _read(path: Path) -> File:
    kind = guess_type(path.name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/") or kind.endswith(("javascript", "svg+xml"))
    copies = {name: path.with_name(path.name + suffix) for name, suffix in ENCODINGS.items()}
    compressed = {name: copy.read_bytes() for name, copy in copies.items() if copy.is_file()}
    return File(path.read_bytes(), f"{kind}; charset=utf-8" if is_text else kind, compressed)


def _parted(text: str) -> tuple[str, str, str]:
    name, separator, weight = text.partition(";")
    return name, separator, weight.replace(" ", "")


def _names_file(name: str) -> bool:
    return name.startswith(ASSETS) or "." in name.rsplit("/", 1)[-1]
