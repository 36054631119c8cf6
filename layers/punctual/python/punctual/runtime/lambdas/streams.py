"""DynamoDB stream records as changes, and how a handler processes them.

A record that no retry can process is sent to the dead-letter queue with the reason, so that it does not block the
records behind it. A temporary AWS error or a lost race propagates: Lambda then redelivers the batch, for up to a day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from punctual.aws.dynamodb.items import Item, plain, to_json
from punctual.aws.failures import is_temporary
from punctual.domain import instant
from punctual.domain.errors import Contention
from punctual.domain.metrics import Metric
from punctual.runtime.lambdas.alarm_metric import AlarmMetric

if TYPE_CHECKING:
    from punctual.ports.dead_letters import DeadLetters

T = TypeVar("T")

MAX_DELAY = timedelta(minutes=15)
"""How long a failure of ``process_together`` may hold up the records behind."""

LAG_THRESHOLD = timedelta(seconds=10)
"""The lag above which a reader publishes the lag metric, and the interval between two values."""


@dataclass(frozen=True)
class Change:
    """A stream record: the item before and after a write. ``old`` is ``None`` for an insert, ``new`` for a removal."""

    table: str
    old: Item | None
    new: Item | None
    record: Mapping[str, Any]


def changes_in(event: Mapping[str, Any]) -> Iterator[Change]:
    for record in event.get("Records", ()):
        images = record["dynamodb"]
        yield Change(
            table=record["eventSourceARN"].split("/")[1],
            old=plain(images["OldImage"]) if "OldImage" in images else None,
            new=plain(images["NewImage"]) if "NewImage" in images else None,
            record=record,
        )


class StreamLag:
    """Publishes the lag of a stream reader: the age of the oldest record in a batch."""

    def __init__(self) -> None:
        self._metric = AlarmMetric(Metric.STREAM_LAG_SECONDS, interval=LAG_THRESHOLD)

    def record(self, event: Mapping[str, Any]) -> None:
        age = _age(event.get("Records", ()))
        if age > LAG_THRESHOLD.total_seconds():
            self._metric.publish(age)


def _age(records: Iterable[Mapping[str, Any]]) -> float:
    """The seconds since the oldest record was written; 0 if unknown."""
    written_at = [record["dynamodb"].get("ApproximateCreationDateTime") for record in records]
    known = [seconds for seconds in written_at if isinstance(seconds, int | float)]
    return instant.now().timestamp() - min(known) if known else 0


def _may_succeed_later(error: Exception) -> bool:
    """Whether a repetition of the same work can succeed."""
    return isinstance(error, Contention) or is_temporary(error)


def process_each(
    changes: Iterable[Change],
    act: Callable[[Change], T],
    dead_letters: DeadLetters,
    warn: Callable[[str], None],
) -> list[T]:
    """Call ``act`` on each change and return the results in order.

    A change for which ``act`` raises goes to the dead-letter queue and has no result. Temporary AWS errors propagate,
    and so do lost races (``Contention``): a repetition can succeed.
    """
    results = []
    for change in changes:
        try:
            results.append(act(change))
        except Exception as error:
            if _may_succeed_later(error):
                raise
            reason = f"{type(error).__name__}: {error}"
            warn(f"sent a record of table {change.table} to the dead-letter queue: {reason}")
            dead_letters.dead_letter(to_json(change.record), reason)
    return results


def process_together(
    found: Sequence[tuple[Change, T]],
    act: Callable[[list[T]], None],
    dead_letters: DeadLetters,
    warn: Callable[[str], None],
) -> None:
    """Call ``act`` once, on the values of all changes. For work whose failure must not stop the stream.

    Temporary AWS errors and lost races propagate, but only until the oldest record is ``MAX_DELAY`` old. Then, and
    after any other error, the records go to the dead-letter queue, and those behind them are processed.
    """
    try:
        act([value for _, value in found])
    except Exception as error:
        is_young = _age([change.record for change, _ in found]) < MAX_DELAY.total_seconds()
        if is_young and _may_succeed_later(error):
            raise
        reason = f"{type(error).__name__}: {error}"
        warn(f"sent {len(found)} records to the dead-letter queue: {reason}")
        for change, _ in found:
            dead_letters.dead_letter(to_json(change.record), reason)
