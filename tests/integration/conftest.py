"""The real handlers on moto, in one thread: tables, streams and queues are moto's, the clock is the test's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from moto import mock_aws

from tests.integration import odd_tasks
from tests.integration.long_lane import LongLane
from tests.integration.quick_moto import hurry
from tests.integration.world import World

START = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that nobody waits for them at the end."""
    items.sort(key=lambda item: "test_rules_hold" not in item.nodeid)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # thousands, which nobody asks for
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    odd_tasks.MEANWHILE.clear()
    hurry(monkeypatch)
    with time_machine.travel(START, tick=False) as traveller, mock_aws():
        yield World(traveller, monkeypatch)


@pytest.fixture
def lane(world: World) -> LongLane:
    return LongLane(world)
