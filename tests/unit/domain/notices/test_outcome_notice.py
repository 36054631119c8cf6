"""The notice of an outcome."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from punctual.domain.executions.execution import Attempt, Failure, Outcome
from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.notify_rule import Event, Notify
from punctual.domain.notices.digest_window import read_notice_message
from punctual.domain.notices.execution_notice import local_time
from punctual.domain.notices.notice import MAX_NOTICE_ERROR_CHARACTERS, read_notice
from punctual.domain.notices.outcome_notice import outcome_notice
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.every import Every
from punctual.domain.status import FINAL, Status
from tests.unit.domain.notices.failed_execution import DUE, FAILED, JOB, NOTICE, notice_of

RETRY = "retry it with POST /executions/20261115T070000000Z-job/retry"


@pytest.mark.parametrize(
    ("status", "event", "title"),
    [
        (Status.FAILED, Event.FAILED, "weekly-quality failed"),
        (Status.TIMED_OUT, Event.FAILED, "weekly-quality timed out"),
        (Status.SUCCEEDED, Event.SUCCEEDED, "weekly-quality succeeded"),
        (Status.SKIPPED, Event.EXECUTION_SKIPPED, "weekly-quality was skipped"),
        (Status.MISSED, Event.EXECUTION_MISSED, "weekly-quality missed its due instant"),
    ],
)
def test_each_outcome_has_its_event_and_a_stable_id(status: Status, event: Event, title: str) -> None:
    notice = notice_of(replace(FAILED, status=status))
    assert (notice.event, notice.title) == (event, title)
    assert notice.id == f"20261115T070000000Z-job#{event}"
    assert notice.to == Topic.PAGE
    assert notice.at == FAILED.ended_at


@pytest.mark.parametrize("status", sorted((set(Status) - FINAL) | {Status.CANCELLED}))
def test_a_cancelled_or_live_execution_has_no_outcome_notice(status: Status) -> None:
    assert outcome_notice(replace(FAILED, status=status), JOB) is None


def test_the_topic_comes_from_the_rule_of_the_job() -> None:
    assert notice_of(FAILED, replace(JOB, notify=Notify(frozenset({Event.FAILED})))).to == Topic.NOTICE
    assert notice_of(FAILED, replace(JOB, notify=None)).to == Topic.NOTICE


def test_the_text_has_cause_remedy_and_local_times_in_the_zone_of_the_job() -> None:
    assert NOTICE.text == (
        "weekly-quality failed\n"
        "\n"
        "Cause: EmptySource: no rows for Sunday\n"
        f"Remedy: read its log, fix the cause, then {RETRY}\n"
        "Reason: attempt 3 of 3 failed\n"
        "Due: Sun 2026-11-15 08:00:00+01:00 Europe/Berlin\n"
        "Started: Sun 2026-11-15 08:00:01+01:00 Europe/Berlin\n"
        "Ended: Sun 2026-11-15 11:00:01+01:00 Europe/Berlin\n"
        "Ran for: 3 hours\n"
        "Deadline: Sun 2026-11-15 10:00:00+01:00 Europe/Berlin\n"
        "Attempts: 3 of 3\n"
        "Job: weekly-quality (job)\n"
        "Task: quality.weekly\n"
        "Owner: team-a\n"
        "Execution: 20261115T070000000Z-job"
    )


def test_a_local_time_follows_the_clock_changes_of_its_zone() -> None:
    new_york = replace(JOB, schedule=Cron.parse("0 8 * * *", "America/New_York"))
    assert (
        local_time(datetime(2026, 7, 1, 12, tzinfo=UTC), new_york) == "Wed 2026-07-01 08:00:00-04:00 America/New_York"
    )
    assert (
        local_time(datetime(2026, 12, 1, 12, tzinfo=UTC), new_york) == "Tue 2026-12-01 07:00:00-05:00 America/New_York"
    )


def test_a_job_without_a_time_zone_has_times_in_utc() -> None:
    assert local_time(DUE, replace(JOB, schedule=Every(60, DUE))) == "Sun 2026-11-15 07:00:00 UTC"


@pytest.mark.parametrize(
    ("status", "outcome", "remedy"),
    [
        (Status.TIMED_OUT, Outcome.TIMED_OUT, f"raise timeout_seconds (now 600) or reduce its work, then {RETRY}"),
        (Status.FAILED, Outcome.LOST, "for lack of memory"),
        (Status.FAILED, Outcome.FATAL, "correct its parameters or its task"),
        (Status.SKIPPED, None, "none if the rule is intended"),
        (Status.MISSED, None, "set misfire to run_latest or run_all"),
    ],
)
def test_the_remedy_depends_on_how_the_execution_ended(status: Status, outcome: Outcome | None, remedy: str) -> None:
    attempts = (Attempt(number=1, outcome=outcome, started_at=DUE, ended_at=DUE),) if outcome else ()
    notice = notice_of(replace(FAILED, status=status, attempts=attempts))
    assert remedy in notice.facts["remedy"]
    assert f"Remedy: {notice.facts['remedy']}" in notice.text


def test_a_success_has_neither_cause_nor_remedy() -> None:
    notice = notice_of(replace(FAILED, status=Status.SUCCEEDED, error=None))
    assert notice.facts["cause"] is notice.facts["remedy"] is None
    assert "Cause" not in notice.text


def test_the_facts_contain_the_same_as_json() -> None:
    assert NOTICE.facts == {
        "cause": "EmptySource: no rows for Sunday",
        "remedy": f"read its log, fix the cause, then {RETRY}",
        "status": "failed",
        "reason": "attempt 3 of 3 failed",
        "task": "quality.weekly",
        "lane": "short",
        "attempt": 3,
        "max_attempts": 3,
        "scheduled_at": "2026-11-15T07:00:00.000Z",
        "started_at": "2026-11-15T07:00:01.000Z",
        "ended_at": "2026-11-15T10:00:01.000Z",
        "deadline_at": "2026-11-15T09:00:00.000Z",
        "ran_seconds": 10_800.0,
        "error": {"type": "EmptySource", "message": "no rows for Sunday"},
    }


def test_the_notice_of_an_execution_that_never_started_omits_missing_fields() -> None:
    unstarted = replace(FAILED, started_at=None, error=None, deadline_at=None, reason=None, attempt=0)
    notice = notice_of(unstarted)
    absent = ("Cause", "Ran", "Deadline", "Reason", "Attempts")
    assert not [line for line in notice.text.splitlines() if line.startswith(absent)]
    assert notice.facts["ran_seconds"] is notice.facts["error"] is None
    assert read_notice_message(notice.to_body()) == notice


@pytest.mark.parametrize("letter", ["x", "ü", "\x00", '"', "😀"])
def test_a_long_error_message_never_makes_a_notice_too_large(letter: str) -> None:
    loud = replace(FAILED, error=Failure(type="Loud", message=letter * 100_000), reason=letter * 100_000)
    notice = notice_of(loud, replace(JOB, name=letter * 200))
    assert notice.facts["error"]["message"] == letter * MAX_NOTICE_ERROR_CHARACTERS
    assert read_notice_message(notice.to_body()) == notice


def test_characters_that_sqs_rejects_are_replaced() -> None:
    notice = notice_of(replace(FAILED, reason="half \ud800, none \uffff, null \x00"))
    assert read_notice(notice.to_body()).facts["reason"] == "half \ufffd, none \ufffd, null \x00"
    assert not any(ord(letter) < 32 for letter in notice.to_body())
