"""Conduct: answer the calls of the state machine run of a long execution.

There are three. ``next_parts``: which parts to run now, or that the execution is over. ``request_slot``: request a slot
for a part. ``conclude_attempt``: an attempt has ended; is there another? Each call decides from the stored records and
writes conditionally, so a call that is repeated or late is harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid
from punctual.domain.executions.attempt_decision import FATAL_REASON
from punctual.domain.executions.execution import Execution, Failure, Result
from punctual.domain.jobs.gate import Entrant, queue_key
from punctual.domain.long_lane.container_death import IMPOSSIBLE, infer_result
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part
from punctual.domain.long_lane.part_decision import decide_part
from punctual.domain.long_lane.parts_status import (
    PartsOutcome,
    are_all_created,
    outcome_of_parts,
    outcome_when_cancelled,
)
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, ConductedParts, Containers, LongExecutions
    from punctual.ports.running import Results
    from punctual.stages.long_lane.create_parts import PartCreator
    from punctual.stages.run.gates import Gatekeeper

SLOT_REQUEST_RETRY_DELAY = timedelta(seconds=15)
SLOT_REQUEST_TIMED_OUT = "no slot was granted before the slot request timed out"


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """What a state machine run does next: run ``parts`` in parallel, call again, or end."""

    parts: tuple[str, ...] = ()
    not_before: datetime
    """When to run ``parts``, or to call again. Ignored if the run ends."""
    max_parallel: int = 1
    call_again: bool = False
    """Call ``next_parts`` again at ``not_before``: there is nothing to run yet."""

    @classmethod
    def end(cls, now: datetime) -> NextStep:
        """The run ends: it has no parts to run, and does not call again."""
        return cls(not_before=now)


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The consequence of an attempt."""

    retry_at: datetime | None
    """When to request the next slot; ``None`` if the part has ended."""


