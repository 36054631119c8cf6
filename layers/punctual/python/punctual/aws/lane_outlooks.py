"""When those who wait in the long lane will start, as the monitor last worked it out: one item of the signals table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from punctual.aws.items import dumped, instant_text, loaded
from punctual.aws.table import Table
from punctual.domain.instant import from_text
from punctual.domain.slots import LaneOutlook, Start

_KEY = {"id": "lane"}


@dataclass(frozen=True)
class DynamoLaneOutlooks:
    table: Table

    def latest(self) -> LaneOutlook | None:
        """``None`` when there is none, or none of the present form."""
        item = self.table.get(_KEY)
        try:
            return None if item is None else _outlook(loaded(item["outlook"]))
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, outlook: LaneOutlook) -> None:
        """In place of the one before."""
        fields = {
            **vars(outlook),
            "at": instant_text(outlook.at),
            "first_free": instant_text(outlook.first_free),
            "starts": [[instant_text(one.latest_start), instant_text(one.start_at)] for one in outlook.starts],
        }
        self.table.put({**_KEY, "outlook": dumped(fields)})


def _outlook(fields: dict[str, Any]) -> LaneOutlook:
    return LaneOutlook(
        **fields
        | {
            "at": from_text(fields["at"]),
            "first_free": from_text(fields["first_free"]),
            "starts": tuple(Start(from_text(latest), from_text(start)) for latest, start in fields["starts"]),
        }
    )
