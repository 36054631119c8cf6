"""HTTP requests to hosts that a user names: only to public addresses, and to allowed networks."""

from __future__ import annotations

from collections.abc import Mapping

import urllib3
from urllib3.util import Url, parse_url

from punctual.runtime.tasks.public_addresses import public_addresses

PORTS = {"http": 80, "https": 443}


def public_request(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes | None = None, timeout_seconds: float
) -> urllib3.BaseHTTPResponse:
    """Send a request to the first address of the host that accepts a connection. The body of the response is not read.

    A redirect is returned and not followed. Raises ``Fatal`` if an address of the host is not allowed, and
    ``urllib3.exceptions.HTTPError``, ``OSError`` or ``UnicodeError`` if there is no response.
    """
    target = parse_url(url)
    port = target.port or PORTS[target.scheme or ""]
    failure: urllib3.exceptions.HTTPError | None = None
    for address in public_addresses((target.host or "").strip("[]"), port):
        try:
            return _connections(target, address, port).request(
                method,
                target.request_uri,
                body=body,
                headers={"Host": target.netloc or "", **headers},
                timeout=timeout_seconds,
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            failure = error
    raise failure or OSError("the host has no address")


def _connections(url: Url, address: str, port: int) -> urllib3.HTTPConnectionPool:
    """Connect to ``address``, which was checked: the name could resolve to another address meanwhile."""
    if url.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port)
    return urllib3.HTTPSConnectionPool(
        address, port, cert_reqs="CERT_REQUIRED", server_hostname=url.host, assert_hostname=url.host
    )
