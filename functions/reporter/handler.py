"""Calls of containers → the report stage."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

from punctual.aws.clients import s3
from punctual.aws.s3.checkpoints import S3Checkpoints
from punctual.aws.s3.results import S3Results
from punctual.domain import instant
from punctual.domain.errors import TaskUnavailable
from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.executions.execution_log import read_chunk
from punctual.domain.executions.progress import Progress
from punctual.domain.long_lane.assignment import Assignment, read_assignment
from punctual.domain.long_lane.part import Part
from punctual.domain.schedules.data_window import DataWindow
from punctual.runtime.lambdas import log, wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import ReporterSettings
from punctual.stages.long_lane.end_part import PartEnder
from punctual.stages.long_lane.execution_sync import ExecutionSync
from punctual.stages.long_lane.report import Reporter

settings = ReporterSettings.from_env()
executions = wiring.long_executions(settings)
parts = wiring.parts(settings)
broken_task_modules = wiring.broken_task_modules()
results = S3Results(settings.results_bucket, s3)
callbacks = wiring.callbacks()
reporter = Reporter(
    executions=executions,
    parts=parts,
    sync=ExecutionSync(executions, parts),
    checkpoints=S3Checkpoints(settings.results_bucket, s3),
    results=results,
    callbacks=callbacks,
    containers=wiring.containers(settings),
    ender=PartEnder(parts, results, callbacks, instant.now, random.uniform),
    logs=wiring.execution_logs(settings),
    clock=instant.now,
    heartbeat_seconds=settings.heartbeat_seconds,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    assignment = read_assignment(event.get("assignment", ""))
    with log.about(execution_id=assignment.execution_id, attempt=assignment.attempt, part=assignment.part):
        answer = ACTIONS[event["do"]](assignment, event)
        if not answer["ok"]:
            logger.warning("refused: the attempt was superseded", extra={"action": event["do"]})
        return answer


def _claim(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    work = reporter.claim(assignment, event["token"], event["task_arn"])
    if work is None:
        return {"ok": False}
    execution, part = work.execution, work.part
    return {
        "ok": True,
        "job_id": execution.job_id,
        "execution_id": execution.execution_id,
        "owner": execution.owner,
        "task": execution.task,
        "parameters": execution.parameters,
        "attempt": part.attempt,
        "due": instant.to_text(execution.scheduled_at),
        "window": _window(execution.window),
        "deadline": instant.to_text(execution.deadline_at) if execution.deadline_at else None,
        "seconds": part.timeout_seconds,
        "heartbeat_seconds": settings.heartbeat_seconds,
        "part": part.name,
        "number": part.number,
        "count": part.count,
        "value": part.value,
        "part_window": _window(part.window),
        "resume": work.resume,
        "results": work.results,
        "upstreams": [[one.name, one.execution_id] for one in execution.upstreams],
    }


def _upstreams(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    upstreams = reporter.upstreams(assignment, event["only"])
    return {"ok": upstreams is not None, "items": [_upstream(one) for one in upstreams or ()]}


def _upstream(execution: Execution) -> dict[str, Any]:
    result = execution.result
    return {
        "execution_id": execution.execution_id,
        "status": str(execution.status),
        "window": _window(execution.window),
        "value": result.value if result else None,
        "link": reporter.results.link(result) if result else None,
    }


def _heartbeat(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    progress = event.get("progress")
    return _requests(reporter.heartbeat(assignment, Progress(**progress) if progress else None))


def _checkpoint(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    return _requests(reporter.checkpoint(assignment, event["state"]))


def _log(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    return {"ok": reporter.log(assignment, read_chunk(event["chunk"]))}


def _conclude(assignment: Assignment, event: dict[str, Any]) -> dict[str, Any]:
    fields = event["result"]
    result = AttemptResult(
        outcome=Outcome(fields["outcome"]),
        value=fields.get("value"),
        error=Failure(**fields["error"]) if fields.get("error") else None,
        retry_after_seconds=fields.get("retry_after_seconds"),
    )
    if result.error and result.error.type == TaskUnavailable.__name__:
        broken_task_modules.publish(1)
    return {"ok": reporter.conclude(assignment, result)}


def _requests(part: Part | None) -> dict[str, Any]:
    """The requests to the container. ``preempt_reason``: preempted, stop at the next checkpoint. ``stop_in``:
    cancelled, stop within this many seconds.
    """
    if part is None:
        return {"ok": False, "preempt_reason": None, "stop_in": None}
    return {
        "ok": True,
        "preempt_reason": part.preempt_reason,
        "stop_in": _seconds_until(part.cancel_at) if part.cancel_at else None,
    }


def _seconds_until(end: datetime) -> float:
    return max(0.0, (end - instant.now()).total_seconds())


def _window(window: DataWindow | None) -> dict[str, str] | None:
    return None if window is None else {"start": instant.to_text(window.start), "end": instant.to_text(window.end)}


ACTIONS = {
    "claim": _claim,
    "upstreams": _upstreams,
    "heartbeat": _heartbeat,
    "checkpoint": _checkpoint,
    "log": _log,
    "conclude": _conclude,
}
