"""Each notice is told once, none is lost, and a flood comes as summaries, whatever is repeated, late, lost or dies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.jobs.notify_rule import Event, Topic
from punctual.domain.notices.digest_window import DANGER_WINDOW, GROUP_WINDOW, DigestWindow, Group, Noted, Telling
from punctual.domain.notices.notice import Notice, spelled
from punctual.stages.watch.notify import LEASE, MOST_LOOKS, Fate, Notifier

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
HIDDEN = timedelta(minutes=3)
"""How long a message stays away before it comes again."""
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
GROUP = Group("job", Event.FAILED, Topic.NOTICE)


class Dead(BaseException):
    """The process is gone."""


@dataclass(eq=False)
class Message:
    content: Notice | DigestWindow
    visible_at: datetime


@dataclass
class Office:
    """Ledger, topics and queue in memory. Before and after everything that a notifier does, something may happen."""

    now: datetime = START
    queue: list[Message] = field(default_factory=list)
    published: list[Notice] = field(default_factory=list)
    published_at: list[datetime] = field(default_factory=list)
    states: dict[str, Telling | str] = field(default_factory=dict)
    windows: dict[Group, DigestWindow] = field(default_factory=dict)
    happens: dict[int, Callable[[], None]] = field(default_factory=dict)
    steps: int = 0
    unmarked: str | None = None
    """What the process at work has published and not yet marked."""
    unlucky: int = 0
    """How many died right then."""

    # what a notifier needs

    def window(self, group: Group) -> DigestWindow | None:
        return self._do(lambda: self.windows.get(group))

    def begin(self, telling: Telling, seen: DigestWindow | None, now: datetime) -> Noted:  # noqa: ARG002
        def write() -> Noted:
            if telling.id in self.states:
                return Noted.KNOWN
            if self.windows.get(telling.opens.group) != seen:
                return Noted.MOVED
            self.states[telling.id] = telling
            self.windows[telling.opens.group] = telling.opens
            return Noted.NEW

        return self._do(write)

    def count(self, notice: Notice, seen: DigestWindow, now: datetime) -> Noted:  # noqa: ARG002
        def write() -> Noted:
            if notice.id in self.states:
                return Noted.KNOWN
            window = self.windows.get(seen.group)
            if window is None or window.until != seen.until:
                return Noted.MOVED
            self.states[notice.id] = "counted"
            executions = window.executions | {notice.execution_id}
            counted = replace(window, counted=window.counted + 1, executions=executions, latest=notice)
            self.windows[seen.group] = counted
            return Noted.NEW

        return self._do(write)

    def close(self, seen: DigestWindow) -> bool:
        def write() -> bool:
            if self.windows.get(seen.group) != seen:
                return False
            del self.windows[seen.group]
            return True

        return self._do(write)

    def due(self, notice_id: str) -> Telling | None:
        state = self._do(lambda: self.states.get(notice_id))
        return state if isinstance(state, Telling) else None

    def take_over(self, telling: Telling, lease_until: datetime) -> bool:
        def write() -> bool:
            if self.states[telling.id] != telling:
                return False
            self.states[telling.id] = replace(telling, lease_until=lease_until)
            return True

        return self._do(write)

    def told(self, telling: Telling) -> None:
        def write() -> None:
            self.states[telling.id] = "told"
            self.unmarked = None

        self._do(write)

    def publish(self, notice: Notice) -> None:
        def write() -> None:
            self.published.append(notice)
            self.published_at.append(self.now)
            self.unmarked = notice.id

        self._do(write)

    def end_later(self, window: DigestWindow, now: datetime) -> None:
        points_at = DigestWindow(group=window.group, until=window.until)
        self._do(lambda: self.queue.append(Message(points_at, max(window.until, now))))

    def _do(self, effect: Callable[[], Any]) -> Any:
        self._step()
        result = effect()
        self._step()
        return result

    def _step(self) -> None:
        self.steps += 1
        if act := self.happens.pop(self.steps, None):
            rest, steps, unmarked = self.happens, self.steps, self.unmarked
            self.happens = {}  # what another does meanwhile is not among the steps
            act()
            self.happens, self.steps, self.unmarked = rest, steps, unmarked

    # what a test does

    @property
    def titles(self) -> list[str]:
        return [notice.title for notice in self.published]

    def tell(self, notice: Notice) -> Fate | None:
        message = Message(notice, self.now)
        self.queue.append(message)
        return self.deliver(message)

    def deliver(self, message: Message, **happens: Callable[[], None]) -> Fate | None:
        """Have a message heard; ``None`` from one who died. What is given as ``step_3`` happens at the third step."""
        self.steps, self.unmarked = 0, None
        self.happens = {int(step.removeprefix("step_")): act for step, act in happens.items()}
        try:
            fate = self.hear(message)
        except Dead:
            self.unlucky += self.unmarked is not None
            fate = None
        finally:
            self.happens = {}
        if fate is None or fate is Fate.HELD:
            message.visible_at = self.now + HIDDEN
        return fate

    def hear(self, message: Message) -> Fate:
        notifier = Notifier(ledger=self, topics=self, ends=self)
        if isinstance(message.content, Notice):
            fate = notifier.tell(message.content, self.now)
        else:
            fate = notifier.end(message.content, self.now)
        if fate is not Fate.HELD and message in self.queue:
            self.queue.remove(message)
        return fate

    def visible(self) -> list[Message]:
        return [message for message in self.queue if message.visible_at <= self.now]

    def pass_time(self, span: timedelta) -> None:
        """Everything that becomes visible on the way is delivered when it does."""
        end = self.now + span
        while self.queue and (nearest := min(message.visible_at for message in self.queue)) <= end:
            self.now = max(self.now, nearest)
            self.deliver(self.visible()[0])
        self.now = end


def die() -> None:
    raise Dead


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


def test_the_first_is_told_at_once() -> None:
    office = Office()
    assert office.tell(notice(1)) is Fate.TOLD
    assert office.titles == ["job-1 failed"]


def test_those_that_follow_are_told_as_one_summary_when_the_window_ends() -> None:
    office = Office()
    assert [office.tell(notice(n)) for n in range(15)] == [Fate.TOLD] + [Fate.COUNTED] * 14
    office.pass_time(GROUP_WINDOW - SECOND)
    assert office.titles == ["job-0 failed"]
    office.pass_time(SECOND)
    assert office.titles == ["job-0 failed", "job failed 14 more times in 15 minutes"]
    assert "all about job-14" in office.published[-1].text


def test_while_it_goes_on_there_is_one_summary_per_window() -> None:
    office = Office()
    for minute in range(60):
        office.tell(notice(minute))
        office.pass_time(MINUTE)
    assert [one.facts.get("more") for one in office.published] == [None, 14, 15, 15, 15]
    assert office.published_at == [START + n * GROUP_WINDOW for n in range(5)]


def test_when_a_window_ends_with_none_the_next_is_told_at_once() -> None:
    office = Office()
    office.tell(notice(1))
    office.pass_time(GROUP_WINDOW)
    assert office.queue == []
    assert office.windows == {}
    assert office.tell(notice(2)) is Fate.TOLD
    assert office.titles == ["job-1 failed", "job-2 failed"]


def test_after_a_summary_the_group_is_quiet_for_a_window_before_it_closes() -> None:
    office = Office()
    office.tell(notice(1))
    office.tell(notice(2))
    office.pass_time(GROUP_WINDOW)
    assert office.tell(notice(3)) is Fate.COUNTED
    office.pass_time(2 * GROUP_WINDOW)
    assert office.titles[1:] == ["job failed 1 more time in 15 minutes"] * 2
    assert office.queue == []
    assert office.tell(notice(4)) is Fate.TOLD


def test_jobs_events_and_topics_are_groups_of_their_own() -> None:
    office = Office()
    several = [
        notice(1),
        notice(1, Event.MISSED),
        notice(2, Event.SUCCEEDED),
        notice(3, to=Topic.PAGE),
        *(notice(1, Event.DEADLINE_AT_RISK, job=f"job-{n}") for n in range(100)),
    ]
    assert [office.tell(one) for one in several] == [Fate.TOLD] * len(several)


def test_every_recovery_is_told_or_named_in_a_summary() -> None:
    office = Office()
    for n in range(5):
        office.tell(notice(n, Event.DEADLINE_AT_RISK))
        office.tell(notice(n, Event.RECOVERED))
    office.pass_time(2 * GROUP_WINDOW)
    first, summary = (one for one in office.published if one.event is Event.RECOVERED)
    assert first.execution_id == "job-0"
    assert summary.title == f"job recovered 4 more times in {spelled(DANGER_WINDOW)}"
    assert summary.facts["executions"] == ["job-1", "job-2", "job-3", "job-4"]
    assert all(name in summary.text for name in summary.facts["executions"])


# again


def test_a_notice_that_comes_again_is_told_once_however_late() -> None:
    office = Office()
    fates = []
    for _ in range(3):
        fates.append(office.tell(notice(1)))
        office.pass_time(GROUP_WINDOW)
    assert fates == [Fate.TOLD, Fate.KNOWN, Fate.KNOWN]
    assert office.titles == ["job-1 failed"]
    assert office.windows == {}


def test_a_notice_that_was_counted_is_counted_once() -> None:
    office = Office()
    office.tell(notice(1))
    assert [office.tell(notice(2)) for _ in range(3)] == [Fate.COUNTED, Fate.KNOWN, Fate.KNOWN]
    office.pass_time(GROUP_WINDOW)
    assert office.tell(notice(2)) is Fate.KNOWN
    office.pass_time(GROUP_WINDOW)
    assert office.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"]


def test_while_a_notice_is_being_told_the_same_one_has_to_come_again() -> None:
    office = Office()
    message, same = Message(notice(1), START), Message(notice(1), START)
    office.queue += [message, same]
    fates: list[Fate] = []
    during = {f"step_{step}": lambda: fates.append(office.hear(same)) for step in range(4, 10)}
    assert office.deliver(message, **during) is Fate.TOLD
    assert fates == [Fate.HELD] * 6
    assert office.deliver(same) is Fate.KNOWN
    assert office.titles == ["job-1 failed"]


def test_the_end_of_a_window_that_comes_twice_is_one_summary() -> None:
    office = Office()
    office.tell(notice(1))
    office.tell(notice(2))
    office.now += GROUP_WINDOW
    [end] = office.visible()
    assert [office.deliver(end), office.deliver(end)] == [Fate.TOLD, Fate.KNOWN]
    office.pass_time(GROUP_WINDOW)
    assert office.deliver(end) is Fate.KNOWN
    assert office.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"]


def test_the_end_of_a_window_heard_by_two_at_once_is_one_summary() -> None:
    for step in range(1, 11):
        office = Office()
        office.tell(notice(1))
        office.tell(notice(2))
        office.now += GROUP_WINDOW
        [end] = office.visible()
        office.deliver(end, **{f"step_{step}": lambda office=office, end=end: office.hear(end)})
        office.pass_time(3 * GROUP_WINDOW)
        assert office.titles == ["job-1 failed", "job failed 1 more time in 15 minutes"], step
        assert office.queue == []


def test_two_that_come_at_once_open_one_window() -> None:
    for step in range(1, 11):
        office = Office()
        first, second = Message(notice(1), START), Message(notice(2), START)
        office.queue += [first, second]
        office.deliver(first, **{f"step_{step}": lambda office=office, second=second: office.hear(second)})
        office.pass_time(3 * GROUP_WINDOW)
        told, summary = office.published
        assert {told.execution_id, summary.execution_id} == {"job-1", "job-2"}, step
        assert summary.facts["more"] == 1


def test_a_group_that_never_rests_has_the_notice_come_again() -> None:
    office = Office()
    moves = {
        f"step_{2 + 4 * look}": lambda look=look: office.windows.update(
            {GROUP: DigestWindow(group=GROUP, until=START - look * SECOND)}
        )
        for look in range(MOST_LOOKS)
    }
    message = Message(notice(1), START)
    assert office.deliver(message, **moves) is Fate.HELD
    assert office.published == []
    assert office.deliver(message) is Fate.TOLD


# late, never


def test_a_notice_past_the_end_of_its_window_is_told_with_what_was_counted() -> None:
    office = Office()
    office.tell(notice(1))
    office.tell(notice(2))
    [end] = office.queue
    office.queue.clear()
    office.now += timedelta(hours=3)
    assert office.tell(notice(3)) is Fate.TOLD
    assert office.titles == ["job-1 failed", "job failed 2 more times in 3 hours"]
    assert office.published[-1].facts["executions"] == ["job-2", "job-3"]
    assert office.deliver(end) is Fate.KNOWN  # late after all: it is another window by now
    assert office.tell(notice(4)) is Fate.COUNTED


def test_a_notice_past_the_end_of_an_empty_window_is_told_as_it_is() -> None:
    office = Office()
    office.tell(notice(1))
    office.queue.clear()
    office.now += GROUP_WINDOW
    assert office.tell(notice(2)) is Fate.TOLD
    assert office.titles == ["job-1 failed", "job-2 failed"]


def test_a_notice_counted_while_the_window_closes_is_not_swallowed() -> None:
    for step in range(1, 5):
        office = Office()
        office.tell(notice(1))
        [end] = office.queue
        late = Message(notice(2), office.now)  # by a clock that is behind the one which ends the window
        office.queue.append(late)
        office.deliver(end, **{f"step_{step}": lambda office=office, late=late: office.hear(late)})
        office.pass_time(3 * GROUP_WINDOW)
        assert {one.execution_id for one in office.published} == {"job-1", "job-2"}, step


def test_the_end_of_a_window_that_comes_early_is_not_taken_for_that_of_the_next() -> None:
    office = Office()
    office.tell(notice(1))
    [end] = office.queue
    office.tell(notice(2))
    assert office.deliver(end) is Fate.TOLD
    assert office.tell(notice(3)) is Fate.COUNTED
    assert office.deliver(end) is Fate.KNOWN
    office.pass_time(3 * GROUP_WINDOW)
    assert [one.facts.get("more") for one in office.published] == [None, 1, 1]


# dying


@pytest.mark.parametrize("step", range(1, 11))
def test_whoever_dies_telling_loses_nothing(step: int) -> None:
    office = Office()
    message = Message(notice(1), START)
    office.queue.append(message)
    assert office.deliver(message, **{f"step_{step}": die}) is None
    office.pass_time(HIDDEN)
    assert office.tell(notice(2)) is Fate.COUNTED
    office.pass_time(4 * GROUP_WINDOW)
    # only who dies between publishing and marking tells it twice
    assert office.titles == ["job-1 failed"] * (2 if step in (8, 9) else 1) + ["job failed 1 more time in 15 minutes"]
    assert office.queue == []
    assert office.windows == {}


@pytest.mark.parametrize("step", range(1, 11))
def test_whoever_dies_summing_up_loses_nothing(step: int) -> None:
    office = Office()
    office.tell(notice(1))
    office.tell(notice(2))
    office.now += GROUP_WINDOW
    [end] = office.visible()
    assert office.deliver(end, **{f"step_{step}": die}) is None
    office.tell(notice(3))
    office.pass_time(4 * GROUP_WINDOW)
    told = {one.id: one.facts.get("more", 1) for one in office.published}
    assert sum(told.values()) == 3
    assert len(office.published) - len(told) == (step in (8, 9))
    assert office.queue == []


def test_what_another_left_is_taken_over_only_when_its_lease_has_lapsed_and_by_one() -> None:
    office = Office()
    message = Message(notice(1), START)
    office.deliver(message, step_4=die)
    office.now += LEASE - SECOND
    assert office.deliver(message) is Fate.HELD
    office.now += SECOND
    other = Message(notice(1), START)
    office.deliver(message, step_6=lambda: office.hear(other))
    assert office.titles == ["job-1 failed"]


# all of it together

steps = st.integers(1, 14)
deliveries = st.tuples(st.just("deliver"), st.integers(0, 20), st.sampled_from(["", "", "die", "meanwhile"]), steps)
actions = st.one_of(
    st.tuples(st.just("notice"), st.integers(0, 40)),
    st.tuples(st.just("pass"), st.sampled_from([1, 59, 61, 170, 190, 600, 899, 900, 901])),
    deliveries,
    deliveries,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(actions, max_size=60))
def test_whatever_happens_each_notice_is_in_exactly_one_message(plan: list[tuple[Any, ...]]) -> None:
    office = Office()
    sent: set[str] = set()
    for what, number, *more in plan:
        if what == "notice":
            office.queue.append(Message(notice(number, job=f"job-{number % 2}"), office.now))
            sent.add(f"job-{number % 2}-{number}")
        elif what == "pass":
            office.now += number * SECOND
        elif visible := office.visible():
            other = visible[(number + more[1]) % len(visible)]
            act = {"die": die, "meanwhile": lambda other=other: office.hear(other)}.get(more[0])
            office.deliver(visible[number % len(visible)], **({f"step_{more[1]}": act} if act else {}))
    office.pass_time(6 * GROUP_WINDOW)
    assert office.queue == []
    assert office.windows == {}
    told = {one.id: one for one in office.published}
    assert sum(one.facts.get("more", 1) for one in told.values()) == len(sent)
    assert {name for one in told.values() for name in one.facts.get("executions", [one.execution_id])} == sent
    assert len(office.published) - len(told) <= office.unlucky


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60))
def test_a_group_is_heard_of_at_most_once_per_window(rests: list[int]) -> None:
    office = Office()
    for n, rest in enumerate(rests):
        office.tell(notice(n))
        office.pass_time(rest * SECOND)
    office.pass_time(2 * GROUP_WINDOW)
    gaps = [later - earlier for earlier, later in zip(office.published_at, office.published_at[1:], strict=False)]
    assert all(gap >= GROUP_WINDOW for gap in gaps)
    assert sum(one.facts.get("more", 1) for one in office.published) == len(rests)
