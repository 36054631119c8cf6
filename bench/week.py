"""Simulates a week of 10,000 long jobs, admitted by the real stage in virtual time: how large must the lane be?

A job's run times are log-normal around its own typical one, and the typical ones are log-normal around eight hours.
Admission knows twelve earlier runs of each job, but not the next one. Every job takes one vCPU. Two weeks:

- *Tuesday*: all are due at the end of Tuesday. Half are released at Sunday 00:00, half in the six hours after it.
- *mixed*: half are released at a midnight from Sunday to Thursday, half at any time until Thursday's end. Each is due
  at a midnight from Monday's end to Friday's, at least a day and one and a half typical run times after its release.

A job whose run time exceeds the time until its deadline would miss it in a lane of any size. Such jobs are counted and
excluded. The smallest limit suffices while one vCPU less does not; a few larger limits may not suffice either.
"""

from __future__ import annotations

import gc
import heapq
import math
import random
import time
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bench.picture import MARGIN, PICTURES
from bench.report import Report
from punctual.domain.forecasts.run_history import expected_seconds
from punctual.domain.instant import in_milliseconds, to_text
from punctual.domain.lane import Priority
from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, SlotResult, admission_key, latest_start
from punctual.domain.long_lane.part import WHOLE, Part
from punctual.domain.status import Status
from punctual.stages.long_lane.admit import Admission

