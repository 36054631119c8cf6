"""Acknowledgements of attention items in the signals table: ``attention#<id of the item>``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.table import Table
from punctual.domain.attention.acknowledgement import Acknowledgement, AttentionState
from punctual.domain.instant import from_text, to_text

_PREFIX = "attention#"


@dataclass(frozen=True)
class DynamoAcknowledgements:
    table: Table

    def find(self, item_ids: Iterable[str]) -> Mapping[str, Acknowledgement]:
        found = map(_of_item, self.table.get_many(map(_key, item_ids), consistent=True))
        return {one.item_id: one for one in found}

    def store(self, one: Acknowledgement) -> None:
        self.table.put(
            {
                **_key(one.item_id),
                "state": str(one.state),
                "by": one.by,
                "at": to_text(one.at),
                "until": to_text(one.until),
                "note": one.note,
                "expires_at": int(one.until.timestamp()),
            }
        )

    def delete(self, item_id: str) -> None:
        self.table.delete_if(_key(item_id), "attribute_exists(#id)", {})


def _key(item_id: str) -> Item:
    return {"id": f"{_PREFIX}{item_id}"}


def _of_item(item: Item) -> Acknowledgement:
    return Acknowledgement(
        item_id=item["id"].removeprefix(_PREFIX),
        state=AttentionState(item["state"]),
        by=item["by"],
        at=from_text(item["at"]),
        until=from_text(item["until"]),
        note=item.get("note"),
    )


if TYPE_CHECKING:
    from punctual.ports.attention import Acknowledgements

    _acknowledgements: type[Acknowledgements] = DynamoAcknowledgements
