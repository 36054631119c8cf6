"""The monitor's state in the signals table: the last queue sample and the last forecast of the long lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import from_json, instant_text, to_json
from punctual.aws.dynamodb.table import Table
from punctual.domain.forecasts.queue_backlog import Sample, read_sample
from punctual.domain.instant import from_text
from punctual.domain.long_lane.lane_forecast import HeldSlots, LaneOutlook, PlannedSlots, StartForecast, WaitingSlots

_SAMPLE_KEY = {"id": "sample"}
_LANE_KEY = {"id": "lane"}


@dataclass(frozen=True)
class DynamoSamples:
    """The last sample of the queues. The next sample is compared with it; the API shows it."""

    table: Table

    def latest(self) -> Sample | None:
        """``None`` if there is no sample, or if it was stored in an older format."""
        item = self.table.get(_SAMPLE_KEY, consistent=True)
        return None if item is None else read_sample(item["sample"])

    def store(self, sample: Sample) -> None:
        """Replace the stored sample."""
        self.table.put({**_SAMPLE_KEY, "at": instant_text(sample.at), "sample": to_json(sample.to_fields())})


@dataclass(frozen=True)
class DynamoLaneOutlooks:
    """The last forecast of when waiting parts of the long lane start."""

    table: Table

    def latest(self) -> LaneOutlook | None:
        """``None`` if there is no forecast, or if it was stored in an older format."""
        item = self.table.get(_LANE_KEY)
        try:
            return None if item is None else _outlook(from_json(item["outlook"]))
        except (KeyError, TypeError, ValueError):
            return None

    def store(self, outlook: LaneOutlook) -> None:
        """Replace the stored forecast."""
        fields = {
            **vars(outlook),
            "at": instant_text(outlook.at),
            "first_free": instant_text(outlook.first_free),
            "starts": [[instant_text(one.latest_start), instant_text(one.start_at)] for one in outlook.starts],
            "holding": [[instant_text(one.until), one.tasks, one.cpu] for one in outlook.holding],
            "demand": [[instant_text(one.latest_start), one.seconds, one.tasks, one.cpu] for one in outlook.demand],
            "planned": [_planned_fields(one) for one in outlook.planned],
        }
        self.table.put({**_LANE_KEY, "outlook": to_json(fields)})


def _planned_fields(one: PlannedSlots) -> list[Any]:
    return [instant_text(one.at), instant_text(one.latest_start), one.seconds, one.tasks, one.cpu, one.execution_id]


def _outlook(fields: dict[str, Any]) -> LaneOutlook:
    return LaneOutlook(
        **fields
        | {
            "at": from_text(fields["at"]),
            "first_free": from_text(fields["first_free"]),
            "starts": tuple(StartForecast(from_text(latest), from_text(start)) for latest, start in fields["starts"]),
            "holding": tuple(HeldSlots(from_text(until), *counts) for until, *counts in fields["holding"]),
            "demand": tuple(WaitingSlots(from_text(latest), *counts) for latest, *counts in fields["demand"]),
            "planned": tuple(
                PlannedSlots(from_text(at), from_text(latest), *rest) for at, latest, *rest in fields["planned"]
            ),
        }
    )


if TYPE_CHECKING:
    from punctual.ports.monitoring import LaneOutlooks, Samples

    _samples: type[Samples] = DynamoSamples
    _lane_outlooks: type[LaneOutlooks] = DynamoLaneOutlooks
