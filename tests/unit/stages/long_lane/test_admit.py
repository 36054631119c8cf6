from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, SlotResult, admission_key, with_remaining_work
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status
from punctual.stages.long_lane.admit import (
    AT_RISK_HORIZON,
    MAX_LANE_READS,
    PREEMPTION_MARGIN,
    RESCUE_LIMIT,
    Admission,
)

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
VCPU = 1024


@dataclass
class Lane:
    """Slots and containers in memory."""

    parts: dict[str, Part] = field(default_factory=dict)
    taken: Occupancy = field(default_factory=Occupancy)
    starts: list[datetime] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    stopped: list[tuple[str, str]] = field(default_factory=list)
    read: int = 0
    occupancy_reads: int = 0
    before_allocate: Callable[[Part], None] = lambda _part: None
    """Called just before each compare-and-swap: a concurrent change."""

    def add(self, *parts: Part) -> Lane:
        for part in parts:
            self.parts[part.execution_id] = part
            if part.status is not Status.WAITING:
                self.taken = self.taken.plus(part.cpu)
        return self

    def occupancy(self) -> Occupancy:
        self.occupancy_reads += 1
        return self.taken

    def waiting(self, since: datetime | None = None, until: datetime | None = None) -> Iterator[Part]:  # noqa: ARG002
        waiting = [part for part in self.parts.values() if part.status is Status.WAITING]
        for part in sorted(waiting, key=lambda part: admission_key(part, NOW)):
            self.read += 1
            yield part

    def holders(self) -> Iterator[Part]:
        return (part for part in list(self.parts.values()) if part.status in (Status.STARTING, Status.RUNNING))

    def allocate(
        self, part: Part, *, start_at: datetime, key: str, seen: Occupancy, after: Occupancy, now: datetime
    ) -> SlotResult:
        self.before_allocate(part)
        if self.parts[part.execution_id].status is not Status.WAITING:
            return SlotResult.NOT_WAITING
        if self.taken != seen:
            return SlotResult.CONTENDED
        self.parts[part.execution_id] = replace(part, status=Status.STARTING, granted_at=now)
        self.taken = after
        self.starts.append(start_at)
        self.keys.append(key)
        return SlotResult.GRANTED

    def preempt(self, part: Part, reason: str, now: datetime) -> bool:
        if self.parts[part.execution_id].preempt_reason or part.status is not Status.RUNNING:
            return False
        self.parts[part.execution_id] = replace(part, preempt_reason=reason, preempt_requested_at=now)
        return True

    def stop(self, task_arn: str, reason: str) -> None:
        self.stopped.append((task_arn, reason))

    def admission(self, *, tasks: int = 100, vcpus: int = 100, starts_per_second: int = 1000) -> Admission:
        keys = count()
        limits = LaneLimits(tasks=tasks, cpu=vcpus * VCPU, starts_per_second=starts_per_second)
        return Admission(self, self, limits, lambda: NOW, lambda: f"key-{next(keys)}")


def waits(name: str, laxity: timedelta, *, vcpus: int = 1) -> Part:
    return Part(
        execution_id=name,
        name="all",
        job_id="j",
        owner="o",
        status=Status.WAITING,
        cpu=vcpus * VCPU,
        memory_mb=2048,
        latest_start=NOW + laxity,
        expected_seconds=8 * 3600,
    )


def runs(name: str, slack: timedelta, *, vcpus: int = 1, preemptible: bool = True) -> Part:
    """A part that has run for four hours."""
    return replace(
        waits(name, slack - 4 * HOUR, vcpus=vcpus),
        status=Status.RUNNING,
        preemptible=preemptible,
        started_at=NOW - 4 * HOUR,
        task_arn=f"arn:{name}",
    )


def names(parts: list[Part]) -> list[str]:
    return [part.execution_id for part in parts]


def test_free_slots_go_to_the_least_laxity() -> None:
    lane = Lane().add(waits("lax", 9 * HOUR), waits("least", HOUR), waits("less", 2 * HOUR))
    assert names(lane.admission(tasks=2).admit()) == ["least", "less"]


def test_a_part_that_is_already_too_late_keeps_its_place() -> None:
    lane = Lane().add(waits("in time", MINUTE), waits("late", -9 * HOUR))
    assert names(lane.admission(tasks=1).admit()) == ["late"]


def test_no_slot_is_given_beyond_the_limits_of_tasks_and_vcpus() -> None:
    parts = [waits(str(n), n * HOUR, vcpus=2) for n in range(5)]
    assert len(Lane().add(*parts).admission(tasks=3).admit()) == 3
    assert len(Lane().add(*parts).admission(vcpus=5).admit()) == 2


