"""Conduct: what the state machine of the long lane asks on its way through an execution.

It asks three things. *Next*: which parts to run now, or that it is over. *Ask*: have a part wait for a slot. *Settle*:
an attempt is over, what follows? The records are the truth: each answer comes from them alone, so a question that
comes twice, late, or from a run that was replaced does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid
from punctual.domain.executions.attempt_decision import decide
from punctual.domain.executions.execution import Execution, Failure, Result
from punctual.domain.forecasts.run_history import expected_seconds
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.gate import Entrant, turn_of
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partition
from punctual.domain.long_lane.container_death import IMPOSSIBLE, verdict_on
from punctual.domain.long_lane.laxity import as_it_goes_on, latest_start
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part, kind_of
from punctual.domain.long_lane.parts_status import Ending, ending_of
from punctual.domain.schedules.due_window import zone_of
from punctual.domain.status import FINAL, HOLDING, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import Callbacks, Containers, LongExecutions, Parts
    from punctual.ports.running import Results

SIDE_BY_SIDE = 40
"""Step Functions runs no more parts of one execution at the same time."""
NO_RUSH = timedelta(seconds=15)
NO_SLOT = "it waited for a slot until its state machine gave up"


@dataclass(frozen=True, kw_only=True)
class Step:
    """What to do next: run some parts side by side, or nothing more."""

    parts: tuple[str, ...] = ()
    not_before: datetime
    at_once: int = 1
    again: bool = False
    """To be asked again then, though there is nothing to run yet."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What follows an attempt: another one, at an instant, or nothing."""

    again_at: datetime | None


