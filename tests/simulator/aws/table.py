"""A table in memory: items, secondary indexes, and the history of its writes.

The history serves the stream, and eventually consistent reads: a stale read is a read with the last writes undone.
Items are replaced, never modified.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from tests.simulator.aws.errors import invalid
from tests.simulator.aws.values import Item

Key = tuple[str, str]
"""Partition key and sort key, which is empty if the table has none."""
Entry = tuple[str, Key]
"""A row of an index: its sort key there, and the key of the item."""
Overlay = dict[Key, Item | None]
"""Items that a stale read sees instead of the current ones. ``None``: no item."""

ACCOUNT, REGION = "123456789012", "us-east-1"
TTL_IDENTITY = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


class Change(NamedTuple):
    """A write that changed an item."""

    sequence: int
    """Increases over all tables."""
    at: datetime
    key: Key
    old: Item | None
    new: Item | None
    by_ttl: bool


@dataclass(frozen=True)
class Index:
    """Rows by partition in sort-key order: of a secondary index, or of the table itself."""

    name: str | None
    hash_name: str
    range_name: str | None
    projected: tuple[str, ...] | None = None
    """The attributes in the index; ``None``: all."""
    partitions: dict[str, list[Entry]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.hash_name,) if self.range_name is None else (self.hash_name, self.range_name)

    def place(self, item: Item | None, key: Key) -> tuple[str, Entry] | None:
        """The partition and the row of an item; ``None`` if the item is not in this index."""
        if item is None:
            return None
        partition = item.get(self.hash_name)
        if self.range_name is None:
            return (partition["S"], ("", key)) if partition else None
        sort = item.get(self.range_name)
        return (partition["S"], (sort["S"], key)) if partition and sort else None

    def move(self, old: Item | None, new: Item | None, key: Key) -> None:
        if old is not None and new is not None:
            first, second = self.hash_name, self.range_name or self.hash_name
            if old.get(first) == new.get(first) and old.get(second) == new.get(second):
                return
        before, after = self.place(old, key), self.place(new, key)
        if before:
            partition, entry = before
            entries = self.partitions[partition]
            del entries[bisect_left(entries, entry)]
            if not entries:
                del self.partitions[partition]
        if after:
            insort(self.partitions.setdefault(after[0], []), after[1])

    def entries(self, partition: str, overlay: Overlay) -> list[Entry]:
        entries = self.partitions.get(partition, [])
        if not overlay:
            return entries
        placed = (self.place(item, key) for key, item in overlay.items())
        earlier = [place[1] for place in placed if place and place[0] == partition]
        return sorted([*(entry for entry in entries if entry[1] not in overlay), *earlier])


class Table:
    def __init__(self, name: str, primary: Index, indexes: Iterable[Index], stream: str | None) -> None:
        self.name, self.primary, self.stream = name, primary, stream
        self.indexes: dict[str | None, Index] = {index.name: index for index in (primary, *indexes)}
        self.key_names = frozenset(primary.names)
        self.ttl_attribute: str | None = None
        self.items: dict[Key, Item] = {}
        self.history: list[Change] = []
        self._index_keys = {
            name: index.name for index in self.indexes.values() for name in index.names if name not in self.key_names
        }

    def key_of(self, item: Item) -> Key:
        """The primary key of an item. Raises ``ValidationException`` if it is missing or not a non-empty string."""
        primary = self.primary
        try:
            hash_key = item[primary.hash_name]["S"]
            range_key = item[primary.range_name]["S"] if primary.range_name else "-"
        except KeyError:
            raise invalid(f"The provided key element does not match the schema of {self.name}: {item}") from None
        if not hash_key or not range_key:
            raise invalid("The AttributeValue for a key attribute cannot contain an empty string value.")
        return hash_key, range_key if primary.range_name else ""

    def check_key(self, key: Item) -> Key:
        if len(key) != len(self.key_names):
            raise invalid("The provided key element does not match the schema")
        return self.key_of(key)

    def check_index_keys(self, item: Item) -> None:
        for name, index in self._index_keys.items():
            value = item.get(name)
            if value is not None and not value.get("S"):
                raise invalid(f"The key {name} of index {index} must be a non-empty string, but is {value}")

    def write(self, key: Key, new: Item | None, sequence: int, at: datetime, *, by_ttl: bool = False) -> None:
        """Replace the item. A write that changes nothing leaves no record, as in DynamoDB's streams."""
        old = self.items.get(key)
        if old == new:
            return
        for index in self.indexes.values():
            index.move(old, new, key)
        if new is None:
            del self.items[key]
        else:
            self.items[key] = new
        self.history.append(Change(sequence, at, key, old, new, by_ttl))

    def overlay(self, hidden: int) -> Overlay:
        """The items as they were before the last ``hidden`` writes."""
        return {change.key: change.old for change in reversed(self.history[-hidden:])} if hidden > 0 else {}

    def rows(
        self,
        index: Index,
        partition: str,
        bounds: tuple[str, str | None],
        after: Entry | None,
        forward: bool,
        limit: int | None,
        overlay: Overlay,
    ) -> list[Item]:
        """Items of a partition with sort keys within ``bounds``, in order, beginning after the row ``after``."""
        entries = index.entries(partition, overlay)
        low, high = bounds
        start = bisect_left(entries, (low,))
        end = len(entries) if high is None else bisect_left(entries, (high,))
        if after is not None and forward:
            start = max(start, bisect_right(entries, after))
        elif after is not None:
            end = min(end, bisect_left(entries, after))
        size = max(0, end - start)
        taken = size if limit is None else min(size, limit)
        chosen = entries[start : start + taken] if forward else entries[end - taken : end][::-1]
        return [overlay.get(key) or self.items[key] for _, key in chosen]

    def expired(self, now: datetime) -> list[Key]:
        """The keys of the items whose expiry lies before ``now``."""
        name, seconds = self.ttl_attribute, now.timestamp()
        if name is None:
            return []
        return [key for key, item in self.items.items() if "N" in item.get(name, ()) and int(item[name]["N"]) < seconds]

    def records(self, start: int = 0) -> list[dict[str, Any]]:
        """The stream records from a position in ``history`` on, in the form of a Lambda event. Empty without stream."""
        return [self._record(change) for change in self.history[start:]] if self.stream else []

    def _record(self, change: Change) -> dict[str, Any]:
        image = change.new or change.old or {}
        data: dict[str, Any] = {
            "ApproximateCreationDateTime": int(change.at.timestamp()),
            "Keys": {name: image[name] for name in self.primary.names},
            "SequenceNumber": f"{change.sequence:021d}",
            "StreamViewType": self.stream,
        }
        if change.old is not None and self.stream in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
            data["OldImage"] = change.old
        if change.new is not None and self.stream in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            data["NewImage"] = change.new
        event = "INSERT" if change.old is None else "REMOVE" if change.new is None else "MODIFY"
        return {
            "eventID": f"{self.name}-{change.sequence}",
            "eventName": event,
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": REGION,
            "eventSourceARN": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{self.name}/stream/1",
            "dynamodb": data,
            **({"userIdentity": TTL_IDENTITY} if change.by_ttl else {}),
        }