def test_a_large_part_is_not_overtaken_by_small_ones() -> None:
    lane = Lane().add(runs("runs", HOUR, vcpus=2), waits("large", HOUR, vcpus=4), waits("small", 2 * HOUR))
    assert lane.admission(vcpus=4).admit() == []


def test_a_part_larger_than_the_lane_does_not_block_the_others() -> None:
    lane = Lane().add(waits("too large", HOUR, vcpus=8), waits("small", 2 * HOUR))
    assert names(lane.admission(vcpus=4).admit()) == ["small"]


def test_starts_are_paced_across_admissions_and_every_key_is_new() -> None:
    lane = Lane().add(*(waits(str(n), n * HOUR) for n in range(10)))
    lane.admission(tasks=6, starts_per_second=2).admit()
    lane.taken = replace(lane.taken, tasks=0, cpu=0)
    lane.admission(starts_per_second=2).admit()
    assert max(Counter(lane.starts).values()) == 2
    assert lane.starts == sorted(lane.starts)
    assert len(set(lane.keys[:6])) == 6


def test_a_part_that_no_longer_waits_is_skipped() -> None:
    lane = Lane().add(waits("cancelled", HOUR), waits("next", 2 * HOUR))

    def cancel(_part: Part) -> None:
        lane.parts["cancelled"] = replace(lane.parts["cancelled"], status=Status.CANCELLED)

    lane.before_allocate = cancel
    assert names(lane.admission(tasks=1).admit()) == ["next"]


def test_two_concurrent_admissions_give_every_slot_once() -> None:
    lane = Lane().add(*(waits(f"{n:02}", n * HOUR) for n in range(20)))
    other = lane.admission(tasks=10)
    given: list[str] = []
    busy = False

    def admit_too(part: Part) -> None:
        nonlocal busy
        if not busy and part.execution_id == "03":
            busy = True
            given.extend(names(other.admit()))

    lane.before_allocate = admit_too
    given += names(lane.admission(tasks=10).admit())
    assert sorted(given) == [f"{n:02}" for n in range(10)]
    assert lane.taken.tasks == 10


def test_admission_gives_up_after_too_many_conflicts() -> None:
    lane = Lane().add(waits("one", HOUR))

    def crowd(_part: Part) -> None:
        lane.taken = replace(lane.taken, next_start=NOW + lane.occupancy_reads * MINUTE)

    lane.before_allocate = crowd
    assert lane.admission().admit() == []
    assert lane.occupancy_reads == MAX_LANE_READS


def test_a_slot_that_becomes_free_during_an_admission_is_given_by_it() -> None:
    lane = Lane().add(waits("first", HOUR), waits("second", 2 * HOUR), runs("runs", HOUR))
    freed = iter([True])

    def free(_part: Part) -> None:
        if next(freed, False):
            lane.taken = lane.taken.minus(VCPU)

    lane.before_allocate = free
    assert names(lane.admission(tasks=2).admit()) == ["first", "second"]


@given(st.integers(0, 30), st.integers(0, 200))
def test_no_more_parts_are_read_than_there_are_slots_to_give(free: int, waiting: int) -> None:
    lane = Lane().add(*(waits(str(n), n * HOUR) for n in range(waiting)))
    assert len(lane.admission(tasks=free).admit()) == min(free, waiting)
    assert lane.read <= free


def test_a_lax_part_is_preempted_for_a_part_that_would_miss_its_deadline() -> None:
    lane = Lane().add(runs("lax", 9 * HOUR), runs("laxer", 10 * HOUR), waits("urgent", MINUTE))
    admission = lane.admission(tasks=2)
    assert names(admission.make_room()) == ["laxer"]
    assert lane.stopped == [("arn:laxer", "preempted for urgent")]
    assert lane.parts["laxer"].preempt_reason == "execution urgent needs its slot to be in time"


def test_no_part_is_preempted_for_one_that_can_wait_or_that_fits() -> None:
    lax = runs("lax", 9 * HOUR)
    assert Lane().add(lax, waits("can wait", AT_RISK_HORIZON + MINUTE)).admission(tasks=1).make_room() == []
    assert Lane().add(lax, waits("fits", MINUTE)).admission(tasks=2).make_room() == []
    assert Lane().add(lax).admission(tasks=1).make_room() == []


def test_no_part_is_preempted_for_one_that_is_already_too_late() -> None:
    lane = Lane().add(runs("lax", 9 * HOUR), waits("too late", -RESCUE_LIMIT - MINUTE))
    assert lane.admission(tasks=1).make_room() == []


def test_a_part_that_is_only_just_late_is_still_rescued() -> None:
    lane = Lane().add(runs("lax", 9 * HOUR), waits("just late", -RESCUE_LIMIT + MINUTE))
    assert names(lane.admission(tasks=1).make_room()) == ["lax"]


