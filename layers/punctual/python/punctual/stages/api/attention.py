"""Attention: what needs an operator now, and their acknowledgements of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.attention.acknowledgement import Acknowledgement, AttentionState, acknowledgement
from punctual.domain.attention.attention_item import (
    AttentionItem,
    AttentionKind,
    alarm_item,
    backlog_item,
    deadline_item,
    module_item,
    queue_item,
)
from punctual.domain.errors import NotFound
from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.requests.caller import Caller, Role

if TYPE_CHECKING:
    from punctual.ports.attention import Acknowledgements, Alarms, RaisedAlarm
    from punctual.ports.clock import Clock
    from punctual.ports.queue_jobs import MeasuredBacklogs
    from punctual.stages.api.browse_deadlines import BrowseDeadlines
    from punctual.stages.api.find import Finder

MAX_ENDANGERED = 50
"""The executions in danger that are listed; ``GET /deadlines`` has all of them."""


@dataclass(frozen=True)
class Attention:
    item: AttentionItem
    acknowledgement: Acknowledgement | None
    """``None`` if the item is open."""


@dataclass(frozen=True)
class AttentionList:
    deadlines: BrowseDeadlines
    alarms: Alarms
    backlogs: MeasuredBacklogs
    acknowledgements: Acknowledgements
    broken_modules: Callable[[], Mapping[str, str]]
    """The reason of each module that cannot be imported."""
    clock: Clock

    def raised_alarms(self) -> list[RaisedAlarm] | None:
        raised = self.alarms.raised()
        return None if raised is None else list(raised)

    def current(self, sample: Sample) -> list[Attention]:
        """List what needs attention: the open items first, then in the order of ``AttentionKind``."""
        items = list(self._items(sample))
        known, now = self.acknowledgements.find(item.id for item in items), self.clock()
        found = [Attention(item, _covering(known.get(item.id), item, now)) for item in items]
        return sorted(found, key=lambda one: one.acknowledgement is not None)

    def _items(self, sample: Sample) -> Iterator[AttentionItem]:
        yield from filter(None, map(deadline_item, self.deadlines.endangered(MAX_ENDANGERED)))
        for queue, backlog in sample.queues.items():
            if item := queue_item(queue, backlog, sample.memory[queue].near_limit_since):
                yield item
        yield from filter(None, map(backlog_item, self.backlogs.latest().jobs.values()))
        yield from (module_item(name, reason) for name, reason in self.broken_modules().items())
        for alarm in self.alarms.raised() or ():
            yield alarm_item(alarm.name, alarm.description, alarm.reason, alarm.since)


@dataclass(frozen=True)
class Acknowledge:
    """Stores and deletes acknowledgements. Both are idempotent.

    The item of an execution or a job belongs to its team; every operator may acknowledge the others.
    """

    acknowledgements: Acknowledgements
    find: Finder
    clock: Clock

    def acknowledge(
        self,
        item_id: str,
        state: AttentionState,
        caller: Caller,
        *,
        until: datetime | None = None,
        note: str | None = None,
        dry_run: bool = False,
    ) -> Acknowledgement:
        """Store an acknowledgement. Raises ``NotFound``, ``Forbidden`` or ``Invalid``."""
        self._check(item_id, caller)
        one = acknowledgement(item_id, state, caller.subject, self.clock(), until, note)
        if not dry_run:
            self.acknowledgements.store(one)
        return one

    def undo(self, item_id: str, caller: Caller, *, dry_run: bool = False) -> None:
        """Open the item again. Raises ``NotFound`` or ``Forbidden``."""
        self._check(item_id, caller)
        if not dry_run:
            self.acknowledgements.delete(item_id)

    def _check(self, item_id: str, caller: Caller) -> None:
        kind, _, subject = item_id.partition(".")
        if kind not in set(AttentionKind) or not subject:
            raise NotFound("attention item", item_id, field="attention_id")
        caller.require_role(Role.OPERATOR)
        if kind == AttentionKind.DEADLINE:
            self.find.execution_to_manage(subject, caller)
        if kind == AttentionKind.BACKLOG:
            caller.require_can_manage(self.find.job(subject))


def _covering(one: Acknowledgement | None, item: AttentionItem, now: datetime) -> Acknowledgement | None:
    return one if one is not None and one.covers(item, now) else None
