"""DynamoDB stream records as changes, and how a handler goes through them.

A record that no retry will ever cure is buried with its reason, so that it cannot hold up those behind it. Trouble
with AWS itself is raised: the service then delivers the records again, for up to a day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.dynamodb.items import Item, dumped, plain
from punctual.domain import instant
from punctual.domain.metrics import Metric
from punctual.runtime.lambdas.alarm_metric import Figure

if TYPE_CHECKING:
    from punctual.ports.planning import DeadLetters

T = TypeVar("T")

WORTH_TELLING = timedelta(seconds=10)
"""How far behind a stream its reader has to be before it says so, and how often it then does."""


@dataclass(frozen=True)
class Change:
    """One record: what an item was, and what it is. ``None`` where there was or is none."""

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


class Lag:
    """How far a reader is behind its stream: the age of the oldest record that it is given."""

    def __init__(self) -> None:
        self._figure = Figure(Metric.STREAM_LAG_SECONDS, pause=WORTH_TELLING)

    def look(self, event: Mapping[str, Any]) -> None:
        made = [record["dynamodb"].get("ApproximateCreationDateTime") for record in event.get("Records", ())]
        known = [seconds for seconds in made if isinstance(seconds, int | float)]
        if known:
            age = instant.now().timestamp() - min(known)
            if age > WORTH_TELLING.total_seconds():
                self._figure.tell(age)


def each(
    changes: Iterable[Change],
    act: Callable[[Change], T],
    dead_letters: DeadLetters,
    warn: Callable[[str], None],
) -> list[T]:
    """``act`` on each change, burying those that it can never act on. The rest's answers, in order."""
    answers = []
    for change in changes:
        try:
            answers.append(act(change))
        except (ClientError, BotoCoreError):
            raise
        except Exception as error:
            warn(f"buried a record of {change.table}: {type(error).__name__}: {error}")
            dead_letters.bury(dumped(change.record), f"{type(error).__name__}: {error}")
    return answers
