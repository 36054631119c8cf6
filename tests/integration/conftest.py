"""Fixtures: the real handlers on moto, in one thread, with a clock that the test controls."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from moto import mock_aws

from tests.integration import fixture_tasks
from tests.integration.fast_moto import speed_up
from tests.integration.grants import GrantCheck
from tests.integration.long_lane import LongLane
from tests.integration.world import World

START = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(GrantCheck())


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # loading thousands of unused images is slow
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    fixture_tasks.TASK_BODIES.clear()
    fixture_tasks.FAILED_ASSERTIONS.clear()
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "")  # so that the end of the test removes that of a task
    monkeypatch.delenv("AWS_CREDENTIAL_EXPIRATION")
    speed_up(monkeypatch)
    with time_machine.travel(START, tick=False) as traveller, mock_aws():
        world = World(traveller, monkeypatch)
        yield world
    assert fixture_tasks.FAILED_ASSERTIONS == []
    assert world.refused == set()


@pytest.fixture
def lane(world: World) -> LongLane:
    return LongLane(world)
