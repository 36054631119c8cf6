"""Which write to a table triggers which function, and what the function then does.

``TRIGGERS`` is the only place that says so. The stack derives its event filters from it (``filters``), the planner,
the settler and admission route stream records by it (``effect_of``), and ``docs/triggers.md`` is generated from it.
It imports only the standard library and the statuses, because the CDK application loads this module, too.

A filter is what Lambda can match on: event names and attribute values. Several triggers can share one filter and differ
in conditions that Lambda cannot express, such as an attribute that changed. The first trigger that matches decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from punctual.domain.status import FINAL, Status

INSERT, MODIFY, REMOVE = "INSERT", "MODIFY", "REMOVE"
JOBS, EXECUTIONS, PARTS, TIMERS = "jobs", "executions", "parts", "timers"

Values = tuple[str | bool, ...]
PRESENT: Values = ()
"""Any value: the attribute only has to exist."""


class Effect(StrEnum):
    """What a stream record means to the function that receives it."""

    PLAN_JOB = "plan_job"
    """A job was submitted, edited, paused, resumed, cancelled or deleted."""
    EXPIRE_REVISIONS = "expire_revisions"
    """An edited job is done: its revisions expire with it."""
    SEND_PLANNED = "send_planned"
    """An execution was stored or replaced as ready: send it, and plan its successors if it leads."""
    SEND_DUE = "send_due"
    """A scheduled execution came due: apply the misfire rule, send it, and plan its successors if it leads."""
    SEND_AGAIN = "send_again"
    """An execution became ready once more, after a wait or a failed attempt, or no worker has claimed it: send it."""
    SCHEDULE_REVOCATION = "schedule_revocation"
    """A running execution was asked to stop: send the message that revokes its lease after the grace period."""
    CHECK_TIMER = "check_timer"
    """TTL removed a timer, an hour or more after its instant: check that it was handled."""
    FOLLOW_UP = "follow_up"
    """An execution ended: finish its job, wake its dependants, notify, record run times, clean up in AWS."""
    COUNT = "count"
    """An execution ended: count it in the statistics. The settler also counts each end that it follows up on."""
    STOP_CONTAINERS = "stop_containers"
    """A long execution was asked to stop: stop its containers."""
    ADMIT = "admit"
    """A part requested, received or released a slot: update its execution and assign free slots."""


SENDING = frozenset({Effect.SEND_PLANNED, Effect.SEND_DUE, Effect.SEND_AGAIN, Effect.SCHEDULE_REVOCATION})
"""The effects that the planner processes as one batch of messages."""


@dataclass(frozen=True)
class Filter:
    """What Lambda matches before it invokes a function."""

    events: tuple[str, ...] = ()
    new: Mapping[str, Values] = field(default_factory=dict)
    old: Mapping[str, Values] = field(default_factory=dict)
    by_ttl: bool = False
    """Only deletions by DynamoDB itself. A manual delete does not match."""

    def pattern(self) -> dict[str, Any]:
        """The filter pattern of a Lambda event source mapping."""
        pattern: dict[str, Any] = {"eventName": list(self.events)} if self.events else {}
        if self.by_ttl:
            pattern["userIdentity"] = {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}
        images = {"OldImage": self.old, "NewImage": self.new}
        if matched := {name: _typed(image) for name, image in images.items() if image}:
            pattern["dynamodb"] = matched
        return pattern


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """One kind of write and its effect."""

    function: str
    table: str
    filter: Filter
    effect: Effect
    write: str
    """The write, in words."""
    was: Mapping[str, Values] = field(default_factory=dict)
    """Values that the old item must have, beyond the filter."""
    changed: tuple[str, ...] = ()
    """At least one of these attributes must differ between the old and the new item."""

    def matches(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        """Whether a record that passed the filters of its source has this effect."""
        return (
            _has(new, self.filter.new)
            and _has(old, self.filter.old)
            and _has(old, self.was)
            and (not self.changed or any(old.get(name) != new.get(name) for name in self.changed))
        )


# A job that is done plans nothing. The items beside the jobs (owners, dedupe keys) have no state.
_JOB = Filter((INSERT, MODIFY), new={"state": ("active", "paused", "cancelled", "deleted")})
_EDITED_DONE = Filter((MODIFY,), new={"state": ("done",), "revised_at": PRESENT})
_READY = Filter((INSERT, MODIFY), new={"status": ("queued", "retrying")})
_LEADER_NOT_RUN = Filter((INSERT,), new={"status": ("skipped", "missed"), "is_leader": (True,)})
_LEADER_CANCELLED = Filter(
    (MODIFY,), old={"status": ("scheduled",)}, new={"status": ("cancelled",), "is_leader": (True,)}
)
_STOP = Filter((MODIFY,), new={"status": ("running",), "cancel_at": PRESENT})
_TTL = Filter((REMOVE,), by_ttl=True)
_ENDED = Filter((INSERT, MODIFY), new={"status": tuple(str(status) for status in Status if status in FINAL)})
# Most executions of recurring short jobs need no follow-up and are only counted.
_FOLLOWED = Filter(_ENDED.events, new={**_ENDED.new, "needs_follow_up": (True,)})
_FAILED = Filter(new={"status": ("failed", "timed_out")})
_STOP_LONG = Filter((MODIFY,), new={"status": ("running",), "lane": ("long",), "cancel_at": PRESENT})
_PART = Filter(
    (INSERT, MODIFY),
    new={"status": ("waiting", "starting", "retrying", "succeeded", "failed", "timed_out", "cancelled")},
)

_PROGRESS = (
    *("status", "queued_at", "retry_at", "attempt", "revision", "run_arn", "restarts", "cancel_at"),
    "sent_again_at",
)
"""A deadline check also writes to a waiting execution, but changes none of these: it is no reason to send it again."""

TRIGGERS = (
    Trigger(
        function="planner",
        table=JOBS,
        filter=_JOB,
        changed=("revision", "state"),
        effect=Effect.PLAN_JOB,
        write="A job is submitted, edited, paused, resumed, cancelled or deleted.",
    ),
    Trigger(
        function="planner",
        table=JOBS,
        filter=_EDITED_DONE,
        changed=("state",),
        effect=Effect.EXPIRE_REVISIONS,
        write="An edited job is done.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_STOP,
        changed=_PROGRESS,
        effect=Effect.SCHEDULE_REVOCATION,
        write="A running execution is asked to stop.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_READY,
        changed=("revision",),
        effect=Effect.SEND_PLANNED,
        write="An execution is stored, or replaced by an edit, as `queued`.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_LEADER_NOT_RUN,
        changed=("revision",),
        effect=Effect.SEND_PLANNED,
        write="A leader is stored as `skipped` or `missed`. The planner still plans its successors.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_READY,
        was={"status": ("scheduled",)},
        effect=Effect.SEND_DUE,
        write="An execution moves from `scheduled` to `queued`.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_LEADER_CANCELLED,
        effect=Effect.SEND_DUE,
        write="A leader is cancelled before it is due. The planner still plans its successors.",
    ),
    Trigger(
        function="planner",
        table=EXECUTIONS,
        filter=_READY,
        changed=_PROGRESS,
        effect=Effect.SEND_AGAIN,
        write="An execution becomes `queued` after a wait, `retrying` after a failed attempt, or is to be sent again.",
    ),
    Trigger(
        function="planner",
        table=TIMERS,
        filter=_TTL,
        effect=Effect.CHECK_TIMER,
        write="TTL removes a timer.",
    ),
    Trigger(
        function="settler",
        table=EXECUTIONS,
        filter=_FOLLOWED,
        effect=Effect.FOLLOW_UP,
        write="An execution that needs follow-up ends.",
    ),
    Trigger(
        function="settler",
        table=EXECUTIONS,
        filter=_FAILED,
        effect=Effect.FOLLOW_UP,
        write="An execution fails or times out.",
    ),
    Trigger(
        function="settler",
        table=EXECUTIONS,
        filter=_ENDED,
        changed=("status",),
        effect=Effect.COUNT,
        write="Any other execution ends.",
    ),
    Trigger(
        function="settler",
        table=EXECUTIONS,
        filter=_STOP_LONG,
        changed=("cancel_at",),
        effect=Effect.STOP_CONTAINERS,
        write="A running execution of the long lane is asked to stop.",
    ),
    Trigger(
        function="admission",
        table=PARTS,
        filter=_PART,
        effect=Effect.ADMIT,
        write="A part of a long execution requests, receives or releases a slot.",
    ),
)


def filters(function: str, table: str) -> list[dict[str, Any]]:
    """The filter patterns for the event source of ``function`` on the stream of ``table``, without repetitions."""
    patterns: list[dict[str, Any]] = []
    for trigger in TRIGGERS:
        pattern = trigger.filter.pattern()
        if (trigger.function, trigger.table) == (function, table) and pattern not in patterns:
            patterns.append(pattern)
    return patterns


def effect_of(function: str, table: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Effect | None:
    """What a record means to ``function``; ``None`` if nothing follows from it."""
    candidates = (one for one in TRIGGERS if (one.function, one.table) == (function, table))
    return next((one.effect for one in candidates if one.matches(old or {}, new or {})), None)


def _has(item: Mapping[str, Any], wanted: Mapping[str, Values]) -> bool:
    return all(name in item and (not values or item[name] in values) for name, values in wanted.items())


def _typed(image: Mapping[str, Values]) -> dict[str, Any]:
    return {name: _matcher(values) for name, values in image.items()}


def _matcher(values: Values) -> dict[str, Any]:
    if not values:
        return {"S": [{"exists": True}]}
    return {"BOOL" if isinstance(values[0], bool) else "S": list(values)}
