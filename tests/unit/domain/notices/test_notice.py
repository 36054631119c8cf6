"""Notices: the job's rule, the notice of an outcome, its messages and summaries."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.executions.execution import Execution, Failure
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event, Notify, Topic, parse_notify
from punctual.domain.notices.digest_window import (
    MAX_BODY_BYTES,
    MAX_KEY_BYTES,
    MAX_NAMED_EXECUTIONS,
    OUTCOME_WINDOW,
    DigestWindow,
    Group,
    group_of,
    merge_overdue_window,
    read_message,
    summary_of,
)
from punctual.domain.notices.notice import (
    MAX_NOTICE_ERROR_CHARACTERS,
    Notice,
    format_duration,
    outcome_notice,
    read_notice,
)
from punctual.domain.status import FINAL, Status

DUE = datetime(2026, 11, 15, 7, tzinfo=UTC)
FAILED = Execution(
    job_id="job",
    execution_id="20261115T070000000Z-job",
    owner="team-a",
    task="quality.weekly",
    scheduled_at=DUE,
    status=Status.FAILED,
    reason="3 of 3 attempts",
    attempt=3,
    started_at=DUE + timedelta(seconds=1),
    ended_at=DUE + timedelta(hours=3, seconds=1),
    deadline_at=DUE + timedelta(hours=2),
    error=Failure(type="EmptySource", message="no rows for Sunday", trace="Traceback: secret/path.py"),
)
ALL = Notify(frozenset(Event), Topic.PAGE)


def notice_of(execution: Execution, notify: Notify | None = ALL) -> Notice:
    notice = outcome_notice(execution, "weekly-quality", notify)
    assert notice is not None
    return notice


NOTICE = notice_of(FAILED)


def window(*notices: Notice, until: datetime = DUE + OUTCOME_WINDOW) -> DigestWindow:
    executions = frozenset(notice.execution_id for notice in notices)
    return DigestWindow(
        group=group_of(NOTICE), until=until, counted=len(notices), executions=executions, latest=[None, *notices][-1]
    )


# notify rule


@pytest.mark.parametrize(
    ("spec", "on", "to"),
    [
        ({"on": ["failed", "recovered"], "to": "page"}, {Event.FAILED, Event.RECOVERED}, Topic.PAGE),
        ({"on": ["failed", "failed"]}, {Event.FAILED}, Topic.NOTICE),
        ({"on": []}, set(), Topic.NOTICE),
        ({"to": "page"}, DEFAULT_RULE.on, Topic.PAGE),
        ({"on": [str(event) for event in Event]}, set(Event), Topic.NOTICE),
    ],
)
def test_a_rule_has_events_and_a_topic(spec: dict[str, Any], on: set[Event], to: Topic) -> None:
    assert parse_notify(spec) == Notify(frozenset(on), to)


@pytest.mark.parametrize("rule", [DEFAULT_RULE, ALL, Notify(frozenset())])
def test_a_rule_reads_back_unchanged(rule: Notify) -> None:
    assert parse_notify(json.loads(json.dumps(rule.to_spec()))) == rule


def test_a_rule_lists_its_events_in_a_fixed_order() -> None:
    assert ALL.to_spec()["on"] == ["failed", "succeeded", "deadline_at_risk", "will_miss", "missed", "recovered"]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"on": ["failed", "exploded"]}, "notify.on", "'exploded' is not one of failed, succeeded, deadline_at_risk"),
        ({"on": "failed"}, "notify.on", "must be a list of: failed,"),
        ({"on": {"failed": True}}, "notify.on", "must be a list"),
        ({"on": [["failed"]]}, "notify.on", "is not one of failed,"),
        ({"on": [None]}, "notify.on", "'None'"),
        ({"on": ["failed"], "to": "everybody"}, "notify.to", "'everybody' is not one of notice, page"),
        ({"to": 7}, "notify.to", "is not one of notice, page"),
    ],
)
def test_an_invalid_rule_is_rejected_with_the_valid_values(spec: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_notify(spec)
    assert refused.value.field == field
    assert message in refused.value.message


def test_the_default_rule_covers_deadlines_but_not_outcomes() -> None:
    assert parse_notify(None) is None
    assert DEFAULT_RULE.to is Topic.NOTICE
    assert frozenset(Event) - DEFAULT_RULE.on == {Event.FAILED, Event.SUCCEEDED}
    for status in FINAL:
        assert outcome_notice(replace(FAILED, status=status), "weekly-quality", None) is None


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
        "Reason: 3 of 3 attempts\n"
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
        "reason": "3 of 3 attempts",
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


def test_a_window_end_reads_back_without_counts() -> None:
    full = window(NOTICE)
    assert read_message(full.to_body()) == replace(full, counted=0, executions=frozenset(), latest=None)


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(NOTICE.to_body()), **fields})


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{broken",
        "[" * 100_000,
        "7",
        "null",
        "[]",
        '"window_until"',
        "{}",
        changed(id=""),
        changed(id=7),
        changed(id="x" * (MAX_KEY_BYTES + 1)),
        changed(job_name=None),
        changed(execution_id=""),
        changed(event="exploded"),
        changed(to="everybody"),
        changed(at="yesterday"),
        changed(at="2026-11-15T07:00:00"),
        changed(facts=[1]),
        changed(facts={"n": float("nan")}),
        changed(text="\ud800"),
        changed(text="x" * MAX_BODY_BYTES),
        '{"window_until": "2026-11-15T07:00:00Z"}',
        '{"window_until": "soon", "job_id": "job", "event": "failed", "to": "page"}',
        '{"window_until": "2026-11-15T07:00:00Z", "job_id": "job", "event": "exploded", "to": "page"}',
    ],
    ids=lambda body: body[-40:],
)
def test_an_invalid_message_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable):
        read_message(body)


# summaries


def test_a_summary_shows_the_count_and_the_latest_notice() -> None:
    notices = [replace(NOTICE, id=f"{n}#failed", execution_id=str(n), text=f"text {n}") for n in range(14)]
    summary = summary_of(window(*notices), DUE + OUTCOME_WINDOW + timedelta(milliseconds=300))
    assert summary.title == "weekly-quality failed 14 more times in 15 minutes"
    assert summary.text.startswith("weekly-quality failed 14 more times in 15 minutes; the latest:\n\ntext 13\n")
    assert "text 12" not in summary.text
    assert (summary.event, summary.to, summary.owner) == (Event.FAILED, Topic.PAGE, "team-a")
    assert summary.facts["more"] == 14
    assert summary.facts["executions"] == sorted(str(n) for n in range(14))
    assert summary.facts["latest"] == NOTICE.facts
    assert read_notice(summary.to_body()) == summary


def test_the_summary_of_one_notice_uses_the_singular() -> None:
    assert summary_of(window(NOTICE), DUE + OUTCOME_WINDOW).title == "weekly-quality failed 1 more time in 15 minutes"


@pytest.mark.parametrize(
    ("event", "title"),
    [
        (Event.SUCCEEDED, "weekly-quality succeeded 2 more times"),
        (Event.DEADLINE_AT_RISK, "weekly-quality was at risk of missing its deadline 2 more times"),
        (Event.WILL_MISS, "weekly-quality was about to miss its deadline 2 more times"),
        (Event.MISSED, "weekly-quality missed its deadline 2 more times"),
        (Event.RECOVERED, "weekly-quality recovered 2 more times"),
    ],
)
def test_the_title_of_a_summary_names_the_event(event: Event, title: str) -> None:
    one, other = (replace(NOTICE, event=event, execution_id=name) for name in ("one", "other"))
    summary = summary_of(replace(window(one, other), group=group_of(one)), DUE + OUTCOME_WINDOW)
    assert summary.title.startswith(title)
    assert "\none\nother" in summary.text


def test_a_summary_with_too_many_executions_says_and_others() -> None:
    notices = [replace(NOTICE, execution_id=f"{n:02}") for n in range(MAX_NAMED_EXECUTIONS)]
    assert not summary_of(window(*notices[1:]), DUE).text.endswith("and others")
    assert summary_of(replace(window(*notices), counted=1000), DUE).text.endswith("\n19\nand others")


def test_each_window_of_a_group_has_its_own_summary_id() -> None:
    later = window(until=DUE + 2 * OUTCOME_WINDOW)
    assert window().summary_id != later.summary_id
    assert Group("job", Event.FAILED, Topic.PAGE).name in later.summary_id


@pytest.mark.parametrize("before", [None, window()])
def test_a_notice_without_an_overdue_window_stays_unchanged(before: DigestWindow | None) -> None:
    assert merge_overdue_window(NOTICE, before, DUE) == NOTICE


def test_an_overdue_window_is_merged_into_the_next_notice() -> None:
    overdue = window(replace(NOTICE, id="0#failed", execution_id="0", text="overdue"))
    together = merge_overdue_window(NOTICE, overdue, DUE + timedelta(hours=3))
    assert together.id == NOTICE.id
    assert together.title == "weekly-quality failed 2 more times in 3 hours"
    assert NOTICE.text in together.text
    assert together.facts["executions"] == ["0", NOTICE.execution_id]