@dataclass(frozen=True)
class Conductor:
    executions: LongExecutions
    parts: ConductedParts
    creator: PartCreator
    results: Results
    containers: Containers
    callbacks: Callbacks
    gatekeeper: Gatekeeper
    clock: Clock
    uniform: Callable[[float, float], float]

    def next_parts(self, job_id: str, execution_id: str, run_arn: str) -> NextStep:
        """Attach the run to the execution and return its next step. Idempotent.

        The run ends if the execution is over, waits at a gate or was skipped there, or has another run attached.
        Creates the parts once its earliest start has come and its gates are acquired, adds the collector once all
        partitions have succeeded, and closes the execution once all parts have ended. ``parts`` are all parts that have
        not ended: after a restart, some of them may be running.
        """
        execution = self.executions.attach_run(job_id, execution_id, run_arn, self.clock())
        if execution is None:
            return NextStep.end(self.clock())
        try:
            parts = self.parts.of(execution_id)
            if not parts:
                # Gates are not acquired before the earliest start: it could wait at a gate that is free by then.
                if self.clock() < execution.earliest_start:
                    return NextStep(not_before=execution.earliest_start, call_again=True)
                if not self._acquire_gates(execution):
                    return self._after_denial(execution)
            if not are_all_created(parts):
                if not self.parts.add_all(self.creator.parts_of(execution), run_arn):
                    return NextStep.end(self.clock())
                parts = self.parts.of(execution_id)  # parts that existed before are unchanged, and may have run
        except Invalid as error:  # the window cannot be split into these partitions
            failure = Failure(type="BadPartitions", message=f"{error.field}: {error.message}")
            failed = PartsOutcome(status=Status.FAILED, reason=FATAL_REASON, error=failure)
            self.executions.close(execution, failed, self.clock())
            return NextStep.end(self.clock())
        todo = [part for part in parts if part.status not in FINAL]
        if execution.cancel_at is not None:  # the execution ends now; the settler then cancels its unfinished parts
            self._close(execution, parts)
            return NextStep.end(self.clock())
        if not todo and _needs_collector(execution, parts):
            todo = [self.creator.collector(execution, parts)]
            if not self.parts.add_all(todo, run_arn):
                return NextStep.end(self.clock())
        if not todo:
            self._close(execution, parts)
            return NextStep.end(self.clock())
        return NextStep(
            parts=tuple(part.name for part in todo),
            not_before=execution.earliest_start,
            max_parallel=_max_parallel(execution, len(todo)),
        )

    def _acquire_gates(self, execution: Execution) -> bool:
        entrant = Entrant(
            execution_id=execution.execution_id,
            turn=queue_key(execution.execution_id, execution.earliest_start, execution.priority),
            attempt=execution.attempt + 1,
            revision=execution.revision,
            reserved_start=execution.rate_at,
            run_arn=execution.run_arn,
        )
        return self.gatekeeper.acquire(entrant, execution.gates)

    def _after_denial(self, execution: Execution) -> NextStep:
        """The next step of an execution that a gate denied. The gatekeeper has recorded why.

        If a rate limit postponed it, the run calls again at the new instant. If it waits at a gate or was skipped, the
        run ends: a new run is started when the execution gets a place.
        """
        current = self.executions.get(execution.job_id, execution.execution_id)
        if current is not None and current.status is Status.QUEUED and current.rate_at is not None:
            return NextStep(not_before=current.rate_at, call_again=True)
        return NextStep.end(self.clock())

    def request_slot(self, execution_id: str, name: str, ticket: str, run_arn: str) -> None:
        """Set a part to wait for a slot. ``ticket`` is the task token that admission answers with the grant.

        The ticket is failed at once if the backoff of the part is not over, if its container has started, or if the
        part has ended. The ticket of a run that is no longer attached to the execution is failed, too.
        """
        part, now = self.parts.get(execution_id, name), self.clock()
        is_early = part is not None and part.retry_at is not None and part.retry_at > now
        if part is None or is_early or not self.parts.request_slot(part, ticket, run_arn, now):
            self.callbacks.fail(
                [ticket], "Punctual.Stale", "the part needs no slot: it is in backoff, runs, or has ended"
            )

    def conclude_attempt(
        self, execution_id: str, name: str, attempt: int | None, error: Mapping[str, str] | None
    ) -> Conclusion:
        """Conclude an attempt for which no result is stored, and return when to request the next slot, if at all.

        Normally the container has reported its result. Without one, the result is inferred from the ``error`` that the
        state machine caught. ``attempt`` is ``None`` if no slot was granted. Idempotent.
        """
        part = self.parts.get(execution_id, name)
        impossible = (error or {}).get("Error") == IMPOSSIBLE
        if part is not None and part.status in SLOT_HOLDING_STATUSES and (part.attempt == attempt or impossible):
            self._conclude_unreported(part, error or {})
            part = self.parts.get(execution_id, name)
        has_timed_out = attempt is None and (error or {}).get("Error") == "States.Timeout"
        if part is not None and part.status is Status.WAITING and has_timed_out:  # the slot request, not an attempt
            self.parts.fail_waiting(part, SLOT_REQUEST_TIMED_OUT, self.clock())
            part = self.parts.get(execution_id, name)
        if part is not None and part.cancel_at is not None:
            self._close_if_stopped(part)
        if part is None or part.status in FINAL:
            return Conclusion(retry_at=None)
        # A failed slot request is not repeated at once: it would fail in a tight loop.
        delay = SLOT_REQUEST_RETRY_DELAY if attempt is None else timedelta()
        return Conclusion(retry_at=max(part.retry_at or self.clock(), self.clock() + delay))

    def _close_if_stopped(self, part: Part) -> None:
        """Close a cancelled execution as soon as all its parts have ended.

        A branch of its run may still wait for the backoff of a part that was cancelled meanwhile.
        """
        execution, parts = self.executions.get(part.job_id, part.execution_id), self.parts.of(part.execution_id)
        if execution is not None and execution.cancel_at and all(one.status in FINAL for one in parts):
            self._close(execution, parts)

    def _conclude_unreported(self, part: Part, error: Mapping[str, str]) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, "it reported no result")
        after, decision = decide_part(part, infer_result(part, error), now=self.clock(), uniform=self.uniform)
        self.parts.conclude(after, decision, self.clock())

    def _close(self, execution: Execution, parts: list[Part]) -> None:
        complete = all(part.status is Status.SUCCEEDED for part in parts) and not _needs_collector(execution, parts)
        if execution.cancel_at is not None and not complete:  # a success in time is kept
            ending = outcome_when_cancelled(parts, execution.cancel_reason)
        else:
            ending = outcome_of_parts(parts, self._result(execution, parts) if complete else None)
        self.executions.close(execution, ending, self.clock())

    def _result(self, execution: Execution, parts: list[Part]) -> Result | None:
        """The result of the only part, of the collector, or the list of the partitions' results."""
        for part in parts:
            if part.name in (WHOLE, COLLECT):
                return part.result
        values = [_value_or_location(part.result) for part in parts]
        return self.results.store(f"{execution.job_id}/{execution.execution_id}/all", values, always=True)


def _needs_collector(execution: Execution, parts: Sequence[Part]) -> bool:
    if execution.batch is None or not execution.batch.collects or execution.batch.partitions is None:
        return False
    return all(part.status is Status.SUCCEEDED and part.name != COLLECT for part in parts)


def _max_parallel(execution: Execution, parts: int) -> int:
    partitions = execution.batch.partitions if execution.batch else None
    return partitions.parallel(parts) if partitions else 1


def _value_or_location(result: Result | None) -> Any:
    if result is None:
        return None
    return {"location": result.location} if result.location and result.value is None else result.value