JOBS = 10_000
MEDIAN_SECONDS = 8 * 3600
ACROSS, WITHIN = 0.5, 0.25
"""Standard deviations of the logarithm: of typical run times across jobs, and of the runs within one job."""
EARLIER_RUNS = 12
SEED = 2026
SUNDAY = datetime(2026, 11, 15, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
VCPU = 1024
STARTS_PER_SECOND = 15
TEN = 10
UNEQUAL, UNEQUAL_VCPUS = (0.1, 0.4), 1410
FREE = 100
WAITING = (1_000, 10_000)


class Policy(StrEnum):
    """The order of admission."""

    LEAST_LAXITY = "least laxity"
    EARLIEST_DEADLINE = "earliest deadline first"
    FIRST_COME = "first come, first served"
    LATE_ONES_LAST = "least laxity, but jobs already too late last"


COMPARED = (Policy.LEAST_LAXITY, Policy.EARLIEST_DEADLINE, Policy.FIRST_COME)


@dataclass(frozen=True)
class SimulatedRun:
    """One execution of the simulation. Admission sees only its part."""

    part: Part
    released: datetime
    deadline: datetime
    takes: timedelta

    @property
    def possible(self) -> bool:
        return self.released + self.takes <= self.deadline

    def sort_key(self, policy: Policy) -> str:
        if policy is Policy.FIRST_COME:
            return f"{to_text(self.released)}#{self.part.execution_id}"
        if policy is Policy.EARLIEST_DEADLINE:
            return f"{to_text(self.deadline)}#{to_text(self.released)}#{self.part.execution_id}"
        return admission_key(self.part, self.released)


@dataclass(frozen=True)
class Missed:
    """The lateness of each run that missed its deadline."""

    late: list[timedelta]

    @property
    def count(self) -> int:
        return len(self.late)

    def __str__(self) -> str:
        if not self.late:
            return "none"
        mean = sum(self.late, timedelta()) / len(self.late)
        return f"{self.count:,}, by {mean / HOUR:.1f} h on average, {max(self.late) / HOUR:.1f} h at most"


Draw = Callable[[random.Random, timedelta], tuple[datetime, datetime]]
Forecast = Callable[[list[int]], int]


def tuesday(draw: random.Random, _typical: timedelta) -> tuple[datetime, datetime]:
    late = 0.0 if draw.random() < 0.5 else 6 * draw.random()
    return in_milliseconds(SUNDAY + late * HOUR), SUNDAY + 3 * DAY


def mixed(draw: random.Random, typical: timedelta) -> tuple[datetime, datetime]:
    while True:
        days = draw.randrange(5) if draw.random() < 0.5 else 5 * draw.random()
        released = SUNDAY + days * DAY
        midnights = [SUNDAY + end * DAY for end in range(2, 7)]
        fair = [midnight for midnight in midnights if midnight - released >= max(DAY, 1.5 * typical)]
        if fair:
            return in_milliseconds(released), draw.choice(fair)


def by_history(runs: list[int]) -> int:
    return expected_seconds(runs, None, 0)


def a_week(kind: Draw, *, within: tuple[float, ...] = (WITHIN,), forecast: Forecast = by_history) -> list[SimulatedRun]:
    """The runs of a week. Deterministic: the seed is fixed."""
    draw = random.Random(SEED)
    return [_run(number, draw, kind, draw.choice(within), forecast) for number in range(JOBS)]


def _run(number: int, draw: random.Random, kind: Draw, within: float, forecast: Forecast) -> SimulatedRun:
    typical = MEDIAN_SECONDS * math.exp(draw.gauss(0, ACROSS))
    *earlier, takes = (round(typical * math.exp(draw.gauss(0, within))) for _ in range(EARLIER_RUNS + 1))
    released, deadline = kind(draw, timedelta(seconds=typical))
    expected = forecast(earlier)
    part = Part(
        execution_id=f"{number:05}",
        name=WHOLE,
        job_id=f"{number:05}",
        owner="bench",
        status=Status.WAITING,
        cpu=VCPU,
        memory_mb=2048,
        latest_start=latest_start(deadline, released, Priority.NORMAL, expected),
        expected_seconds=expected,
    )
    return SimulatedRun(part, released, deadline, timedelta(seconds=takes))


Asking = tuple[int, SimulatedRun]
"""The position in admission order, and the run."""


@dataclass
class SimulatedLane:
    """Admission's port to the slots, in memory, with a virtual clock."""

    late_ones_last: bool = False
    now: datetime = SUNDAY
    taken: Occupancy = field(default_factory=Occupancy)
    asking: list[Asking] = field(default_factory=list)
    served: int = 0
    """The number of runs at the head of `asking` that have got a slot."""
    ends: list[tuple[datetime, Asking]] = field(default_factory=list)
    read: int = 0

    def ask(self, one: Asking) -> None:
        insort(self.asking, one, lo=self.served)

    def end_next(self) -> SimulatedRun:
        self.now, (_, run) = heapq.heappop(self.ends)
        self.taken = self.taken.minus(VCPU)
        return run

    def occupancy(self) -> Occupancy:
        return self.taken

    def waiting(self) -> Iterator[Part]:
        while self.served < len(self.asking):
            self.read += 1
            yield self.asking[self._first()][1].part

    def allocate(self, _part: Part, *, start_at: datetime, after: Occupancy, **_: object) -> SlotResult:
        one = self.asking[first := self._first()]
        if first == self.served:
            self.served += 1
        else:
            self.asking.pop(first)
        heapq.heappush(self.ends, (start_at + one[1].takes, one))
        self.taken = after
        return SlotResult.GRANTED

    def _first(self) -> int:
        if not self.late_ones_last:
            return self.served
        first = bisect_left(self.asking, self.now, lo=self.served, key=lambda one: one[1].part.latest_start)
        return first if first < len(self.asking) else self.served


def admission(lane: SimulatedLane, vcpus: int) -> Admission:
    limits = LaneLimits(tasks=vcpus, cpu=vcpus * VCPU, starts_per_second=STARTS_PER_SECOND)
    # the simulated lane has the methods that admission without preemption calls, and no containers
    return Admission(lane, None, limits, lambda: lane.now, lambda: "")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Simulation:
    """A week under one policy, which can be run with any lane size."""

    arrivals: list[Asking]
    late_ones_last: bool
    known: dict[tuple[int, int], Missed] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, runs: list[SimulatedRun], policy: Policy) -> Simulation:
        in_turn = sorted((run for run in runs if run.possible), key=lambda run: run.sort_key(policy))
        arrivals = sorted(enumerate(in_turn), key=lambda one: (one[1].released, one[0]))
        return cls(arrivals, policy is Policy.LATE_ONES_LAST)

    def missed(self, vcpus: int, most: int = JOBS) -> Missed:
        """The runs that miss their deadline in a lane of this size. Stops when there are more than ``most``."""
        if (vcpus, most) not in self.known:
            self.known[vcpus, most] = Missed(self._late(vcpus, most))
        return self.known[vcpus, most]

    def _late(self, vcpus: int, most: int) -> list[timedelta]:
        lane = SimulatedLane(self.late_ones_last)
        admit = admission(lane, vcpus).admit
        late: list[timedelta] = []
        arrivals = iter(self.arrivals)
        coming = next(arrivals, None)
        while (coming or lane.ends) and len(late) <= most:
            if coming and not (lane.ends and lane.ends[0][0] < coming[1].released):
                lane.now = coming[1].released
                while coming and coming[1].released == lane.now:
                    lane.ask(coming)
                    coming = next(arrivals, None)
            else:
                run = lane.end_next()
                if lane.now > run.deadline:
                    late.append(lane.now - run.deadline)
            admit()
        return late

    def smallest(self, most: int = 0) -> int:
        """The number of vCPUs with which at most ``most`` runs miss their deadline."""
        low, high = 0, 256
        while high < JOBS and self.missed(high, most).count > most:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.missed(middle, most).count > most else (low, middle)
        return high


