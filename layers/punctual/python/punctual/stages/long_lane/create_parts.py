"""Create parts: the parts of a long execution, with the work that they keep from the execution that it retries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.run_history import expected_seconds
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.partitions import Partition
from punctual.domain.long_lane.kept_work import keep_work
from punctual.domain.long_lane.laxity import latest_start
from punctual.domain.long_lane.part import COLLECT, WHOLE, Part, kind_of
from punctual.domain.long_lane.parts_status import are_all_created
from punctual.domain.schedules.due_window import zone_of
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import LongExecutions, Parts


@dataclass(frozen=True)
class PartCreator:
    """Creates parts without storing them."""

    jobs: Jobs
    executions: LongExecutions
    parts: Parts
    clock: Clock

    def parts_of(self, execution: Execution) -> list[Part]:
        """The parts of an execution, with the work that it keeps from the execution that it retries.

        Raises ``Invalid`` if its data window cannot be split into these partitions.
        """
        job, kept, now = self.jobs.get(execution.job_id), self._kept_parts(execution), self.clock()
        batch = execution.batch or Batch()
        if batch.partitions is None:
            return [keep_work(self._part(execution, job, WHOLE), kept.get(WHOLE), now)]
        pieces = batch.partitions.split(execution.window, zone_of(job.schedule) if job else "UTC")
        parts = [self._part(execution, job, piece.name, piece) for piece in pieces]
        return [keep_work(part, kept.get(part.name), now) for part in parts]

    def collector(self, execution: Execution, parts: Sequence[Part]) -> Part:
        """The part that runs after all other parts have succeeded."""
        job = self.jobs.get(execution.job_id)
        collector = self._part(execution, job, COLLECT, Partition(number=0, count=len(parts)))
        if not all(part.has_kept_result for part in parts):  # its checkpoint belongs to other results
            return collector
        return keep_work(collector, self._kept_parts(execution).get(COLLECT), self.clock())

    def _kept_parts(self, execution: Execution) -> dict[str, Part]:
        """The parts of the execution that this one continues, by name.

        That one may have ended before its own parts were created: the missing ones are those of the execution that it
        continues itself. An edit of the task leaves nothing to keep.
        """
        kept: dict[str, Part] = {}
        earlier: Execution | None = execution
        while earlier is not None and earlier.continues is not None:
            earlier = self.executions.get(execution.job_id, earlier.continues)
            if earlier is None or earlier.task != execution.task:
                break
            parts = self.parts.of(earlier.execution_id)
            kept = {part.name: part for part in parts} | kept
            if are_all_created(parts):
                break
        return kept

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
            latest_start=latest_start(execution.deadline_at, execution.earliest_start, execution.priority, needed),
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


def _rounds(batch: Batch, name: str, piece: Partition | None) -> int:
    """How many rounds the partitions need when ``at_once`` of them run in parallel."""
    if batch.partitions is None or piece is None or name == COLLECT:
        return 1
    return -(-piece.count // batch.partitions.parallel(piece.count))
