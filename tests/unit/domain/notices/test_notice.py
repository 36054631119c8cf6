"""What people are told: the job's rule, the notice of an outcome, and the messages that carry it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.executions.execution import Execution, Failure
from punctual.domain.jobs.notify_rule import DEFAULT, Event, Notify, Topic, parse_notify
from punctual.domain.notices.digest_window import (
    GROUP_WINDOW,
    LARGEST_BODY,
    LARGEST_KEY,
    MOST_NAMED,
    DigestWindow,
    Group,
    group_of,
    read_message,
    summary_of,
    told_with,
)
from punctual.domain.notices.notice import LONGEST_WORDS, Notice, outcome_notice, read_notice, spelled
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


def told(execution: Execution, notify: Notify | None = ALL) -> Notice:
    notice = outcome_notice(execution, "weekly-quality", notify)
    assert notice is not None
    return notice


NOTICE = told(FAILED)


def window(*notices: Notice, until: datetime = DUE + GROUP_WINDOW) -> DigestWindow:
    executions = frozenset(notice.execution_id for notice in notices)
    return DigestWindow(
        group=group_of(NOTICE), until=until, counted=len(notices), executions=executions, latest=[None, *notices][-1]
    )


# the rule


@pytest.mark.parametrize(
    ("spec", "on", "to"),
    [
        ({"on": ["failed", "recovered"], "to": "page"}, {Event.FAILED, Event.RECOVERED}, Topic.PAGE),
        ({"on": ["failed", "failed"]}, {Event.FAILED}, Topic.NOTICE),
        ({"on": []}, set(), Topic.NOTICE),
        ({"to": "page"}, DEFAULT.on, Topic.PAGE),
        ({"on": [str(event) for event in Event]}, set(Event), Topic.NOTICE),
    ],
)
def test_a_rule_says_of_what_and_where(spec: dict[str, Any], on: set[Event], to: Topic) -> None:
    assert parse_notify(spec) == Notify(frozenset(on), to)


@pytest.mark.parametrize("rule", [DEFAULT, ALL, Notify(frozenset())])
def test_a_rule_reads_back(rule: Notify) -> None:
    assert parse_notify(json.loads(json.dumps(rule.to_spec()))) == rule


def test_a_rule_lists_its_events_in_one_order() -> None:
    assert ALL.to_spec()["on"] == ["failed", "succeeded", "deadline_at_risk", "will_miss", "missed", "recovered"]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"on": ["failed", "exploded"]}, "notify.on", "'exploded'; there are: failed, succeeded, deadline_at_risk"),
        ({"on": "failed"}, "notify.on", "must be a list; there are: failed,"),
        ({"on": {"failed": True}}, "notify.on", "must be a list"),
        ({"on": [["failed"]]}, "notify.on", "there are: failed,"),
        ({"on": [None]}, "notify.on", "'None'"),
        ({"on": ["failed"], "to": "everybody"}, "notify.to", "'everybody'; there are: notice, page"),
        ({"to": 7}, "notify.to", "there are: notice, page"),
    ],
)
def test_a_wrong_rule_is_refused_with_what_there_is(spec: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_notify(spec)
    assert refused.value.field == field
    assert message in refused.value.message


def test_without_a_rule_people_hear_of_deadlines_and_not_of_outcomes() -> None:
    assert parse_notify(None) is None
    assert DEFAULT.to is Topic.NOTICE
    assert frozenset(Event) - DEFAULT.on == {Event.FAILED, Event.SUCCEEDED}
    for status in FINAL:
        assert outcome_notice(replace(FAILED, status=status), "weekly-quality", None) is None


# the notice of an outcome


@pytest.mark.parametrize(
    ("status", "event", "title"),
    [
        (Status.FAILED, Event.FAILED, "weekly-quality failed"),
        (Status.TIMED_OUT, Event.FAILED, "weekly-quality timed out"),
        (Status.SUCCEEDED, Event.SUCCEEDED, "weekly-quality succeeded"),
    ],
)
def test_each_outcome_has_its_event_and_one_id(status: Status, event: Event, title: str) -> None:
    notice = told(replace(FAILED, status=status))
    assert (notice.event, notice.title) == (event, title)
    assert notice.id == f"20261115T070000000Z-job#{event}"
    assert notice.to is Topic.PAGE
    assert notice.at == FAILED.ended_at


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.FAILED, Status.TIMED_OUT, Status.SUCCEEDED}))
def test_of_what_was_cancelled_or_goes_on_nothing_is_told(status: Status) -> None:
    assert outcome_notice(replace(FAILED, status=status), "weekly-quality", ALL) is None


def test_only_what_the_rule_asks_for_is_told() -> None:
    only_success = Notify(frozenset({Event.SUCCEEDED}))
    assert outcome_notice(FAILED, "weekly-quality", only_success) is None
    assert told(replace(FAILED, status=Status.SUCCEEDED), only_success).to is Topic.NOTICE


def test_the_text_says_what_happened_when_why_and_where_to_look() -> None:
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


def test_the_facts_say_the_same_to_programs() -> None:
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


def test_one_that_never_started_is_told_without_what_it_has_not() -> None:
    notice = told(replace(FAILED, started_at=None, error=None, deadline_at=None, reason=None, attempt=0))
    assert not [line for line in notice.text.splitlines() if line.startswith(("Error", "Ran", "Deadline", "Reason"))]
    assert notice.facts["ran_seconds"] is notice.facts["error"] is None
    assert read_message(notice.to_body()) == notice


@pytest.mark.parametrize("letter", ["x", "ü", "\x00", '"', "😀"])
def test_the_words_of_an_error_never_make_a_notice_too_large(letter: str) -> None:
    loud = replace(FAILED, error=Failure(type="Loud", message=letter * 100_000), reason=letter * 100_000)
    notice = outcome_notice(loud, letter * 200, ALL)
    assert notice is not None
    assert notice.facts["error"]["message"] == letter * LONGEST_WORDS
    assert read_message(notice.to_body()) == notice


def test_what_a_queue_cannot_carry_is_replaced() -> None:
    notice = told(replace(FAILED, reason="half \ud800, none \uffff, null \x00"))
    assert read_notice(notice.to_body()).facts["reason"] == "half \ufffd, none \ufffd, null \x00"
    assert not any(ord(letter) < 32 for letter in notice.to_body())


@pytest.mark.parametrize(
    ("span", "words"),
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
def test_spans_are_spelled_as_people_say_them(span: timedelta, words: str) -> None:
    assert spelled(span) == words


# messages


def test_a_notice_reads_back_from_its_message() -> None:
    body = NOTICE.to_body()
    assert read_notice(body) == read_message(body) == NOTICE
    assert json.loads(body)["event"] == "failed"
    assert json.loads(body)["to"] == "page"


def test_the_end_of_a_window_reads_back_as_what_it_points_at() -> None:
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
        changed(id="x" * (LARGEST_KEY + 1)),
        changed(job_name=None),
        changed(execution_id=""),
        changed(event="exploded"),
        changed(to="everybody"),
        changed(at="yesterday"),
        changed(at="2026-11-15T07:00:00"),
        changed(facts=[1]),
        changed(facts={"n": float("nan")}),
        changed(text="\ud800"),
        changed(text="x" * LARGEST_BODY),
        '{"window_until": "2026-11-15T07:00:00Z"}',
        '{"window_until": "soon", "job_id": "job", "event": "failed", "to": "page"}',
        '{"window_until": "2026-11-15T07:00:00Z", "job_id": "job", "event": "exploded", "to": "page"}',
    ],
    ids=lambda body: body[-40:],
)
def test_what_is_no_notice_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable):
        read_message(body)


# summaries


def test_a_summary_counts_and_shows_the_latest() -> None:
    notices = [replace(NOTICE, id=f"{n}#failed", execution_id=str(n), text=f"text {n}") for n in range(14)]
    summary = summary_of(window(*notices), DUE + GROUP_WINDOW + timedelta(milliseconds=300))
    assert summary.title == "weekly-quality failed 14 more times in 15 minutes"
    assert summary.text.startswith("weekly-quality failed 14 more times in 15 minutes; the latest:\n\ntext 13\n")
    assert "text 12" not in summary.text
    assert (summary.event, summary.to, summary.owner) == (Event.FAILED, Topic.PAGE, "team-a")
    assert summary.facts["more"] == 14
    assert summary.facts["executions"] == sorted(str(n) for n in range(14))
    assert summary.facts["latest"] == NOTICE.facts
    assert read_notice(summary.to_body()) == summary


def test_a_summary_of_one_is_in_the_singular() -> None:
    assert summary_of(window(NOTICE), DUE + GROUP_WINDOW).title == "weekly-quality failed 1 more time in 15 minutes"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event.SUCCEEDED, "weekly-quality succeeded 2 more times"),
        (Event.DEADLINE_AT_RISK, "weekly-quality was at risk of missing its deadline 2 more times"),
        (Event.WILL_MISS, "weekly-quality was about to miss its deadline 2 more times"),
        (Event.MISSED, "weekly-quality missed its deadline 2 more times"),
        (Event.RECOVERED, "weekly-quality recovered 2 more times"),
    ],
)
def test_a_summary_names_its_event(event: Event, words: str) -> None:
    one, other = (replace(NOTICE, event=event, execution_id=name) for name in ("one", "other"))
    summary = summary_of(replace(window(one, other), group=group_of(one)), DUE + GROUP_WINDOW)
    assert summary.title.startswith(words)
    assert "\none\nother" in summary.text


def test_a_summary_that_cannot_name_all_says_so() -> None:
    notices = [replace(NOTICE, execution_id=f"{n:02}") for n in range(MOST_NAMED)]
    assert not summary_of(window(*notices[1:]), DUE).text.endswith("and others")
    assert summary_of(replace(window(*notices), counted=1000), DUE).text.endswith("\n19\nand others")


def test_the_windows_of_a_group_have_summaries_of_their_own() -> None:
    later = window(until=DUE + 2 * GROUP_WINDOW)
    assert window().summary_id != later.summary_id
    assert Group("job", Event.FAILED, Topic.PAGE).name in later.summary_id


@pytest.mark.parametrize("before", [None, window()])
def test_a_notice_with_nothing_before_it_is_told_as_it_is(before: DigestWindow | None) -> None:
    assert told_with(NOTICE, before, DUE) == NOTICE


def test_what_nobody_told_is_told_with_the_next_notice() -> None:
    forgotten = window(replace(NOTICE, id="0#failed", execution_id="0", text="forgotten"))
    together = told_with(NOTICE, forgotten, DUE + timedelta(hours=3))
    assert together.id == NOTICE.id
    assert together.title == "weekly-quality failed 2 more times in 3 hours"
    assert NOTICE.text in together.text
    assert together.facts["executions"] == ["0", NOTICE.execution_id]
