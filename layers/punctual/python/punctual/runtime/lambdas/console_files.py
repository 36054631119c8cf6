"""The files of the console as HTTP answers: compressed, with entity tags and a strict content security policy."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
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

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, mtime=0)


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
        is_compressed = "gzip" in headers.get("accept-encoding", "")
        return {
            "statusCode": HTTPStatus.OK,
            "headers": {
                **common,
                "Content-Type": file.content_type,
                **({"Content-Encoding": "gzip"} if is_compressed else {}),
            },
            "isBase64Encoded": True,
            "body": base64.b64encode(file.compressed if is_compressed else file.content).decode(),
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
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): _read(path) for path in paths}


def _read(path: Path) -> File:
    kind = guess_type(path.name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/") or kind.endswith(("javascript", "svg+xml"))
    return File(path.read_bytes(), f"{kind}; charset=utf-8" if is_text else kind)


def _names_file(name: str) -> bool:
    return name.startswith(ASSETS) or "." in name.rsplit("/", 1)[-1]
