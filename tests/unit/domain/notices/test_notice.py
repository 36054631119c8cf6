"""The notice of an outcome, and its message."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from punctual.domain.executions.execution import Failure
from punctual.domain.jobs.notify_rule import Event, Notify, Topic
from punctual.domain.notices.digest_window import read_message
from punctual.domain.notices.notice import MAX_NOTICE_ERROR_CHARACTERS, format_duration, outcome_notice, read_notice
from punctual.domain.status import Status
from tests.unit.domain.notices.failed_execution import ALL, FAILED, NOTICE, notice_of

# outcome notices


@pytest.mark.parametrize(
    ("status", "event", "title"),
    [
        (Status.FAILED, Event.FAILED, "weekly-quality failed"),
        (Status.TIMED_OUT, Event.FAILED, "weekly-quality timed out"),
        (Status.SUCCEEDED, Event.SUCCEEDED, "weekly-quality succeeded"),
    ],
)
def test_each_outcome_has_its_event_and_a_stable_id(status: Status, event: Event, title: str) -> None:
    notice = notice_of(replace(FAILED, status=status))
    assert (notice.event, notice.title) == (event, title)
    assert notice.id == f"20261115T070000000Z-job#{event}"
    assert notice.to is Topic.PAGE
    assert notice.at == FAILED.ended_at


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.FAILED, Status.TIMED_OUT, Status.SUCCEEDED}))
def test_a_cancelled_or_live_execution_has_no_outcome_notice(status: Status) -> None:
    assert outcome_notice(replace(FAILED, status=status), "weekly-quality", ALL) is None


def test_only_events_of_the_rule_have_a_notice() -> None:
    only_success = Notify(frozenset({Event.SUCCEEDED}))
    assert outcome_notice(FAILED, "weekly-quality", only_success) is None
    assert notice_of(replace(FAILED, status=Status.SUCCEEDED), only_success).to is Topic.NOTICE


def test_the_text_contains_the_outcome_its_cause_and_the_execution() -> None:
    assert NOTICE.text == (
        "weekly-quality failed\n"
        "\n"
        "Error: EmptySource: no rows for Sunday\n"
        "Reason: attempt 3 of 3 failed\n"
        "Attempts: 3\n"
        "Due: 2026-11-15T07:00:00.000Z\n"
        "Ended: 2026-11-15T10:00:01.000Z\n"
        "Ran for: 3 hours\n"
        "Deadline: 2026-11-15T09:00:00.000Z\n"
        "Task: quality.weekly\n"
        "Owner: team-a\n"
        "Execution: 20261115T070000000Z-job"
    )


def test_the_facts_contain_the_same_as_json() -> None:
    assert NOTICE.facts == {
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
    notice = notice_of(replace(FAILED, started_at=None, error=None, deadline_at=None, reason=None, attempt=0))
    assert not [line for line in notice.text.splitlines() if line.startswith(("Error", "Ran", "Deadline", "Reason"))]
    assert notice.facts["ran_seconds"] is notice.facts["error"] is None
    assert read_message(notice.to_body()) == notice


@pytest.mark.parametrize("letter", ["x", "ü", "\x00", '"', "😀"])
def test_a_long_error_message_never_makes_a_notice_too_large(letter: str) -> None:
    loud = replace(FAILED, error=Failure(type="Loud", message=letter * 100_000), reason=letter * 100_000)
    notice = outcome_notice(loud, letter * 200, ALL)
    assert notice is not None
    assert notice.facts["error"]["message"] == letter * MAX_NOTICE_ERROR_CHARACTERS
    assert read_message(notice.to_body()) == notice


def test_characters_that_sqs_rejects_are_replaced() -> None:
    notice = notice_of(replace(FAILED, reason="half \ud800, none \uffff, null \x00"))
    assert read_notice(notice.to_body()).facts["reason"] == "half \ufffd, none \ufffd, null \x00"
    assert not any(ord(letter) < 32 for letter in notice.to_body())


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(seconds=1), "1 second"),
        (timedelta(milliseconds=4210), "4.2 seconds"),
        (timedelta(seconds=119), "119 seconds"),
        (timedelta(minutes=2), "2 minutes"),
        (timedelta(minutes=15, seconds=1), "15 minutes"),
        (timedelta(minutes=119), "119 minutes"),
        (timedelta(hours=8, minutes=6), "8.1 hours"),
    ],
)
def test_durations_are_formatted_with_their_unit(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


# messages


def test_a_notice_reads_back_from_its_message_unchanged() -> None:
    body = NOTICE.to_body()
    assert read_notice(body) == read_message(body) == NOTICE
    assert json.loads(body)["event"] == "failed"
    assert json.loads(body)["to"] == "page"
