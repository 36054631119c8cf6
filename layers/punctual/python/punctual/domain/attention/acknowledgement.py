"""An operator's answer to an attention item: acknowledged or snoozed, by whom, until when, with a note."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.attention.attention_item import AttentionItem
from punctual.domain.errors import Invalid

MAX_KEPT = timedelta(days=30)
"""The longest time until an item is open again."""
MAX_NOTE_LENGTH = 500


class AttentionState(StrEnum):
    """Whether an operator has dealt with an attention item."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    """Known: open again if the subject needs attention anew, or its deadline state changes."""
    SNOOZED = "snoozed"
    """Not to be shown until an instant, whatever happens until then."""


@dataclass(frozen=True, kw_only=True)
class Acknowledgement:
    item_id: str
    state: AttentionState
    by: str
    at: datetime
    until: datetime
    """From then on, the item is open again."""
    note: str | None = None

    def covers(self, item: AttentionItem, now: datetime) -> bool:
        """Whether the item is not open. An acknowledgement covers what began before it."""
        began_before = item.since is None or item.since <= self.at
        return now < self.until and (self.state is AttentionState.SNOOZED or began_before)


def acknowledgement(
    item_id: str, state: AttentionState, by: str, now: datetime, until: datetime | None, note: str | None
) -> Acknowledgement:
    """Build an acknowledgement that lasts until ``until``. Raises ``Invalid``."""
    if state is AttentionState.SNOOZED and until is None:
        raise Invalid("until", "is required to snooze an item: give an instant such as 2026-11-17T08:00:00Z")
    if until is not None and not now < until <= now + MAX_KEPT:
        raise Invalid("until", f"must be in the future, and at most {MAX_KEPT.days} days ahead")
    return Acknowledgement(item_id=item_id, state=state, by=by, at=now, until=until or now + MAX_KEPT, note=note)