@dataclass(frozen=True)
class Week:
    """A week of runs, and the analysis of its policies."""

    name: str
    days: int
    runs: list[SimulatedRun]

    def describe(self, report: Report) -> dict[Policy, dict[int, int]]:
        """Add rows to the report, and return the number of missed deadlines by policy and vCPUs."""
        simulations = {policy: Simulation.of(self.runs, policy) for policy in Policy}
        if simulations[Policy.EARLIEST_DEADLINE] == simulations[Policy.FIRST_COME]:  # all have the same deadline
            simulations[Policy.EARLIEST_DEADLINE] = simulations[Policy.FIRST_COME]
        smallest = {policy: simulations[policy].smallest() for policy in COMPARED}
        enough = smallest[Policy.LEAST_LAXITY]
        work = sum((run.takes for run in self.runs), timedelta()) / (self.days * DAY)
        report.show(f"{self.name}: deadlines missed in any lane", f"{sum(not run.possible for run in self.runs)}")
        report.show(f"{self.name}: work spread evenly", f"{work:,.0f} vCPUs")
        for policy, vcpus in smallest.items():
            nearly = simulations[policy].smallest(TEN)
            report.show(f"{self.name}: enough for all ({policy})", f"{vcpus:,} vCPUs; for all but {TEN}: {nearly:,}")
        for vcpus in (enough, enough * 9 // 10):
            for policy, simulation in simulations.items():
                share = f"{vcpus:,} vCPUs, {vcpus / enough:.0%} ({policy})"
                report.show(f"{self.name}: late with {share}", str(simulation.missed(vcpus)))
        for policy in (Policy.EARLIEST_DEADLINE, Policy.FIRST_COME):
            report.limit(f"{self.name}: least laxity against {policy}", enough / smallest[policy], 1, "×")
        sizes = _sizes(enough, smallest[Policy.FIRST_COME])
        return {policy: {size: simulations[policy].missed(size).count for size in sizes} for policy in COMPARED}


def _sizes(enough: int, most: int) -> list[int]:
    """Lane sizes to plot: dense where least laxity suffices, sparse up to where the other policies do."""
    near = [enough * percent // 100 for percent in (85, 90, 94, 97, 100, 105)]
    return near + [round(enough * 1.05 + (most * 1.02 - enough * 1.05) * step / 7) for step in range(1, 8)]


def measure() -> Report:
    started = time.process_time()
    report = Report(f"A week of {JOBS:,} long jobs, simulated")
    weeks = (Week("Tuesday", 3, a_week(tuesday)), Week("mixed", 6, a_week(mixed)))
    gc.freeze()  # otherwise half the time goes into garbage collection of the weeks
    draw("week", {week.name: week.describe(report) for week in weeks})
    _forecasts(report)
    _decisions(report)
    gc.unfreeze()
    report.limit("total processor time", time.process_time() - started, 60, " s")
    return report


def _forecasts(report: Report) -> None:
    """Jobs of unequal variance in a lane of one size: the misses depend on the forecast from their history."""
    taken: dict[str, Forecast] = {
        "the median": lambda runs: sorted(runs)[len(runs) // 2],
        "as Punctual does": by_history,
        "the longest": max,
    }
    for name, forecast in taken.items():
        runs = a_week(tuesday, within=UNEQUAL, forecast=forecast)
        late = Simulation.of(runs, Policy.LEAST_LAXITY).missed(UNEQUAL_VCPUS)
        report.show(f"Tuesday, jobs vary by {' or '.join(map(str, UNEQUAL))}, forecast {name}", str(late))


def _decisions(report: Report) -> None:
    """The cost of filling a hundred slots does not depend on the number of waiting parts."""
    runs = a_week(tuesday)
    for waiting in WAITING:
        seconds = []
        for _ in range(5):
            lane = SimulatedLane(asking=sorted(Simulation.of(runs[:waiting], Policy.LEAST_LAXITY).arrivals))
            admit, started = admission(lane, FREE).admit, time.process_time()
            admit()
            seconds.append(time.process_time() - started)
        report.limit(f"{waiting:,} wait for {FREE} slots: parts read", lane.read, FREE)
        report.show(f"{waiting:,} wait for {FREE} slots: time for each slot", f"{min(seconds) / FREE * 1e6:.0f} µs")


WIDTH, HEIGHT, TOP = 420, 320, 70
COLOURS = {Policy.LEAST_LAXITY: "#3b6fb6", Policy.FIRST_COME: "#b33", Policy.EARLIEST_DEADLINE: "#d9822b"}
TALLEST = 10_000


def draw(name: str, weeks: dict[str, dict[Policy, dict[int, int]]]) -> None:
    """Draw a panel per week: missed deadlines by lane size, with a line per policy."""
    PICTURES.mkdir(exist_ok=True)
    wide = WIDTH * len(weeks)
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{wide}" height="{HEIGHT}" fill="white"/>',
    ]
    for place, (policy, colour) in enumerate(COLOURS.items()):
        x = MARGIN + 200 * place
        body.append(f'<line x1="{x}" y1="18" x2="{x + 22}" y2="18" {_stroke(policy)}/>')
        body.append(f'<text x="{x + 28}" y="22" font-size="13" fill="{colour}">{policy}</text>')
    for place, (week, lines) in enumerate(weeks.items()):
        body += [f'<g transform="translate({place * WIDTH} 0)">', *_panel(week, lines), "</g>"]
    (PICTURES / f"{name}.svg").write_text("\n".join([*body, "</svg>", ""]))


def _panel(week: str, lines: dict[Policy, dict[int, int]]) -> list[str]:
    sizes = sorted({size for line in lines.values() for size in line})

    def across(size: int) -> float:
        return MARGIN + (size - sizes[0]) / (sizes[-1] - sizes[0]) * (WIDTH - 2 * MARGIN)

    body = [f'<text x="{MARGIN}" y="{TOP - 18}" font-size="13">{week}: deadlines missed, by vCPUs</text>']
    for misses in (0, 1, 10, 100, 1000, 10_000):
        y = _height(misses)
        body.append(f'<line x1="{MARGIN}" y1="{y:.1f}" x2="{WIDTH - MARGIN}" y2="{y:.1f}" stroke="#ddd"/>')
        body.append(f'<text x="{MARGIN - 5}" y="{y + 4:.1f}" font-size="11" text-anchor="end">{misses:,}</text>')
    step = 250 if sizes[-1] - sizes[0] < 1500 else 500
    for size in range(-(-sizes[0] // step) * step, sizes[-1] + 1, step):
        x = across(size)
        body.append(f'<text x="{x:.1f}" y="{HEIGHT - 22}" font-size="11" text-anchor="middle">{size:,}</text>')
    for policy in COLOURS:
        points = " ".join(f"{across(size):.1f},{_height(misses):.1f}" for size, misses in lines[policy].items())
        body.append(f'<polyline points="{points}" fill="none" {_stroke(policy)}/>')
    return body


def _height(misses: int) -> float:
    """A logarithmic scale that includes zero."""
    return HEIGHT - 42 - math.log10(1 + misses) / math.log10(1 + TALLEST) * (HEIGHT - 42 - TOP)


def _stroke(policy: Policy) -> str:
    dashes = ' stroke-dasharray="6 5"' if policy is Policy.EARLIEST_DEADLINE else ""
    return f'stroke="{COLOURS[policy]}" stroke-width="2.5"{dashes}'
