"""What an ended execution counts as, and its stored form."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from punctual.domain.executions.execution import Attempt, Execution, Outcome
from punctual.domain.identity import execution_id
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.statistics.ended import by_status, counted_end, ends_of_text, ends_text, histogram
from punctual.domain.statistics.histogram import duration_bucket
from punctual.domain.status import FINAL, Status

JOB, DUE = "01m7jxs3n0000000000000000a", datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def ended(status: Status = Status.SUCCEEDED, source: str | None = None, due: datetime = DUE) -> Execution:
    has_run = status not in (Status.SKIPPED, Status.MISSED)
    return Execution(
        job_id=JOB,
        execution_id=execution_id(JOB, due, source),
        owner="team",
        task="echo",
        scheduled_at=due,
        status=status,
        started_at=due + 2 * SECOND if has_run else None,
        ended_at=due + 5 * SECOND,
    )


def test_the_stored_form_keeps_every_field() -> None:
    executions = [ended(status) for status in sorted(FINAL)]
    executions += [ended(source="run-01m7jxs3n0000000000000000b"), ended(source="a_B-9"), ended(due=DUE - 9 * SECOND)]
    executions.append(replace(ended(Status.CANCELLED), started_at=None, ended_at=DUE - timedelta(days=300)))
    ends = tuple(counted_end(one).ended for one in executions)
    assert ends_of_text(JOB, ends_text(ends)) == ends
    assert ends_of_text(JOB, ends_text(())) == ()


def test_only_a_successful_run_counts_its_run_time() -> None:
    for status in FINAL:
        found = histogram(counted_end(ended(status)).of_job, "r")
        assert found == ({duration_bucket(3000): 1} if status is Status.SUCCEEDED else {})


def test_the_delay_of_a_start_is_that_of_the_first_attempt() -> None:
    first = Attempt(number=1, outcome=Outcome.FAILED, started_at=DUE + SECOND, ended_at=DUE + SECOND)
    counts = counted_end(replace(ended(), attempts=(first,))).of_owner
    assert histogram(counts, "nd") == {duration_bucket(1000): 1}
    assert by_status(counts, "n") == {Status.SUCCEEDED: 1}


def test_a_wait_at_a_gate_or_for_upstreams_is_lateness_but_no_delay_of_the_queue() -> None:
    waits = replace(ended(), woken_at=DUE + SECOND)
    held = replace(ended(), depends_on=(Dependency("01m7jxs3n0000000000000000b"),), queued_at=DUE + SECOND)
    for one in (waits, held):
        assert histogram(counted_end(one).of_job, "l") == {duration_bucket(2000): 1}
        assert histogram(counted_end(one).of_owner, "nd") == {duration_bucket(1000): 1}
