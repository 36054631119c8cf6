"""`make preflight` against the emulator: the requests of the checks, without a network to AWS."""

from __future__ import annotations

import dataclasses

import pytest

from cdk.preflight import Check, Preflight, State
from cdk.settings import LOCAL, PROD, Settings
from tests.e2e.punctual import Punctual

IN_ANY_ACCOUNT = {"Python", "Node", "credentials", "CDK bootstrap", "sign-in domain", "Lambda concurrency"}


@pytest.fixture(autouse=True)
def _emulator(punctual: Punctual, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", punctual.stack["endpoint_url"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", punctual.stack["region"])
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")


def rows(settings: Settings) -> dict[str, Check]:
    return {check.name: check for check in Preflight(settings).checks()}


def test_the_deployed_stack_would_be_updated() -> None:
    found = rows(LOCAL)
    # The emulator has no Service Quotas: a check without an answer fails alone, and the others are still made.
    assert [name for name, check in found.items() if check.state is State.FAILED] == ["Fargate vCPUs"]
    assert found["stack Punctual-local"].found.endswith("_COMPLETE: will be updated")
    assert found["credentials"].found == "account 000000000000, us-east-1"


def test_a_second_stage_would_be_created_beside_it() -> None:
    second = dataclasses.replace(PROD, stage="second", long=dataclasses.replace(PROD.long, enabled=False))
    found = rows(second)
    assert found["stack Punctual-second"] == Check("stack Punctual-second", State.OK, "will be created")
    assert {name: check for name, check in found.items() if check.state is State.FAILED} == {}
