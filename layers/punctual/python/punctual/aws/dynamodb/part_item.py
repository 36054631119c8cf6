"""Mapping between parts and items of the parts table."""

from __future__ import annotations

from dataclasses import asdict

from punctual.aws.dynamodb.execution_item import (
    as_text,
    attempts_of_text,
    attempts_text,
    of_text,
    window_of_text,
    window_text,
)
from punctual.aws.dynamodb.items import Item, from_json, instant_of, instant_text, to_json
from punctual.domain.errors import Unreadable
from punctual.domain.executions.execution import Failure, Result
from punctual.domain.executions.progress import Progress
from punctual.domain.instant import from_text
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Priority
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status


def part_to_item(part: Part) -> Item:
    return {
        "execution_id": part.execution_id,
        "part": part.name,
        "job_id": part.job_id,
        "owner": part.owner,
        "status": str(part.status),
        "cpu": part.cpu,
        "memory_mb": part.memory_mb,
        "latest_start": instant_text(part.latest_start),
        "expected_seconds": part.expected_seconds,
        "spot": part.spot or None,
        "image": part.image or None,
        "command": to_json(part.command) if part.command else None,
        "timeout_seconds": part.timeout_seconds,
        "retry": to_json(asdict(part.retry)),
        "priority": str(part.priority),
        "preemptible": part.preemptible or None,
        "number": part.number,
        "count": part.count,
        "value": None if part.value is None else to_json(part.value),
        "window": window_text(part.window),
        "reason": part.reason,
        "attempt": part.attempt,
        "requested_at": instant_text(part.requested_at),
        "granted_at": instant_text(part.granted_at),
        "start_at": instant_text(part.start_at),
        "started_at": instant_text(part.started_at),
        "ended_at": instant_text(part.ended_at),
        "retry_at": instant_text(part.retry_at),
        "lease_until": instant_text(part.lease_until),
        "tickets": part.tickets or None,
        "key": part.key,
        "tokens": part.tokens or None,
        "task_arn": part.task_arn,
        "claimed_by": part.claimed_by,
        "preempt_reason": part.preempt_reason,
        "preempt_requested_at": instant_text(part.preempt_requested_at),
        "cancel_at": instant_text(part.cancel_at),
        "cancel_reason": part.cancel_reason,
        "kept_from": part.kept_from,
        "checkpoint": part.checkpoint,
        "progress": as_text(part.progress),
        "result": as_text(part.result),
        "error": as_text(part.error),
        "attempts": attempts_text(part.attempts) if part.attempts else None,
    }


def item_to_part(item: Item) -> Part:
    """Raises ``Unreadable`` if the item is not a part."""
    try:
        return Part(
            execution_id=item["execution_id"],
            name=item["part"],
            job_id=item["job_id"],
            owner=item["owner"],
            status=Status(item["status"]),
            cpu=item["cpu"],
            memory_mb=item["memory_mb"],
            latest_start=from_text(item["latest_start"]),
            expected_seconds=item["expected_seconds"],
            spot=item.get("spot", False),
            image=item.get("image", ""),
            command=tuple(from_json(item.get("command"), ())),
            timeout_seconds=item["timeout_seconds"],
            retry=RetryPolicy(**from_json(item["retry"])),
            priority=Priority(item["priority"]),
            preemptible=item.get("preemptible", False),
            number=item["number"],
            count=item["count"],
            value=from_json(item.get("value")),
            window=window_of_text(item.get("window")),
            reason=item.get("reason"),
            attempt=item["attempt"],
            requested_at=instant_of(item.get("requested_at")),
            granted_at=instant_of(item.get("granted_at")),
            start_at=instant_of(item.get("start_at")),
            started_at=instant_of(item.get("started_at")),
            ended_at=instant_of(item.get("ended_at")),
            retry_at=instant_of(item.get("retry_at")),
            lease_until=instant_of(item.get("lease_until")),
            tickets=item.get("tickets", frozenset()),
            key=item.get("key"),
            tokens=item.get("tokens", frozenset()),
            task_arn=item.get("task_arn"),
            claimed_by=item.get("claimed_by"),
            preempt_reason=item.get("preempt_reason"),
            preempt_requested_at=instant_of(item.get("preempt_requested_at")),
            cancel_at=instant_of(item.get("cancel_at")),
            cancel_reason=item.get("cancel_reason"),
            kept_from=item.get("kept_from"),
            checkpoint=item.get("checkpoint"),
            progress=of_text(Progress, item.get("progress")),
            result=of_text(Result, item.get("result")),
            error=of_text(Failure, item.get("error")),
            attempts=attempts_of_text(item.get("attempts")),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unreadable(f"not a part: {type(error).__name__}: {error}") from error
