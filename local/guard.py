"""The program of the emulator: ministack, behind a guard that refuses requests of web pages to AWS services.

The emulator executes unsigned requests, whatever page sends them: without the guard, each page that is open in a
browser could create and invoke functions on this machine. Clients and functions send none of the headers that the guard
checks. `local.emulator` runs this file as a script, so it imports nothing of this package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost")
# Paths that pages of other origins may link to. API Gateway checks the token, and answers other origins as on AWS.
API = re.compile(r"/_aws/execute-api/[A-Za-z0-9]+/.")
SIGN_IN = re.compile(r"/(login|logout|oauth2/(authorize|login|token|userInfo))")


class Guard:
    """Forwards a request to the emulator, or answers 403 with the reason."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif reason := refusal(scope):
            print(f"refused {scope.get('method', 'WebSocket')} {scope['path']}: {reason}", flush=True)
            await _refuse(scope, send, reason)
        else:
            await self._app(scope, receive, _without_wildcard(send))


def refusal(scope: Scope) -> str | None:
    """Why a request is refused, or `None`."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    name = headers.get("host", "").lower().split(":")[0]
    # The page of another host reaches the emulator if its name resolves to loopback (DNS rebinding).
    if name not in LOOPBACK and not name.endswith(".localhost"):
        return f"the host {name!r} is not a name of this machine"
    if name in LOOPBACK and _is_for_pages(scope):
        return None if _is_own(headers) or _opens_page(scope, headers) else "the request comes from another origin"
    if not _is_of_page(headers) or (_is_own(headers) and _opens_page(scope, headers)):
        return None
    return "web pages may not call AWS services: use the HTTP API, or an AWS client"


def _is_for_pages(scope: Scope) -> bool:
    """Whether the request is for the HTTP API or the sign-in.

    On the path of the sign-in, the emulator prefers the AWS service that a query parameter names.
    """
    if API.match(scope["path"]):
        return True
    query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    names_service = any(name.lower().startswith(("action", "x-amz-")) for name, _ in query)
    return SIGN_IN.fullmatch(scope["path"]) is not None and not names_service


def _is_of_page(headers: dict[str, str]) -> bool:
    """Whether a browser sent the request. Of these headers, a page can remove or change none."""
    return "origin" in headers or "sec-fetch-site" in headers or headers.get("user-agent", "").startswith("Mozilla/")


def _is_own(headers: dict[str, str]) -> bool:
    """Whether the request comes from a page of the emulator, from the user, or from a program."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    return origin in (None, f"http://{headers['host']}") and site in (None, "none", "same-origin")


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether the browser follows a link or an address that the user entered, so that no page reads the answer."""
    return scope.get("method") == "GET" and "origin" not in headers and headers.get("sec-fetch-mode") == "navigate"


async def _refuse(scope: Scope, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": HTTPStatus.FORBIDDEN, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"message": reason}).encode()})


def _without_wildcard(send: Send) -> Send:
    """Remove the header with which the emulator lets pages of every origin read its answers."""

    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value)
                for name, value in message.get("headers", [])
                if (name.lower(), value) != (b"access-control-allow-origin", b"*")
            ]
            message = {**message, "headers": kept}
        await send(message)

    return forward


def main() -> None:
    from ministack import app as emulator

    emulator.app = Guard(emulator.app)
    emulator.main()


if __name__ == "__main__":
    main()
