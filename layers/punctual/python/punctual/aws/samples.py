"""The monitor's last sample in the signals table: what the next one is compared with, and what the API shows."""

from __future__ import annotations

from dataclasses import dataclass

from punctual.aws.items import dumped, instant_text
from punctual.aws.table import Table
from punctual.domain.backlog import Sample, read_sample

_KEY = {"id": "sample"}


@dataclass(frozen=True)
class DynamoSamples:
    table: Table

    def latest(self) -> Sample | None:
        """``None`` when there is none, or none of the present form."""
        item = self.table.get(_KEY, consistent=True)
        return None if item is None else read_sample(item["sample"])

    def keep(self, sample: Sample) -> None:
        """In place of the one before."""
        self.table.put({**_KEY, "at": instant_text(sample.at), "sample": dumped(sample.to_fields())})
