from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from punctual.aws import clients
from punctual.aws.task_credentials import TaskCredentials

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
ENGINE = {"AWS_ACCESS_KEY_ID": "engine", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}


class Sts:
    """Answers with credentials that are valid for an hour, or fails."""

    def __init__(self) -> None:
        self.now, self.fails = NOW, False
        self.requests: list[dict[str, Any]] = []

    def assume_role(self, **request: Any) -> dict[str, Any]:
        self.requests.append(request)
        if self.fails:
            raise ConnectionError
        names = ("AccessKeyId", "SecretAccessKey", "SessionToken")
        own = dict.fromkeys(names, f"task-{len(self.requests)}")
        return {"Credentials": {**own, "Expiration": self.now + timedelta(hours=1)}}


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Sts:
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "none")  # so that it is restored after the test
    monkeypatch.delenv("AWS_CREDENTIAL_EXPIRATION")
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "Punctual-prod-WorkerFunction" + "x" * 36)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    for name, value in ENGINE.items():
        monkeypatch.setenv(name, value)
    return Sts()


def credentials(sts: Sts) -> TaskCredentials:
    return TaskCredentials("arn:role", "lambda-0123456789ab", sts, lambda: sts.now)


def test_the_environment_has_the_credentials_of_the_task_role_with_their_expiry(sts: Sts) -> None:
    credentials(sts).renew()
    assert {name: os.environ[name] for name in ENGINE} == dict.fromkeys(ENGINE, "task-1")
    assert datetime.fromisoformat(os.environ["AWS_CREDENTIAL_EXPIRATION"]) == NOW + timedelta(hours=1)


def test_the_session_is_named_after_the_function_and_the_worker(sts: Sts) -> None:
    credentials(sts).renew()
    name = sts.requests[0]["RoleSessionName"]
    assert name.startswith("Punctual-prod-WorkerFunction")
    assert name.endswith("@lambda-0123456789ab")
    assert len(name) == 64


def test_a_role_is_assumed_again_before_an_attempt_could_outlast_the_credentials(sts: Sts) -> None:
    own = credentials(sts)
    for minutes in (0, 14, 28):
        sts.now = NOW + timedelta(minutes=minutes)
        own.renew()
    assert len(sts.requests) == 1
    sts.now = NOW + timedelta(minutes=29)
    own.renew()
    assert os.environ["AWS_ACCESS_KEY_ID"] == "task-2"


def test_a_failed_request_leaves_no_credentials_in_the_environment(sts: Sts) -> None:
    sts.fails = True
    with pytest.raises(ConnectionError):
        credentials(sts).renew()
    assert not {*ENGINE, "AWS_CREDENTIAL_EXPIRATION"} & set(os.environ)


def test_clients_of_the_engine_keep_its_credentials_and_clients_of_a_task_follow_those_of_its_role(
    sts: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    session = clients._session.__wrapped__()
    monkeypatch.setattr(clients, "_session", lambda: session)
    sts.now = datetime.now(UTC)  # boto3 reads the machine's clock
    own = credentials(sts)
    own.renew()
    assert boto3.DEFAULT_SESSION is None
    engine, task = clients._create_client("sts"), boto3.client("sts")
    assert (_access_key(engine), _access_key(task)) == ("engine", "task-1")
    assert engine.meta.endpoint_url == "https://sts.eu-west-1.amazonaws.com"


def test_a_client_that_a_task_has_kept_reads_the_renewed_credentials(sts: Sts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    own = credentials(sts)
    sts.now = datetime.now(UTC) - timedelta(minutes=46)  # expire in 14 minutes: boto3 reads the environment again
    own.renew()
    task = boto3.client("sts")
    sts.now = datetime.now(UTC)
    own.renew()
    assert _access_key(task) == "task-2"


def _access_key(client: Any) -> str:
    return str(client._request_signer._credentials.get_frozen_credentials().access_key)
