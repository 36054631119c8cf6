"""Settle: what follows from an execution that has ended, or that is to end in the long lane."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import short_name
from punctual.domain.jobs.notify_rule import DEFAULT
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import EXECUTION, Part, kind_of
from punctual.domain.notices.deadline_notice import ending_notice
from punctual.domain.notices.notice import outcome_notice
from punctual.domain.status import FINAL, WITHOUT_A_RUN, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import CancelExecutions
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.jobs import Finish, Jobs
    from punctual.ports.long_lane import Containers, Parts, Runs
    from punctual.ports.notices import Notices

TRIES = 5
"""A part may move while it is being cancelled: then it is looked at again."""


@dataclass(frozen=True)
class Settler:
    jobs: Jobs
    executions: CancelExecutions
    parts: Parts
    runs: Runs
    containers: Containers
    notices: Notices
    gatekeeper: Gatekeeper
    finish: Finish
    clock: Clock

    def execution_ended(self, execution: Execution) -> None:
        """Coming again, or for a job deleted meanwhile, changes nothing."""
        if execution.status not in FINAL:
            return
        if execution.lane is Lane.LONG and execution.status in WITHOUT_A_RUN:
            self._clear_away(execution)
        if execution.lane is Lane.LONG:
            self.gatekeeper.leave(execution.execution_id, execution.gates)
        self._tell(execution)
        if execution.status is Status.SUCCEEDED and (execution.deadline_at or execution.lane is Lane.LONG):
            self._remember_run_times(execution)
        if execution.once:
            self.finish.if_over(execution.job_id)

    def asked_to_stop(self, execution: Execution) -> None:
        """A long one is to stop: those of its parts that run have a while, the others go. Again is fine.

        Its conductor ends it with the last part that was asked, or that has ended by itself. If there is none, nobody
        would hear of it any more: then it is ended here.
        """
        if execution.lane is not Lane.LONG or execution.cancel_at is None:
            return
        reason, until = execution.cancel_reason or "cancelled", execution.cancel_at
        parts = self.parts.of(execution.execution_id)
        asked = [self._stop(part, until, reason) for part in parts]
        by_itself = bool(parts) and all(part.status in FINAL - {Status.CANCELLED} for part in parts)
        if not (any(asked) or by_itself):
            self.executions.cancel(execution, reason, self.clock())

    def _stop(self, part: Part, until: datetime, reason: str) -> bool:
        """Whether it is, or was, asked. If not, it does not run, and is withdrawn."""
        if part.status is Status.RUNNING and self.parts.ask_to_stop(part, until, reason):
            if part.task_arn:
                self.containers.stop(part.task_arn, reason)
            return True
        self._cancel(part)
        return part.cancel_at is not None

    def _tell(self, execution: Execution) -> None:
        """Each notice has a name of its own, so what comes again is told once."""
        if execution.status in WITHOUT_A_RUN or not (execution.notify or execution.deadline_at):
            return
        job = self.jobs.get(execution.job_id)
        if job is None:
            return
        rule = job.notify or DEFAULT
        notices = [outcome_notice(execution, job.name, rule), ending_notice(execution, job)]
        self.notices.send(notice for notice in notices if notice is not None and rule.wants(notice.event))

    def _clear_away(self, execution: Execution) -> None:
        """What a cancelled execution has in AWS: a schedule, a state machine run, slots, containers."""
        self.runs.disarm(short_name(execution.execution_id))
        if execution.run_arn:
            self.runs.stop(execution.run_arn, execution.reason or "cancelled")
        for part in self.parts.of(execution.execution_id):
            self._cancel(part)

    def _cancel(self, part: Part | None) -> None:
        for _ in range(TRIES):
            cancelled = part is not None and part.status is Status.CANCELLED
            if part is None or (part.status in FINAL and not cancelled):
                return
            if cancelled or self.parts.cancel(part, "execution cancelled", self.clock()):
                if part.task_arn:  # also for one cancelled before: whoever did may have died here
                    self.containers.stop(part.task_arn, "its execution was cancelled")
                return
            part = self.parts.get(part.execution_id, part.name)

    def _remember_run_times(self, execution: Execution) -> None:
        run_times: dict[str, list[int]] = {EXECUTION: [_seconds(execution)]} if execution.started_at else {}
        parts = self.parts.of(execution.execution_id) if execution.lane is Lane.LONG else []
        for part in parts:
            run_times.setdefault(kind_of(part.name), []).append(_busy_seconds(part))
        self.jobs.note_run(execution.job_id, execution.execution_id, run_times)


def _seconds(execution: Execution) -> int:
    """From its start to its end: of a short one that was tried again, the last attempt."""
    assert execution.started_at is not None
    assert execution.ended_at is not None
    return round((execution.ended_at - execution.started_at).total_seconds())


def _busy_seconds(part: Part) -> int:
    """How long its containers worked on it, all attempts together: one that was preempted went on where it was."""
    spans = (one.ended_at - one.started_at for one in part.attempts if one.started_at)
    return round(sum(spans, timedelta()).total_seconds())
