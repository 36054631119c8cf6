"""Settle: apply the consequences of an execution's end, and stop executions of the long lane.

The settler reacts to stream records:

* an execution reached a final status: its AWS resources are cleaned up and its gates released (long lane), its notices
  are sent, its run times are recorded, its job is finished if this was the last execution, its dependants are woken,
  and it is counted in the lane's throughput (long lane);
* an execution of the long lane was asked to stop: its parts are asked to stop or cancelled.

Streams deliver at least once, so each record may come twice, late or after a crash; every step is idempotent, except
that throughput counts a repeated end twice. Notices have derived ids, so the notifier sends a repeated one once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_flow import FlowCounter
from punctual.domain.identity import short_name
from punctual.domain.jobs.notify_rule import DEFAULT_RULE
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import EXECUTION, PARTITION, PARTITIONS, Part, busy_seconds, kind_of
from punctual.domain.long_lane.parts_status import outcome_when_cancelled
from punctual.domain.notices.deadline_notice import deadline_end_notice
from punctual.domain.notices.notice import addressed
from punctual.domain.notices.outcome_notice import outcome_notice
from punctual.domain.status import FINAL, WITHOUT_OUTCOME, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import Containers, LongExecutions, Parts, StateMachineRuns
    from punctual.ports.notices import Notices
    from punctual.stages.plan.finish_job import JobFinisher
    from punctual.stages.run.gates import Gatekeeper
    from punctual.stages.settle.wake_dependants import DependantWaker

MAX_CANCEL_TRIES = 5
"""How often a part is read again if its status changes while it is being cancelled."""


@dataclass(frozen=True)
class Settler:
    jobs: Jobs
    executions: LongExecutions
    parts: Parts
    runs: StateMachineRuns
    containers: Containers
    notices: Notices
    gatekeeper: Gatekeeper
    finisher: JobFinisher
    waker: DependantWaker
    flow: FlowCounter
    clock: Clock

    def execution_ended(self, execution: Execution) -> None:
        """Apply the consequences of an execution's end. Idempotent, also if its job was deleted meanwhile."""
        if execution.status not in FINAL:
            return
        if execution.lane is Lane.LONG and execution.status in WITHOUT_OUTCOME:
            self._clean_up(execution)
        if execution.lane is Lane.LONG:
            self.gatekeeper.release(execution.execution_id, execution.gates)
        self._send_notices(execution)
        if execution.status is Status.SUCCEEDED and (execution.deadline_at or execution.lane is Lane.LONG):
            self._record_run_times(execution)
        if execution.is_last_of_job:
            self.finisher.finish_if_complete(execution.job_id)
        self.waker.execution_ended(execution)
        self.flow.count_long_execution(execution)

    def stop_requested(self, execution: Execution) -> None:
        """Ask the running parts of an execution of the long lane to stop, and cancel its other parts. Idempotent.

        The conductor ends the execution together with its last part that was asked to stop. If there is no such part,
        the execution ends here: its run may wait for an answer that was lost. If all parts have succeeded, its result
        has to be stored, which the conductor does.
        """
        if execution.lane is not Lane.LONG or execution.cancel_at is None:
            return
        reason, until = execution.cancel_reason or "cancelled", execution.cancel_at
        for part in self.parts.of(execution.execution_id):
            self._stop_part(part, until, reason)
        parts = self.parts.of(execution.execution_id)  # again: a part that ended by itself meanwhile keeps its result
        if not parts:
            self.executions.cancel(execution, reason, self.clock())
        elif all(part.status in FINAL for part in parts) and any(part.status is not Status.SUCCEEDED for part in parts):
            self.executions.close(execution, outcome_when_cancelled(parts, reason), self.clock())

    def _stop_part(self, part: Part, until: datetime, reason: str) -> None:
        """Ask a running part to stop, and cancel any other."""
        if part.status is Status.RUNNING and self.parts.ask_to_stop(part, until, reason):
            if part.task_arn:
                self.containers.stop(part.task_arn, reason)
        else:
            self._cancel_part(part)

    def _send_notices(self, execution: Execution) -> None:
        """Send the notices that the job's notify rule asks for. Their ids are derived, so repeats are notified once."""
        failed = execution.status in (Status.FAILED, Status.TIMED_OUT)
        job = self.jobs.get(execution.job_id) if failed or execution.notify or execution.deadline_at else None
        if job is None:
            return
        rule = job.notify or DEFAULT_RULE
        notices = [outcome_notice(execution, job), deadline_end_notice(execution, job)]
        wanted = [one for one in notices if one is not None and rule.includes(one.event)]
        self.notices.send(copy for one in wanted for copy in addressed(one, rule))

    def _clean_up(self, execution: Execution) -> None:
        """Remove what an execution without an outcome has in AWS: schedule, state machine run, slots, containers."""
        self.runs.delete_schedule(short_name(execution.execution_id))
        if execution.run_arn:
            self.runs.stop(execution.run_arn, execution.reason or "cancelled")
        for part in self.parts.of(execution.execution_id):
            self._cancel_part(part)

    def _cancel_part(self, part: Part | None) -> None:
        for _ in range(MAX_CANCEL_TRIES):
            cancelled = part is not None and part.status is Status.CANCELLED
            if part is None or (part.status in FINAL and not cancelled):
                return
            if cancelled or self.parts.cancel(part, "execution cancelled", self.clock()):
                if part.task_arn:  # also if cancelled before: that call may have crashed before this line
                    self.containers.stop(part.task_arn, "its execution was cancelled")
                return
            part = self.parts.get(part.execution_id, part.name)

    def _record_run_times(self, execution: Execution) -> None:
        """Record the run times of the execution and of its parts, except if they include only the rest of the work."""
        parts = self.parts.of(execution.execution_id) if execution.lane is Lane.LONG else []
        is_whole = execution.started_at is not None and not any(part.kept_from for part in parts)
        run_times: dict[str, list[int]] = {EXECUTION: [_seconds(execution)]} if is_whole else {}
        for part in parts:
            if part.kept_from is None:
                run_times.setdefault(kind_of(part.name), []).append(round(busy_seconds(part)))
        if PARTITION in run_times:
            run_times[PARTITIONS] = [len(run_times[PARTITION])]
        if run_times:
            self.jobs.record_run_times(execution.job_id, execution.execution_id, run_times)


def _seconds(execution: Execution) -> int:
    """Return the seconds from start to end; in the short lane those of the last attempt."""
    assert execution.started_at is not None
    assert execution.ended_at is not None
    return round((execution.ended_at - execution.started_at).total_seconds())
