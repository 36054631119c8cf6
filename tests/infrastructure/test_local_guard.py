"""Requests of web pages to the running emulator: they reach the HTTP API, and no AWS service."""

import http.client
import json
from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest

from local.aws import client
from local.emulator import Emulator
from local.places import Places
from tests.infrastructure.test_local_long_lane import free_port

FOREIGN = {"Origin": "https://attacker.example", "Content-Type": "text/plain"}
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}
OPENED = {**BROWSER, "Sec-Fetch-Mode": "navigate"}
REFUSED = 403
API = "/_aws/execute-api/a1b2c3d4/jobs"
"""There is no such API: the emulator answers 404."""


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    emulator = Emulator(Places(tmp_path_factory.mktemp("local")), free_port())
    emulator.start()
    try:
        yield emulator
    finally:
        emulator.stop()


def send(
    emulator: Emulator, headers: Mapping[str, str], method: str = "GET", path: str = "/", body: str = ""
) -> tuple[int, dict[str, str]]:
    """Send a request as it is, and return the status and the headers of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", emulator.port, timeout=30)
    named = {name: value.format(port=emulator.port) for name, value in headers.items()}
    connection.request(method, path, body=body or None, headers=named)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def test_a_page_of_another_origin_creates_no_function(emulator: Emulator) -> None:
    function = {"FunctionName": "stolen", "Runtime": "python3.13", "Handler": "x.y", "Role": "r", "Code": {}}
    status, headers = send(emulator, FOREIGN, "POST", "/2015-03-31/functions", json.dumps(function))
    assert status == REFUSED
    assert "access-control-allow-origin" not in headers
    assert client("lambda", emulator.endpoint).list_functions()["Functions"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
        BROWSER,
        {"Host": "attacker.example:{port}"},
        {"Host": "localhost.attacker.example:{port}"},
        {"Host": "attacker.example:{port}", "Origin": "http://attacker.example:{port}"},
    ],
)
@pytest.mark.parametrize(
    "path", ["/?Action=ListQueues", "/_ministack/health", "/_ministack/reset", "/2015-03-31/functions"]
)
def test_services_refuse_pages(emulator: Emulator, headers: dict[str, str], path: str) -> None:
    assert send(emulator, headers, "GET", path)[0] == REFUSED
    assert send(emulator, headers, "POST", path)[0] == REFUSED


@pytest.mark.parametrize(
    "path",
    [
        *("/login", "/login/x", "/LOGIN", "/logout", "/logout/x", "/oauth2/", "/oauth2/x", "/oauth2/login"),
        *("/oauth2/token", "/_aws/execute-api/", "/_aws/execute-api//x", "/_aws/execute-api/a1b2c3d4/"),
        *("/_aws/execute-api/%2e%2e/x", API),
    ],
)
@pytest.mark.parametrize("name", ["Action", "%41ction", "action"])
def test_a_link_reaches_no_service_by_a_path_of_the_api_or_the_sign_in(
    emulator: Emulator, path: str, name: str
) -> None:
    """The emulator prefers the service that the query names to the path, in a page or in a frame of one."""
    queue = f"stolen{uuid4().hex}"
    request = f"{path}?{name}=CreateQueue&QueueName={queue}&Version=2012-11-05"
    signature = "&X-Amz-Credential=test%2F20260101%2Fus-east-1%2Fsqs%2Faws4_request"
    for kind in ({}, {"Sec-Fetch-Dest": "iframe"}):
        for address in (request, request + signature):
            send(emulator, {**OPENED, "Sec-Fetch-Site": "cross-site", **kind}, "GET", address)
    assert not client("sqs", emulator.endpoint).list_queues(QueueNamePrefix=queue).get("QueueUrls")


def test_a_preflight_of_another_origin_is_refused(emulator: Emulator) -> None:
    asked = {**FOREIGN, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target"}
    for path in ("/", API):
        status, headers = send(emulator, asked, "OPTIONS", path)
        assert status == REFUSED
        assert not [name for name in headers if name.startswith("access-control-")]


def test_no_answer_allows_every_origin(emulator: Emulator) -> None:
    for method, path in (
        ("GET", "/?Action=ListQueues"),
        ("OPTIONS", "/"),
        ("GET", "/.well-known/openid-configuration"),
    ):
        assert "access-control-allow-origin" not in send(emulator, {}, method, path)[1]


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {}),
        ("POST", {**BROWSER, "Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}),
        ("POST", {**BROWSER, "Host": "localhost:{port}", "Origin": "http://localhost:{port}"}),
        ("GET", {**OPENED, "Sec-Fetch-Site": "none"}),
        ("GET", {**OPENED, "Sec-Fetch-Site": "cross-site"}),  # a link in another page
    ],
)
def test_the_http_api_is_reachable_from_its_own_pages_and_by_links(
    emulator: Emulator, method: str, headers: dict[str, str]
) -> None:
    assert send(emulator, headers, method, API)[0] == 404


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", FOREIGN),
        ("POST", {**OPENED, "Sec-Fetch-Site": "cross-site"}),
        ("GET", {**BROWSER, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
        ("POST", {"Origin": "http://127.0.0.1:1"}),
        ("GET", {"Host": "attacker.example:{port}"}),
        ("GET", {**OPENED, "Sec-Fetch-Site": "cross-site", "Host": "bucket.s3.localhost:{port}"}),
    ],
)
def test_the_http_api_refuses_requests_of_other_pages(emulator: Emulator, method: str, headers: dict[str, str]) -> None:
    assert send(emulator, headers, method, API)[0] == REFUSED


def test_a_page_opens_no_websocket(emulator: Emulator) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert send(emulator, {**BROWSER, **FOREIGN, **upgrade, **key}, "GET", API)[0] == REFUSED


def test_a_presigned_link_opens_in_the_browser(emulator: Emulator) -> None:
    s3 = client("s3", emulator.endpoint)
    s3.create_bucket(Bucket="results")
    s3.put_object(Bucket="results", Key="one", Body=b"1")
    link = s3.generate_presigned_url("get_object", Params={"Bucket": "results", "Key": "one"})
    path = link.removeprefix(emulator.endpoint)
    for site in ("none", "same-origin"):
        assert send(emulator, {**OPENED, "Sec-Fetch-Site": site}, "GET", path)[0] == 200


def test_clients_use_the_services_by_each_name_of_the_machine(emulator: Emulator) -> None:
    for host in ("127.0.0.1", "localhost"):
        queues = client("sqs", f"http://{host}:{emulator.port}")
        assert queues.create_queue(QueueName="one")["QueueUrl"].endswith("/one")


def test_a_refused_request_is_logged_with_its_reason(emulator: Emulator) -> None:
    send(emulator, {"Host": "attacker.example"}, "GET", "/logged")
    assert "refused GET /logged: the host 'attacker.example' is not a name of this machine" in (
        emulator.places.emulator_log.read_text()
    )
