"""Each notice is published once, none is lost, and floods become summaries, despite duplicates, delays and crashes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.notices.digest_window import (
    DEADLINE_WINDOW,
    OUTCOME_WINDOW,
    DigestWindow,
    Group,
    Publication,
    RecordResult,
)
from punctual.domain.notices.notice import Notice, format_duration
from punctual.stages.watch.notify import MAX_WINDOW_TRIES, PUBLICATION_LEASE, Notifier, NotifyResult

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
VISIBILITY_TIMEOUT = timedelta(minutes=3)
"""Visibility timeout of a message."""
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
GROUP = Group("job", Event.FAILED, Topic.NOTICE)


class Crash(BaseException):
    """The notifier crashed."""


@dataclass(eq=False)
class Message:
    content: Notice | DigestWindow
    visible_at: datetime


@dataclass
class World:
    """Ledger, topics and queue in memory. A test can inject an action before and after each effect of a notifier."""

    now: datetime = START
    queue: list[Message] = field(default_factory=list)
    published: list[Notice] = field(default_factory=list)
    published_at: list[datetime] = field(default_factory=list)
    states: dict[str, Publication | str] = field(default_factory=dict)
    windows: dict[Group, DigestWindow] = field(default_factory=dict)
    injected: dict[int, Callable[[], None]] = field(default_factory=dict)
    steps: int = 0
    unmarked: str | None = None
    """Id of the notice that the current notifier has published and not yet marked."""
    crashed_unmarked: int = 0
    """Number of crashes between publishing and marking."""

    # ports of the notifier

    def window(self, group: Group) -> DigestWindow | None:
        return self._do(lambda: self.windows.get(group))

    def begin(self, publication: Publication, seen: DigestWindow | None, now: datetime) -> RecordResult:  # noqa: ARG002
        def write() -> RecordResult:
            if publication.id in self.states:
                return RecordResult.DUPLICATE
            if self.windows.get(publication.new_window.group) != seen:
                return RecordResult.CONFLICT
            self.states[publication.id] = publication
            self.windows[publication.new_window.group] = publication.new_window
            return RecordResult.RECORDED

        return self._do(write)

    def count(self, notice: Notice, seen: DigestWindow, now: datetime) -> RecordResult:  # noqa: ARG002
        def write() -> RecordResult:
            if notice.id in self.states:
                return RecordResult.DUPLICATE
            window = self.windows.get(seen.group)
            if window is None or window.until != seen.until:
                return RecordResult.CONFLICT
            self.states[notice.id] = "counted"
            executions = window.executions | {notice.execution_id}
            counted = replace(window, counted=window.counted + 1, executions=executions, latest=notice)
            self.windows[seen.group] = counted
            return RecordResult.RECORDED

        return self._do(write)

    def close(self, seen: DigestWindow) -> bool:
        def write() -> bool:
            if self.windows.get(seen.group) != seen:
                return False
            del self.windows[seen.group]
            return True

        return self._do(write)

    def pending(self, notice_id: str) -> Publication | None:
        state = self._do(lambda: self.states.get(notice_id))
        return state if isinstance(state, Publication) else None

    def take_over(self, publication: Publication, lease_until: datetime) -> bool:
        def write() -> bool:
            if self.states[publication.id] != publication:
                return False
            self.states[publication.id] = replace(publication, lease_until=lease_until)
            return True

        return self._do(write)

    def mark_published(self, publication: Publication) -> None:
        def write() -> None:
            self.states[publication.id] = "published"
            self.unmarked = None

        self._do(write)

    def publish(self, notice: Notice) -> None:
        def write() -> None:
            self.published.append(notice)
            self.published_at.append(self.now)
            self.unmarked = notice.id

        self._do(write)

    def schedule_end(self, window: DigestWindow, now: datetime) -> None:
        reference = DigestWindow(group=window.group, until=window.until)
        self._do(lambda: self.queue.append(Message(reference, max(window.until, now))))

    def _do(self, effect: Callable[[], Any]) -> Any:
        self._step()
        result = effect()
        self._step()
        return result

    def _step(self) -> None:
        self.steps += 1
        if act := self.injected.pop(self.steps, None):
            rest, steps, unmarked = self.injected, self.steps, self.unmarked
            self.injected = {}  # effects of a concurrent notifier are not counted as steps
            act()
            self.injected, self.steps, self.unmarked = rest, steps, unmarked

    # actions of a test

    @property
    def titles(self) -> list[str]:
        return [notice.title for notice in self.published]

    def send(self, notice: Notice) -> NotifyResult | None:
        """Enqueue a notice and deliver it at once."""
        message = Message(notice, self.now)
        self.queue.append(message)
        return self.deliver(message)

    def deliver(self, message: Message, **injected: Callable[[], None]) -> NotifyResult | None:
        """Deliver a message; ``None`` after a crash. The action given as ``step_3`` is run at the third step."""
        self.steps, self.unmarked = 0, None
        self.injected = {int(step.removeprefix("step_")): act for step, act in injected.items()}
        try:
            result = self.handle(message)
        except Crash:
            self.crashed_unmarked += self.unmarked is not None
            result = None
        finally:
            self.injected = {}
        if result is None or result is NotifyResult.RETRY:
            message.visible_at = self.now + VISIBILITY_TIMEOUT
        return result

    def handle(self, message: Message) -> NotifyResult:
        notifier = Notifier(ledger=self, destinations=self, window_ends=self)
        if isinstance(message.content, Notice):
            result = notifier.notify(message.content, self.now)
        else:
            result = notifier.end_window(message.content, self.now)
        if result is not NotifyResult.RETRY and message in self.queue:
            self.queue.remove(message)
        return result

    def visible(self) -> list[Message]:
        return [message for message in self.queue if message.visible_at <= self.now]

    def pass_time(self, span: timedelta) -> None:
        """Advance the clock and deliver each message when it becomes visible."""
        end = self.now + span
        while self.queue and (nearest := min(message.visible_at for message in self.queue)) <= end:
            self.now = max(self.now, nearest)
            self.deliver(self.visible()[0])
        self.now = end


def crash() -> None:
    raise Crash


def notice(name: object, event: Event = Event.FAILED, *, job: str = "job", to: Topic = Topic.NOTICE) -> Notice:
    return Notice(
        id=f"{job}-{name}#{event}",
        event=event,
        at=START,
        job_id=job,
        job_name=job,
        owner="team-a",
        execution_id=f"{job}-{name}",
        to=to,
        title=f"{job}-{name} {event}",
        text=f"all about {job}-{name}",
    )


def test_the_first_notice_is_published_at_once() -> None:
    world = World()
    assert world.send(notice(1)) is NotifyResult.PUBLISHED
    assert world.titles == ["job-1 failed"]


def test_further_notices_are_published_as_one_summary_when_the_window_ends() -> None:
    world = World()
    assert [world.send(notice(n)) for n in range(15)] == [NotifyResult.PUBLISHED] + [NotifyResult.COUNTED] * 14
    world.pass_time(OUTCOME_WINDOW - SECOND)
    assert world.titles == ["job-0 failed"]
    world.pass_time(SECOND)
    assert world.titles == ["job-0 failed", "job failed 14 more times in 15 minutes"]
    assert "all about job-14" in world.published[-1].text


def test_a_continuing_flood_has_one_summary_per_window() -> None:
    world = World()
    for minute in range(60):
        world.send(notice(minute))
        world.pass_time(MINUTE)
    assert [one.facts.get("more") for one in world.published] == [None, 14, 15, 15, 15]
    assert world.published_at == [START + n * OUTCOME_WINDOW for n in range(5)]


def test_after_an_empty_window_the_next_notice_is_published_at_once() -> None:
    world = World()
    world.send(notice(1))
    world.pass_time(OUTCOME_WINDOW)
    assert world.queue == []
    assert world.windows == {}
    assert world.send(notice(2)) is NotifyResult.PUBLISHED
    assert world.titles == ["job-1 failed", "job-2 failed"]


def test_a_summary_opens_another_window() -> None:
    world = World()
    world.send(notice(1))
    world.send(notice(2))
    world.pass_time(OUTCOME_WINDOW)
    assert world.send(notice(3)) is NotifyResult.COUNTED
    world.pass_time(2 * OUTCOME_WINDOW)
    assert world.titles[1:] == ["job failed 1 more time in 15 minutes"] * 2
    assert world.queue == []
    assert world.send(notice(4)) is NotifyResult.PUBLISHED


def test_each_job_event_and_topic_is_its_own_group() -> None:
    world = World()
    several = [
        notice(1),
        notice(1, Event.DEADLINE_MISSED),
        notice(2, Event.SUCCEEDED),
        notice(3, to=Topic.PAGE),
        *(notice(1, Event.DEADLINE_AT_RISK, job=f"job-{n}") for n in range(100)),
    ]
    assert [world.send(one) for one in several] == [NotifyResult.PUBLISHED] * len(several)


def test_every_recovery_is_published_or_named_in_a_summary() -> None:
    world = World()
    for n in range(5):
        world.send(notice(n, Event.DEADLINE_AT_RISK))
        world.send(notice(n, Event.RECOVERED))
    world.pass_time(2 * OUTCOME_WINDOW)
    first, summary = (one for one in world.published if one.event is Event.RECOVERED)
    assert first.execution_id == "job-0"
    assert summary.title == f"job recovered 4 more times in {format_duration(DEADLINE_WINDOW)}"
    assert summary.facts["executions"] == ["job-1", "job-2", "job-3", "job-4"]
    assert all(name in summary.text for name in summary.facts["executions"])


# duplicates and concurrency


def test_a_duplicate_notice_is_published_once_however_late_it_is() -> None:
    world = World()
    results = []
    for _ in range(3):
        results.append(world.send(notice(1)))
        world.pass_time(OUTCOME_WINDOW)
    assert results == [NotifyResult.PUBLISHED, NotifyResult.ALREADY_DONE, NotifyResult.ALREADY_DONE]
    assert world.titles == ["job-1 failed"]
    assert world.windows == {}


def test_a_duplicate_notice_is_counted_once() -> None:
    world = World()
    world.send(notice(1))
    assert [world.send(notice(2)) for _ in range(3)] == [
        NotifyResult.COUNTED,
        NotifyResult.ALREADY_DONE,
        NotifyResult.ALREADY_DONE,
    ]
    world.pass_time(OUTCOME_WINDOW)
    assert world.send(notice(2)) is NotifyResult.ALREADY_DONE
    world.pass_time(OUTCOME_WINDOW)
    assert world.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"]


def test_a_duplicate_is_redelivered_while_the_first_is_being_published() -> None:
    world = World()
    message, same = Message(notice(1), START), Message(notice(1), START)
    world.queue += [message, same]
    results: list[NotifyResult] = []
    during = {f"step_{step}": lambda: results.append(world.handle(same)) for step in range(4, 10)}
    assert world.deliver(message, **during) is NotifyResult.PUBLISHED
    assert results == [NotifyResult.RETRY] * 6
    assert world.deliver(same) is NotifyResult.ALREADY_DONE
    assert world.titles == ["job-1 failed"]


def test_a_duplicate_window_end_has_one_summary() -> None:
    world = World()
    world.send(notice(1))
    world.send(notice(2))
    world.now += OUTCOME_WINDOW
    [end] = world.visible()
    assert [world.deliver(end), world.deliver(end)] == [NotifyResult.PUBLISHED, NotifyResult.ALREADY_DONE]
    world.pass_time(OUTCOME_WINDOW)
    assert world.deliver(end) is NotifyResult.ALREADY_DONE
    assert world.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"]


def test_two_concurrent_window_ends_have_one_summary() -> None:
    for step in range(1, 11):
        world = World()
        world.send(notice(1))
        world.send(notice(2))
        world.now += OUTCOME_WINDOW
        [end] = world.visible()
        world.deliver(end, **{f"step_{step}": lambda world=world, end=end: world.handle(end)})
        world.pass_time(3 * OUTCOME_WINDOW)
        assert world.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"], step
        assert world.queue == []


def test_two_concurrent_notices_open_one_window() -> None:
    for step in range(1, 11):
        world = World()
        first, second = Message(notice(1), START), Message(notice(2), START)
        world.queue += [first, second]
        world.deliver(first, **{f"step_{step}": lambda world=world, second=second: world.handle(second)})
        world.pass_time(3 * OUTCOME_WINDOW)
        first, summary = world.published
        assert {first.execution_id, summary.execution_id} == {"job-1", "job-2"}, step
        assert summary.facts["more"] == 1


def test_a_notice_is_redelivered_after_too_many_conflicts() -> None:
    world = World()
    moves = {
        f"step_{2 + 4 * n}": lambda n=n: world.windows.update(
            {GROUP: DigestWindow(group=GROUP, until=START - n * SECOND)}
        )
        for n in range(MAX_WINDOW_TRIES)
    }
    message = Message(notice(1), START)
    assert world.deliver(message, **moves) is NotifyResult.RETRY
    assert world.published == []
    assert world.deliver(message) is NotifyResult.PUBLISHED


# late and lost window ends


def test_a_notice_after_a_lost_window_end_is_merged_with_the_counted_ones() -> None:
    world = World()
    world.send(notice(1))
    world.send(notice(2))
    [end] = world.queue
    world.queue.clear()
    world.now += timedelta(hours=3)
    assert world.send(notice(3)) is NotifyResult.PUBLISHED
    assert world.titles == ["job-1 failed", "job failed 2 more times in 3 hours"]
    assert world.published[-1].facts["executions"] == ["job-2", "job-3"]
    assert world.deliver(end) is NotifyResult.ALREADY_DONE  # delivered late: the window has changed
    assert world.send(notice(4)) is NotifyResult.COUNTED


def test_a_notice_after_an_empty_overdue_window_is_published_unchanged() -> None:
    world = World()
    world.send(notice(1))
    world.queue.clear()
    world.now += OUTCOME_WINDOW
    assert world.send(notice(2)) is NotifyResult.PUBLISHED
    assert world.titles == ["job-1 failed", "job-2 failed"]


def test_a_notice_counted_while_the_window_closes_is_not_lost() -> None:
    for step in range(1, 5):
        world = World()
        world.send(notice(1))
        [end] = world.queue
        late = Message(notice(2), world.now)  # handled by a notifier whose clock is behind
        world.queue.append(late)
        world.deliver(end, **{f"step_{step}": lambda world=world, late=late: world.handle(late)})
        world.pass_time(3 * OUTCOME_WINDOW)
        assert {one.execution_id for one in world.published} == {"job-1", "job-2"}, step


def test_an_early_window_end_does_not_end_the_next_window() -> None:
    world = World()
    world.send(notice(1))
    [end] = world.queue
    world.send(notice(2))
    assert world.deliver(end) is NotifyResult.PUBLISHED
    assert world.send(notice(3)) is NotifyResult.COUNTED
    assert world.deliver(end) is NotifyResult.ALREADY_DONE
    world.pass_time(3 * OUTCOME_WINDOW)
    assert [one.facts.get("more") for one in world.published] == [None, 1, 1]


# crashes


@pytest.mark.parametrize("step", range(1, 11))
def test_a_crash_while_publishing_loses_no_notice(step: int) -> None:
    world = World()
    message = Message(notice(1), START)
    world.queue.append(message)
    assert world.deliver(message, **{f"step_{step}": crash}) is None
    world.pass_time(VISIBILITY_TIMEOUT)
    assert world.send(notice(2)) is NotifyResult.COUNTED
    world.pass_time(4 * OUTCOME_WINDOW)
    # only a crash between publishing and marking publishes twice
    assert world.titles == ["job-1 failed"] * (2 if step in (8, 9) else 1) + ["job failed 1 more time in 15 minutes"]
    assert world.queue == []
    assert world.windows == {}


@pytest.mark.parametrize("step", range(1, 11))
def test_a_crash_while_ending_a_window_loses_no_notice(step: int) -> None:
    world = World()
    world.send(notice(1))
    world.send(notice(2))
    world.now += OUTCOME_WINDOW
    [end] = world.visible()
    assert world.deliver(end, **{f"step_{step}": crash}) is None
    world.send(notice(3))
    world.pass_time(4 * OUTCOME_WINDOW)
    published = {one.id: one.facts.get("more", 1) for one in world.published}
    assert sum(published.values()) == 3
    assert len(world.published) - len(published) == (step in (8, 9))
    assert world.queue == []


def test_a_pending_publication_is_taken_over_once_and_only_after_its_lease_expired() -> None:
    world = World()
    message = Message(notice(1), START)
    world.deliver(message, step_4=crash)
    world.now += PUBLICATION_LEASE - SECOND
    assert world.deliver(message) is NotifyResult.RETRY
    world.now += SECOND
    other = Message(notice(1), START)
    world.deliver(message, step_6=lambda: world.handle(other))
    assert world.titles == ["job-1 failed"]


# random sequences

steps = st.integers(1, 14)
deliveries = st.tuples(
    st.just("deliver"), st.integers(0, 20), st.sampled_from(["", "", "crash", "concurrently"]), steps
)
actions = st.one_of(
    st.tuples(st.just("notice"), st.integers(0, 40)),
    st.tuples(st.just("pass"), st.sampled_from([1, 59, 61, 170, 190, 600, 899, 900, 901])),
    deliveries,
    deliveries,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(actions, max_size=60))
def test_each_notice_is_in_exactly_one_message_in_any_sequence(plan: list[tuple[Any, ...]]) -> None:
    world = World()
    sent: set[str] = set()
    for action, number, *more in plan:
        if action == "notice":
            world.queue.append(Message(notice(number, job=f"job-{number % 2}"), world.now))
            sent.add(f"job-{number % 2}-{number}")
        elif action == "pass":
            world.now += number * SECOND
        elif visible := world.visible():
            other = visible[(number + more[1]) % len(visible)]
            act = {"crash": crash, "concurrently": lambda other=other: world.handle(other)}.get(more[0])
            world.deliver(visible[number % len(visible)], **({f"step_{more[1]}": act} if act else {}))
    world.pass_time(6 * OUTCOME_WINDOW)
    assert world.queue == []
    assert world.windows == {}
    published = {one.id: one for one in world.published}
    assert sum(one.facts.get("more", 1) for one in published.values()) == len(sent)
    assert {name for one in published.values() for name in one.facts.get("executions", [one.execution_id])} == sent
    assert len(world.published) - len(published) <= world.crashed_unmarked


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60))
def test_a_group_is_published_at_most_once_per_window(pauses: list[int]) -> None:
    world = World()
    for n, pause in enumerate(pauses):
        world.send(notice(n))
        world.pass_time(pause * SECOND)
    world.pass_time(2 * OUTCOME_WINDOW)
    gaps = [later - earlier for earlier, later in zip(world.published_at, world.published_at[1:], strict=False)]
    assert all(gap >= OUTCOME_WINDOW for gap in gaps)
    assert sum(one.facts.get("more", 1) for one in world.published) == len(pauses)
