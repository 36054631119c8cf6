"""Mapping between executions and items of the executions table. Default values are left out to keep items small."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from punctual.aws.dynamodb.items import Item, from_json, instant_of, instant_text, to_json
from punctual.domain.errors import PunctualError, Unreadable
from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, PartSample, ProgressSample
from punctual.domain.executions.execution import Attempt, Execution, Failure, GateWait, Origin, Outcome, Result
from punctual.domain.executions.progress import Progress
from punctual.domain.instant import from_text
from punctual.domain.jobs.dependency import Condition, Dependency
from punctual.domain.jobs.gate import Gate, of_entry
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.domain.executions.counted_upstream import CountedUpstream
    from punctual.domain.jobs.batch import Batch

T = TypeVar("T")


def execution_to_item(execution: Execution) -> Item:
    """Build the item of a new execution. The attributes of a started execution are written by the claim and by the
    decision about its attempt."""
    return {
        "job_id": execution.job_id,
        "execution_id": execution.execution_id,
        "owner": execution.owner,
        "task": execution.task,
        "parameters": to_json(execution.parameters) if execution.parameters else None,
        "job_name": execution.job_name,
        "tags": to_json(execution.tags) if execution.tags else None,
        "timezone": execution.timezone if execution.timezone != "UTC" else None,
        "lane": str(execution.lane),
        "priority": str(execution.priority),
        "timeout_seconds": execution.timeout_seconds,
        "retry": to_json(asdict(execution.retry)),
        "revision": execution.revision,
        "origin": str(execution.origin) if execution.origin is not Origin.SCHEDULE else None,
        "is_last_of_job": execution.is_last_of_job or None,
        "is_leader": execution.is_leader or None,
        "delay_ms": round(execution.delay_seconds * 1000) or None,
        "gates": gates_text(execution.gates),
        "covered_by": execution.covered_by,
        "retry_of": execution.retry_of,
        "from_start": execution.from_start or None,
        "request_id": execution.request_id,
        "reason": execution.reason,
        "ended_at": instant_text(execution.ended_at),
        "depends_on": dependencies_text(execution.depends_on),
        "is_cleared": execution.is_cleared or None,
        "upstreams": upstreams_text(execution.upstreams),
        "is_upstream": execution.is_upstream or None,
        "window": window_text(execution.window),
        "batch": batch_text(execution.batch),
        "run_arn": execution.run_arn,
        "deadline_at": instant_text(execution.deadline_at),
        "outlook": outlook_text(execution.outlook) if execution.outlook else None,
        "check_at": instant_text(execution.check_at),
        "notify": execution.notify or None,
        "needs_follow_up": execution.needs_follow_up or None,
        "scheduled_at": instant_text(execution.scheduled_at),
        "queued_at": instant_text(execution.queued_at),
        "woken_at": instant_text(execution.woken_at),
        "sent_again_at": instant_text(execution.sent_again_at),
        "status": str(execution.status),
        "attempt": execution.attempt,
    }


def item_to_execution(item: Item) -> Execution:
    """Raises ``Unreadable`` if the item is not an execution."""
    try:
        return Execution(
            job_id=item["job_id"],
            execution_id=item["execution_id"],
            owner=item["owner"],
            task=item["task"],
            parameters=from_json(item.get("parameters"), {}),
            job_name=item.get("job_name"),
            tags=from_json(item.get("tags"), {}),
            timezone=item.get("timezone", "UTC"),
            lane=Lane(item["lane"]),
            priority=Priority(item["priority"]),
            timeout_seconds=item["timeout_seconds"],
            retry=RetryPolicy(**from_json(item["retry"])),
            revision=item["revision"],
            origin=Origin(item.get("origin", Origin.SCHEDULE)),
            is_last_of_job=item.get("is_last_of_job", False),
            is_leader=item.get("is_leader", False),
            delay_seconds=item.get("delay_ms", 0) / 1000,
            gates=tuple(of_entry(entry) for entry in from_json(item.get("gates"), [])),
            waits_at=item.get("waits_at"),
            turn=item.get("turn"),
            rate_at=instant_of(item.get("rate_at")),
            cancel_at=instant_of(item.get("cancel_at")),
            cancel_reason=item.get("cancel_reason"),
            stop_requested_at=instant_of(item.get("stop_requested_at")),
            covered_by=item.get("covered_by"),
            retry_of=item.get("retry_of"),
            from_start=item.get("from_start", False),
            request_id=item.get("request_id"),
            depends_on=dependencies_of_text(item.get("depends_on")),
            is_cleared=item.get("is_cleared", False),
            upstreams=_upstreams_of_text(item.get("upstreams")),
            is_upstream=item.get("is_upstream", False),
            window=window_of_text(item.get("window")),
            batch=_batch_of_text(item.get("batch")),
            run_arn=item.get("run_arn"),
            restarts=item.get("restarts", 0),
            restarted_at=instant_of(item.get("restarted_at")),
            deadline_at=instant_of(item.get("deadline_at")),
            outlook=outlook_of_text(item.get("outlook")),
            check_at=instant_of(item.get("check_at")),
            notify=item.get("notify", False),
            scheduled_at=from_text(item["scheduled_at"]),
            status=Status(item["status"]),
            reason=item.get("reason", item.get("cancel_reason")),
            attempt=item["attempt"],
            queued_at=instant_of(item.get("queued_at")),
            deferred_at=instant_of(item.get("deferred_at")),
            woken_at=instant_of(item.get("woken_at")),
            sent_again_at=instant_of(item.get("sent_again_at")),
            gate_waits=_gate_waits_of_text(item.get("gate_waits")),
            started_at=instant_of(item.get("started_at")),
            ended_at=instant_of(item.get("ended_at")),
            retry_at=instant_of(item.get("retry_at")),
            lease_until=instant_of(item.get("lease_until")),
            worker_id=item.get("worker_id"),
            progress=of_text(Progress, item.get("progress")),
            progress_at=instant_of(item.get("progress_at")),
            result=of_text(Result, item.get("result")),
            error=of_text(Failure, item.get("error")),
            attempts=attempts_of_text(item.get("attempts")),
        )
    except (KeyError, ValueError, TypeError, PunctualError) as error:
        raise Unreadable(f"not an execution: {type(error).__name__}: {error}") from error


def attempts_text(attempts: tuple[Attempt, ...]) -> str:
    return to_json([_attempt_entry(attempt) for attempt in attempts])


def attempts_of_text(text: str | None) -> tuple[Attempt, ...]:
    return tuple(_attempt(entry) for entry in from_json(text, []))


def gate_waits_text(waits: tuple[GateWait, ...]) -> str:
    return to_json([[instant_text(one.until), one.reason] for one in waits])


def _gate_waits_of_text(text: str | None) -> tuple[GateWait, ...]:
    return tuple(GateWait(from_text(until), reason) for until, reason in from_json(text, []))


def as_text(value: Progress | Result | Failure | None) -> str | None:
    return None if value is None else to_json(asdict(value))


def of_text(kind: type[T], text: str | None) -> T | None:
    return None if text is None else kind(**from_json(text))


def gates_text(gates: tuple[Gate, ...]) -> str | None:
    return to_json([gate.to_entry() for gate in gates]) if gates else None


def window_text(window: DataWindow | None) -> str | None:
    return None if window is None else f"{instant_text(window.start)}/{instant_text(window.end)}"


def window_of_text(text: str | None) -> DataWindow | None:
    if text is None:
        return None
    start, end = text.split("/")
    return DataWindow(from_text(start), from_text(end))


def dependencies_text(dependencies: tuple[Dependency, ...]) -> str | None:
    return to_json([[one.job, str(one.condition)] for one in dependencies]) if dependencies else None


def dependencies_of_text(text: str | None) -> tuple[Dependency, ...]:
    return tuple(Dependency(job, Condition(condition)) for job, condition in from_json(text, []))


def upstreams_text(upstreams: tuple[CountedUpstream, ...]) -> str | None:
    return to_json([[one.name, one.execution_id] for one in upstreams]) if upstreams else None


def _upstreams_of_text(text: str | None) -> tuple[CountedUpstream, ...]:
    if text is None:
        return ()
    from punctual.domain.executions.counted_upstream import CountedUpstream  # only for dependants

    return tuple(CountedUpstream(*entry) for entry in from_json(text))


def outlook_text(outlook: Outlook) -> str:
    return to_json(
        {
            "state": str(outlook.state),
            "probability": round(outlook.probability, 4),
            "median_end": instant_text(outlook.median_end),
            "p95_end": instant_text(outlook.p95_end),
            "latest_safe_start": instant_text(outlook.latest_safe_start),
            "cause": outlook.cause,
            "remedy": outlook.remedy,
            "cause_code": outlook.cause_code,
            "remedies": outlook.remedies,
            "since": instant_text(outlook.since),
            "runs_used": outlook.runs_used,
            "checked_at": instant_text(outlook.checked_at),
            "seen": [[instant_text(one.at), one.percent] for one in outlook.progress_samples],
            "parts_seen": [[one.number, one.elapsed, one.percent] for one in outlook.part_samples],
        }
    )


def outlook_of_text(text: str | None) -> Outlook | None:
    if text is None:
        return None
    fields = from_json(text)
    return Outlook(
        state=DeadlineState(fields["state"]),
        probability=fields["probability"],
        median_end=from_text(fields["median_end"]),
        p95_end=from_text(fields["p95_end"]),
        latest_safe_start=instant_of(fields["latest_safe_start"]),
        cause=fields["cause"],
        remedy=fields["remedy"],
        since=instant_of(fields.get("since")),
        runs_used=fields.get("runs_used", 0),
        **_danger_of(fields),
        checked_at=from_text(fields["checked_at"]),
        progress_samples=tuple(ProgressSample(from_text(at), percent) for at, percent in fields["seen"]),
        part_samples=tuple(PartSample(*sample) for sample in fields.get("parts_seen", ())),
    )


def _danger_of(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields.get("cause_code"):
        return {}
    from punctual.domain.executions.remedy import CauseCode, Remedy, RemedyAction  # few executions are in danger

    remedies = (Remedy(RemedyAction(action), target, effect) for action, target, effect in fields["remedies"])
    return {"cause_code": CauseCode(fields["cause_code"]), "remedies": tuple(remedies)}


def batch_text(batch: Batch | None) -> str | None:
    if batch is None:
        return None
    partitions = batch.partitions.to_spec() if batch.partitions else None
    return to_json(
        {
            "resources": batch.resources.to_spec(),
            "image": batch.image,
            "command": batch.command,
            "partitions": partitions,
            "preemptible": batch.preemptible,
            "collects": batch.collects,
        }
    )


def _batch_of_text(text: str | None) -> Batch | None:
    if text is None:
        return None
    from punctual.aws.dynamodb.optional_rules import batch_of_text  # only for the long lane

    return batch_of_text(text)


def _attempt_entry(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "outcome": str(attempt.outcome),
        "started_at": instant_text(attempt.started_at),
        "ended_at": instant_text(attempt.ended_at),
        "worker_id": attempt.worker_id,
        "error": asdict(attempt.error) if attempt.error else None,
    }


def _attempt(entry: dict[str, Any]) -> Attempt:
    return Attempt(
        number=entry["number"],
        outcome=Outcome(entry["outcome"]),
        started_at=instant_of(entry["started_at"]),
        ended_at=from_text(entry["ended_at"]),
        worker_id=entry["worker_id"],
        error=Failure(**entry["error"]) if entry["error"] else None,
    )
