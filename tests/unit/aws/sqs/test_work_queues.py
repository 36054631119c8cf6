"""Work orders as messages: their delay and their message group."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.aws.sqs.work_queues import delay_seconds, group_id
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.work_order import work_order_for
from punctual.domain.status import Status
from tests.unit.aws.jobs import JOB, NOW


@given(st.integers(-10_000, 10_000_000))
def test_a_work_order_arrives_at_most_a_quarter_of_a_second_early_and_three_quarters_late(milliseconds: int) -> None:
    execution = execution_of(JOB, NOW + timedelta(milliseconds=milliseconds), status=Status.QUEUED, now=NOW)
    delay = delay_seconds(work_order_for(execution, execution.scheduled_at), NOW)
    assert 0 <= delay <= 900
    if 0 <= milliseconds <= 900_000:
        assert -250 <= delay * 1000 - milliseconds < 750
    elif milliseconds < 0:
        assert delay == 0


@pytest.mark.parametrize("owner", ["team-a", "ann@example.com", "Ünal", "a b", "x" * 200])
def test_every_owner_has_a_valid_sqs_message_group(owner: str) -> None:
    assert 1 <= len(group_id(owner)) <= 128
    assert group_id(owner).isascii()
    assert " " not in group_id(owner)
