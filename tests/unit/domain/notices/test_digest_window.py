"""Digest windows: their messages, and the summaries of their notices."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import Unreadable
from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.notices.digest_window import (
    MAX_KEY_BYTES,
    MAX_NAMED_EXECUTIONS,
    MAX_NOTICE_BYTES,
    OUTCOME_WINDOW,
    DigestWindow,
    Group,
    group_of,
    merge_overdue_window,
    read_notice_message,
    summary_of,
)
from punctual.domain.notices.notice import Notice, read_notice
from tests.unit.domain.notices.failed_execution import DUE, NOTICE


def window(*notices: Notice, until: datetime = DUE + OUTCOME_WINDOW) -> DigestWindow:
    executions = frozenset(notice.execution_id for notice in notices)
    return DigestWindow(
        group=group_of(NOTICE), until=until, counted=len(notices), executions=executions, latest=[None, *notices][-1]
    )


# messages


def test_a_window_end_reads_back_without_counts() -> None:
    full = window(NOTICE)
    assert read_notice_message(full.to_body()) == replace(full, counted=0, executions=frozenset(), latest=None)


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
        changed(text="x" * MAX_NOTICE_BYTES),
        '{"window_until": "2026-11-15T07:00:00Z"}',
        '{"window_until": "soon", "job_id": "job", "event": "failed", "to": "page"}',
        '{"window_until": "2026-11-15T07:00:00Z", "job_id": "job", "event": "exploded", "to": "page"}',
    ],
    ids=lambda body: body[-40:],
)
def test_an_invalid_message_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable):
        read_notice_message(body)


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
        (Event.DEADLINE_MISSED, "weekly-quality missed its deadline 2 more times"),
        (Event.OVERRUN, "weekly-quality ran far longer than usual 2 more times"),
        (Event.EXECUTION_SKIPPED, "weekly-quality was skipped 2 more times"),
        (Event.EXECUTION_MISSED, "weekly-quality missed its due instant 2 more times"),
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