@dataclass(frozen=True)
class Conductor:
    jobs: Jobs
    executions: LongExecutions
    parts: Parts
    results: Results
    containers: Containers
    callbacks: Callbacks
    gatekeeper: Gatekeeper
    clock: Clock
    uniform: Callable[[float, float], float]

    def next(self, job_id: str, execution_id: str, run_arn: str) -> Step:
        """The parts to run now. None when it is over, or when another state machine run carries this execution."""
        execution = self.executions.conduct(job_id, execution_id, run_arn, self.clock())
        if execution is None:
            return Step(not_before=self.clock())
        try:
            parts = self.parts.of(execution_id)
            if not parts:
                if self.clock() < execution.released_at:  # whoever runs now may be gone by then, and so may this one
                    return Step(not_before=execution.released_at, again=True)
                if not self._let_in(execution):
                    return self._held_back(execution)
            if not _are_all_there(parts):
                parts = self._divide(execution)
        except Invalid as error:  # partitions that this window cannot be cut into
            failure = Failure(type="BadPartitions", message=f"{error.field}: {error.message}")
            self.executions.close(execution, Ending(status=Status.FAILED, reason="fatal", error=failure), self.clock())
            return Step(not_before=self.clock())
        todo = [part for part in parts if part.status not in FINAL]
        if execution.cancel_at is not None:  # nothing more begins; whatever it still has is cleared away
            self._close(execution, parts)
            return Step(not_before=self.clock())
        if not todo and _may_collect(execution, parts):
            todo = [self._collector(execution, parts)]
            self.parts.add(todo[0])
        if not todo:
            self._close(execution, parts)
            return Step(not_before=self.clock())
        return Step(
            parts=tuple(part.name for part in todo),
            not_before=execution.released_at,
            at_once=_at_once(execution, len(todo)),
        )

    def _let_in(self, execution: Execution) -> bool:
        entrant = Entrant(
            execution_id=execution.execution_id,
            turn=turn_of(execution.execution_id, execution.released_at, execution.priority),
            revision=execution.revision,
            tried=execution.attempt,
            rated=execution.rate_at is not None,
        )
        return self.gatekeeper.acquire(entrant, execution.gates)

    def _held_back(self, execution: Execution) -> Step:
        """One that was put off asks again then. For one that waits in line another run comes when it is its turn."""
        standing = self.executions.get(execution.job_id, execution.execution_id)
        if standing is not None and standing.status is Status.QUEUED and standing.rate_at is not None:
            return Step(not_before=standing.rate_at, again=True)
        return Step(not_before=self.clock())

    def ask(self, execution_id: str, name: str, ticket: str) -> None:
        """Have a part wait for a slot: ``ticket`` is what admission answers to."""
        part = self.parts.get(execution_id, name)
        if part is None or not self.parts.ask(part, ticket, self.clock()):
            self.callbacks.fail(ticket, "Punctual.Stale", "this part does not need a slot")

    def settle(self, execution_id: str, name: str, attempt: int | None, error: Mapping[str, str] | None) -> Settled:
        """An attempt is over, or none could be made: whether there is to be another.

        Most containers have said how they ended. For one that has not, the state machine's ``error`` speaks.
        """
        part = self.parts.get(execution_id, name)
        impossible = (error or {}).get("Error") == IMPOSSIBLE
        if part is not None and part.status in HOLDING and (part.attempt == attempt or impossible):
            self._speak_for(part, error or {})
            part = self.parts.get(execution_id, name)
        if part is not None and part.status is Status.WAITING and (error or {}).get("Error") == "States.Timeout":
            self.parts.fail_waiting(part, NO_SLOT, self.clock())
            part = self.parts.get(execution_id, name)
        if part is not None and part.cancel_at is not None:
            self._end_if_stopped(part)
        if part is None or part.status in FINAL:
            return Settled(again_at=None)
        rest = NO_RUSH if attempt is None else timedelta()  # it could not even ask: not at once again
        return Settled(again_at=max(part.retry_at or self.clock(), self.clock() + rest))

    def _end_if_stopped(self, part: Part) -> None:
        """What was asked to stop is over with the last part that ran: nobody waits for another's rest to end."""
        execution, parts = self.executions.get(part.job_id, part.execution_id), self.parts.of(part.execution_id)
        if execution is not None and execution.cancel_at and all(one.status in FINAL for one in parts):
            self._close(execution, parts)

    def _speak_for(self, part: Part, error: Mapping[str, str]) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, "it did not say how it ended")
        decision = decide(part, verdict_on(part, error), now=self.clock(), uniform=self.uniform)
        self.parts.conclude(as_it_goes_on(part, decision), decision, self.clock())

    def _divide(self, execution: Execution) -> list[Part]:
        job = self.jobs.get(execution.job_id)
        batch = execution.batch or Batch()
        if batch.partitions is None:
            parts = [self._part(execution, job, WHOLE)]
        else:
            pieces = batch.partitions.split(execution.window, zone_of(job.schedule) if job else "UTC")
            parts = [self._part(execution, job, piece.name, piece) for piece in pieces]
        for part in parts:
            self.parts.add(part)
        return self.parts.of(execution.execution_id)  # some may have been there before, and be further on

    def _collector(self, execution: Execution, parts: Sequence[Part]) -> Part:
        return self._part(execution, self.jobs.get(execution.job_id), COLLECT, Partition(number=0, count=len(parts)))

    def _part(self, execution: Execution, job: Job | None, name: str, piece: Partition | None = None) -> Part:
        batch = execution.batch or Batch()
        run_times, declared = (job.run_times, job.expected_seconds) if job else ({}, None)
        seconds = expected_seconds(run_times.get(kind_of(name), ()), declared, execution.timeout_seconds)
        needed = seconds * _rounds(batch, name, piece)
        if name not in (WHOLE, COLLECT) and batch.collects and COLLECT in run_times:
            needed += expected_seconds(run_times[COLLECT], None, execution.timeout_seconds)
        return Part(
            execution_id=execution.execution_id,
            name=name,
            job_id=execution.job_id,
            owner=execution.owner,
            status=Status.QUEUED,
            cpu=batch.resources.cpu,
            memory_mb=batch.resources.memory_mb,
            spot=batch.resources.spot,
            latest_start=latest_start(execution.deadline_at, execution.released_at, execution.priority, needed),
            expected_seconds=seconds,
            image=batch.image,
            command=batch.command,
            timeout_seconds=execution.timeout_seconds,
            retry=execution.retry,
            priority=execution.priority,
            preemptible=batch.preemptible,
            number=piece.number if piece else 0,
            count=piece.count if piece else 1,
            value=piece.value if piece else None,
            window=(piece.window if piece else None) or execution.window,
        )

    def _close(self, execution: Execution, parts: list[Part]) -> None:
        complete = all(part.status is Status.SUCCEEDED for part in parts) and not _may_collect(execution, parts)
        ending = ending_of(parts, self._result(execution, parts) if complete else None)
        if execution.cancel_at is not None and not complete:
            ending = replace(ending, status=Status.CANCELLED, reason=execution.cancel_reason)
        self.executions.close(execution, ending, self.clock())

    def _result(self, execution: Execution, parts: list[Part]) -> Result | None:
        """The only part's, the collector's, or the list of all partitions'."""
        for part in parts:
            if part.name in (WHOLE, COLLECT):
                return part.result
        values = [_shown(part.result) for part in parts]
        return self.results.keep(f"{execution.job_id}/{execution.execution_id}/all", values, always=True)


def _may_collect(execution: Execution, parts: Sequence[Part]) -> bool:
    if execution.batch is None or not execution.batch.collects or execution.batch.partitions is None:
        return False
    return all(part.status is Status.SUCCEEDED and part.name != COLLECT for part in parts)


def _are_all_there(parts: Sequence[Part]) -> bool:
    """Whoever divided it may have died half-way."""
    return bool(parts) and sum(part.name != COLLECT for part in parts) == parts[0].count


def _at_once(execution: Execution, parts: int) -> int:
    partitions = execution.batch.partitions if execution.batch else None
    return min(partitions.at_once or parts, parts, SIDE_BY_SIDE) if partitions else 1


def _rounds(batch: Batch, name: str, piece: Partition | None) -> int:
    """How often its like have to run one after the other until all are through."""
    if batch.partitions is None or piece is None or name == COLLECT:
        return 1
    return -(-piece.count // min(batch.partitions.at_once or piece.count, SIDE_BY_SIDE))


def _shown(result: Result | None) -> Any:
    if result is None:
        return None
    return {"location": result.location} if result.location and result.value is None else result.value
