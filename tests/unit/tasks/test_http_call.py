"""The shipped ``http.call`` against a real server on loopback."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from punctual import Fatal, Retry
from tasks.http_call import call
from tests.unit.contexts import context

CONTEXT = context(execution_id="the-execution")
REQUESTS: list[str] = []


class Echo(BaseHTTPRequestHandler):
    """Responds with the status in the path, and with the request as its body."""

    def do_POST(self) -> None:
        REQUESTS.append(self.path)
        length = int(self.headers.get("Content-Length", 0))
        sent = {
            "method": self.command,
            "host": self.headers["Host"],
            "key": self.headers["Idempotency-Key"],
            "body": json.loads(self.rfile.read(length) or "null"),
        }
        self.send_response(int(self.path.strip("/")))
        self.send_header("Retry-After", unquote(self.headers.get("Echo-Retry-After", "7")))
        self.send_header("Location", "/200")
        self.end_headers()
        self.wfile.write(json.dumps(sent).encode())

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        """Suppress the access log."""


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve ``Echo`` on loopback, and return its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(autouse=True)
def loopback_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_CALL_NETWORKS", "127.0.0.0/8")
    REQUESTS.clear()


def test_the_response_is_the_result_and_the_request_has_an_idempotency_key(server: str) -> None:
    result = call(CONTEXT, {"url": f"{server}/201", "method": "POST", "json": {"n": 1}})
    assert result["status"] == 201
    assert json.loads(result["body"]) == {
        "method": "POST",
        "host": server.removeprefix("http://"),
        "key": "the-execution",
        "body": {"n": 1},
    }
    assert json.loads(call(CONTEXT, {"url": f"{server}/200"})["body"])["method"] == "GET"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "u:p@127.1"])
def test_an_address_that_is_not_public_is_not_contacted(
    server: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HTTP_CALL_NETWORKS")
    with pytest.raises(Fatal, match="which is not a public address"):
        call(CONTEXT, {"url": f"http://{host}:{server.rpartition(':')[2]}/200"})
    assert REQUESTS == []


def test_a_redirect_is_returned_and_not_followed(server: str) -> None:
    assert call(CONTEXT, {"url": f"{server}/302"})["status"] == 302
    assert REQUESTS == ["/302"]


def test_the_name_is_resolved_once_and_the_checked_address_is_called(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: list[str] = []
    resolve = socket.getaddrinfo

    def rebind(host: str, *arguments: Any, **options: Any) -> Any:
        if host == "rebinding.test":
            resolved.append(host)
            host = "127.0.0.1" if len(resolved) == 1 else "192.0.2.1"
        return resolve(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    url = server.replace("127.0.0.1", "rebinding.test")
    assert json.loads(call(CONTEXT, {"url": f"{url}/200"})["body"])["host"] == url.removeprefix("http://")
    assert resolved == ["rebinding.test"]


def test_the_certificate_must_be_valid_for_the_name_and_not_for_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certificate_of("service.test", tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *more, **options: resolve("127.0.0.1", *more, **options))
    with serving(tls) as port:
        assert call(CONTEXT, {"url": f"https://service.test:{port}/200"})["status"] == 200
        with pytest.raises(Retry, match="no response"):
            call(CONTEXT, {"url": f"https://other.test:{port}/200"})


def certificate_of(name: str, folder: Path) -> Path:
    """Write a self-signed certificate and its key to one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / f"{name}.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + written)
    return file


@pytest.mark.parametrize(
    ("header", "after"),
    [("0", 0), ("²", None), ("-1", None), ("soon", None), ("9" * 400, Retry.MAX_DELAY_SECONDS)],
)
def test_a_delay_that_cannot_be_used_is_ignored_and_a_long_one_is_shortened(
    server: str, header: str, after: float | None
) -> None:
    with pytest.raises(Retry) as asked:
        call(CONTEXT, {"url": f"{server}/503", "headers": {"Echo-Retry-After": quote(header)}})
    assert asked.value.after == after


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_a_transient_status_is_retried_after_the_requested_delay(server: str, status: int) -> None:
    with pytest.raises(Retry, match=f"HTTP status {status}") as asked:
        call(CONTEXT, {"url": f"{server}/{status}"})
    assert asked.value.after == 7


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_client_error_is_fatal(server: str, status: int) -> None:
    with pytest.raises(Fatal, match=f"HTTP status {status}"):
        call(CONTEXT, {"url": f"{server}/{status}"})


def test_an_unreachable_server_is_retried() -> None:
    with pytest.raises(Retry, match="no response"):
        call(CONTEXT, {"url": "http://127.0.0.1:9/", "timeout_seconds": 2})