def test_behind_a_part_that_is_too_late_room_is_made_for_both() -> None:
    too_late, urgent = waits("too late", -HOUR), waits("urgent", MINUTE)
    lane = Lane().add(runs("lax", 9 * HOUR), runs("laxer", 10 * HOUR), too_late, urgent)
    assert sorted(names(lane.admission(tasks=2).make_room())) == ["lax", "laxer"]
    assert Lane().add(runs("lax", 9 * HOUR), too_late, urgent).admission(tasks=1).make_room() == []


def test_only_running_preemptible_parts_with_slack_are_preempted() -> None:
    lane = Lane().add(
        runs("not preemptible", 9 * HOUR, preemptible=False),
        runs("no slack", AT_RISK_HORIZON + PREEMPTION_MARGIN),
        replace(runs("starting", 9 * HOUR), status=Status.STARTING),
    )
    assert lane.add(waits("urgent", MINUTE)).admission(tasks=3).make_room() == []
    assert lane.stopped == []
    assert names(lane.add(runs("can leave", 5 * HOUR)).admission(tasks=4).make_room()) == ["can leave"]


def test_a_checkpoint_late_in_the_run_gives_slack_in_spite_of_an_early_latest_start() -> None:
    nearly_done = replace(runs("nearly done", timedelta()), latest_start=NOW - 3 * HOUR, checkpoint="s3")
    lane = Lane().add(nearly_done, waits("urgent", MINUTE))
    assert names(lane.admission(tasks=1).make_room()) == ["nearly done"]


def test_a_part_that_would_have_to_start_over_is_not_preempted() -> None:
    nearly_done = replace(runs("nearly done", timedelta()), latest_start=NOW - 3 * HOUR)
    lane = Lane().add(nearly_done, waits("urgent", MINUTE))
    assert lane.admission(tasks=1).make_room() == []


def test_several_parts_are_preempted_for_a_large_one_or_none_if_that_is_not_enough() -> None:
    small = [runs(str(n), (9 + n) * HOUR) for n in range(4)]
    enough = Lane().add(*small, waits("large", MINUTE, vcpus=3)).admission(vcpus=4)
    assert names(enough.make_room()) == ["3", "2", "1"]
    fixed = runs("fixed", 9 * HOUR, vcpus=2, preemptible=False)
    too_few = Lane().add(*small[:2], fixed, waits("large", MINUTE, vcpus=3)).admission(vcpus=4)
    assert too_few.make_room() == []


def test_small_parts_stay_when_a_large_one_has_to_leave_anyway() -> None:
    lane = Lane().add(runs("small", 12 * HOUR), runs("large", 9 * HOUR, vcpus=4), waits("urgent", MINUTE, vcpus=4))
    assert names(lane.admission(vcpus=5).make_room()) == ["large"]


def test_as_many_parts_at_risk_as_possible_are_rescued_in_one_call() -> None:
    lane = Lane().add(*(runs(str(n), (9 + n) * HOUR) for n in range(2)))
    lane.add(*(waits(f"urgent-{n}", n * MINUTE) for n in range(3)))
    assert names(lane.admission(tasks=2).make_room()) == ["1", "0"]
    assert [reason for _, reason in lane.stopped] == ["preempted for urgent-0", "preempted for urgent-1"]


def test_a_part_that_is_leaving_counts_as_gone_and_its_stop_is_repeated() -> None:
    leaving = replace(runs("leaving", 15 * HOUR), preempt_reason="execution urgent needs its slot to be in time")
    lane = Lane().add(leaving, runs("lax", 12 * HOUR), waits("urgent", MINUTE))
    assert lane.admission(tasks=2).make_room() == []
    assert [arn for arn, _ in lane.stopped] == ["arn:leaving"]
    assert names(lane.add(waits("also urgent", 2 * MINUTE)).admission(tasks=2).make_room()) == ["lax"]


def test_a_part_that_has_just_ended_is_not_stopped() -> None:
    lane = Lane().add(runs("ended", 9 * HOUR), waits("urgent", MINUTE))
    lane.preempt = lambda *_: False  # type: ignore[method-assign]
    assert lane.admission(tasks=1).make_room() == []
    assert lane.stopped == []


def test_a_preempted_part_is_not_at_risk_at_once() -> None:
    left = with_remaining_work(runs("lax", AT_RISK_HORIZON + PREEMPTION_MARGIN + MINUTE), NOW)
    back = replace(left, status=Status.WAITING, started_at=None)
    assert Lane().add(runs("laxer", 9 * HOUR), back).admission(tasks=1).make_room() == []
