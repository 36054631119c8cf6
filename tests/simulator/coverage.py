"""How often a run reached each feature of the engine: a feature that no run reaches is not tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from punctual.domain.executions.execution import Execution, Origin, Outcome
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import COLLECT, Part
from punctual.domain.status import Status

Old = Execution | None


def _ends(old: Old, new: Execution, status: Status, reason: str) -> bool:
    return new.status is status and (old is None or old.status is not status) and reason in (new.reason or "")


def _skipped(reason: str) -> Callable[[Old, Execution], bool]:
    return lambda old, new: _ends(old, new, Status.SKIPPED, reason)


def _ended(status: Status, lane: Lane) -> Callable[[Old, Execution], bool]:
    return lambda old, new: new.lane is lane and _ends(old, new, status, "")


def _of(origin: Origin) -> Callable[[Old, Execution], bool]:
    return lambda old, new: old is None and new.origin is origin


def _waits(old: Old, new: Execution, gate: str) -> bool:
    return (new.waits_at or "").startswith(gate) and (old is None or old.waits_at != new.waits_at)


EXECUTIONS: dict[str, Callable[[Old, Execution], bool]] = {
    **{f"{lane}: {status}": _ended(status, lane) for lane in Lane for status in (Status.SUCCEEDED, Status.FAILED)},
    **{f"{lane}: {status}": _ended(status, lane) for lane in Lane for status in (Status.CANCELLED, Status.MISSED)},
    **{f"origin {origin}": _of(origin) for origin in Origin},
    "skipped: the previous one runs": _skipped("still runs"),
    "skipped: another one waits": _skipped("is already waiting"),
    "skipped: replaced": _skipped("replaced by"),
    "skipped: paused": _skipped("paused"),
    "skipped: job changed": _skipped("job changed"),
    "skipped: upstream": lambda old, new: bool(new.depends_on) and _ends(old, new, Status.SKIPPED, ""),
    "skipped: covered": lambda old, new: _ends(old, new, Status.SKIPPED, "") and bool(new.covered_by),
    "waits for its job": lambda old, new: _waits(old, new, "job#"),
    "waits for its key": lambda old, new: _waits(old, new, "key#"),
    "waits for its backfill": lambda old, new: _waits(old, new, "backfill#"),
    "grant": lambda old, new: old is not None and old.waits_at is not None and new.status is Status.QUEUED,
    "postponed by a rate": lambda old, new: new.rate_at is not None and (old is None or old.rate_at != new.rate_at),
    "retry": lambda old, new: new.status is Status.RETRYING and (old is None or old.status is not Status.RETRYING),
    "takeover": lambda old, new: (
        new.lane is Lane.SHORT
        and old is not None
        and (old.status, new.status) == (Status.RUNNING, Status.RUNNING)
        and new.attempt > old.attempt
    ),
    "asked to stop": lambda old, new: new.cancel_at is not None and (old is None or old.cancel_at is None),
    "replaced by an edit": lambda old, new: old is not None and new.revision > old.revision,
    "held for an upstream": lambda old, new: (
        new.status is Status.WAITING and new.has_pending_upstreams and (old is None or old.status is not Status.WAITING)
    ),
    "state machine run restarted": lambda old, new: old is not None and new.restarts > old.restarts,
}
PARTS: dict[str, Callable[[Part | None, Part], bool]] = {
    "collector": lambda old, new: old is None and new.name == COLLECT,
    "partition": lambda old, new: old is None and new.count > 1,
    "two requests for one slot": lambda old, new: len(new.tickets) > 1 and (old is None or len(old.tickets) < 2),
    "two containers for one attempt": lambda old, new: len(new.tokens) > 1 and (old is None or len(old.tokens) < 2),
    "checkpoint resumed": lambda old, new: (
        new.status is Status.RUNNING and new.checkpoint is not None and old is not None and old.status != new.status
    ),
    "preemption requested": lambda old, new: bool(new.preempt_reason) and old is not None and not old.preempt_reason,
    "no slot in time": lambda old, new: (
        new.status is Status.FAILED and old is not None and old.status is Status.WAITING
    ),
}
OTHERS = (
    *("holder evicted", "gate contention", "TTL removed a timer", "answered 2xx", "answered 4xx"),
    *("bulk step", "bulk step lost", "overtakes at a gate", "deployed with other settings"),
)
NEVER = {Lane.SHORT: (Outcome.PREEMPTED, Outcome.INTERRUPTED, Outcome.NOT_STARTED), Lane.LONG: ()}
"""The outcomes that no attempt of a lane has: no worker of the short lane is asked to release a slot."""


@dataclass
class Coverage:
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        outcomes = [f"{lane} attempt {outcome}" for lane in Lane for outcome in Outcome if outcome not in NEVER[lane]]
        self.counts.update(dict.fromkeys([*EXECUTIONS, *PARTS, *OTHERS, *outcomes], 0))

    def execution_changed(self, old: Old, new: Execution) -> None:
        self.counts.update(name for name, is_reached in EXECUTIONS.items() if is_reached(old, new))
        if new.lane is Lane.SHORT:
            self._attempts(old, new)

    def part_changed(self, old: Part | None, new: Part) -> None:
        self.counts.update(name for name, is_reached in PARTS.items() if is_reached(old, new))
        self._attempts(old, new)

    def _attempts(self, old: Execution | Part | None, new: Execution | Part) -> None:
        known = len(old.attempts) if old is not None else 0
        lane = Lane.LONG if isinstance(new, Part) else Lane.SHORT
        self.counts.update(f"{lane} attempt {attempt.outcome}" for attempt in new.attempts[known:])


def describe_coverage(counts: Counter[str]) -> str:
    reached = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()) if count)
    return f"reached: {reached}\nnever reached: {', '.join(sorted(name for name in counts if not counts[name])) or '-'}"
