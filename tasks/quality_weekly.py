"""The weekly batch: works through a week of records, hour by hour, and measures their quality.

Its data are made up here, the same for the same dataset and hour, with the faults that real feeds have: missing
fields, amounts out of range, records that come twice or late, and one day on which a supplier had a bad night. Put a
query of yours in place of ``records_of``, and the rest stays as it is.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from punctual import Context, Fatal, collect, task

HOUR = timedelta(hours=1)
CHECKS = ("missing_customer", "missing_amount", "amount_out_of_range", "duplicate", "late")


@task(
    "quality.weekly",
    parameters={
        "type": "object",
        "properties": {
            "dataset": {"type": "string", "minLength": 1},
            "records_per_hour": {"type": "integer", "minimum": 1, "maximum": 100_000},
            "seconds": {"type": "number", "minimum": 0, "maximum": 604_800},
            "week_of": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        },
        "required": ["dataset"],
        "additionalProperties": False,
    },
)
def weekly(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    """``seconds`` is how long a week of data takes: hours in earnest, half a minute in a demonstration.

    A recurring job says by its window which week it is; one that runs once names it by a day, in ``week_of``.
    """
    start, end = _span(context, parameters)
    hours = [start + n * HOUR for n in range(round((end - start) / HOUR))]
    state = context.resume() or {"hours": 0, "records": 0, "faults": {}, "begun_at": []}
    state["begun_at"].append(state["hours"])
    faults = Counter(state["faults"])
    for done, hour in enumerate(hours[state["hours"] :], start=state["hours"] + 1):
        seen: set[str] = set()
        for record in records_of(parameters["dataset"], hour, parameters.get("records_per_hour", 200)):
            state["records"] += 1
            faults.update(faults_of(record, hour, seen))
        time.sleep(parameters.get("seconds", 0) / (7 * 24))
        state |= {"hours": done, "faults": dict(faults)}
        context.checkpoint(state)
        context.progress(done=done, total=len(hours), message=f"{hour:%a %H:%M}, {state['records']:,} records")
    context.logger.info("checked", extra={"records": state["records"], "faults": dict(faults)})
    return {
        "from": start.isoformat(),
        "to": end.isoformat(),
        "records": state["records"],
        "faults": {check: faults[check] for check in CHECKS},
        "begun_at": state["begun_at"],
    }


@collect("quality.weekly")
def report(_context: Context, parameters: dict[str, Any], days: list[Any]) -> dict[str, Any]:
    """The week in one picture, from what its days found."""
    records = sum(day["records"] for day in days)
    faults = Counter({check: sum(day["faults"][check] for day in days) for check in CHECKS})
    worst = max(days, key=lambda day: sum(day["faults"].values()) / max(day["records"], 1))
    return {
        "dataset": parameters["dataset"],
        "records": records,
        "faults": dict(faults),
        "score": round(100 * (1 - sum(faults.values()) / max(records, 1)), 2),
        "worst_day": worst["from"],
        "days": days,
    }


def _span(context: Context, parameters: dict[str, Any]) -> tuple[datetime, datetime]:
    window = context.partition.window if context.partition else context.window
    if "week_of" in parameters:
        day = datetime.fromisoformat(parameters["week_of"]).replace(tzinfo=UTC)
        sunday = day - timedelta(days=(day.weekday() + 1) % 7)
        return sunday, sunday + timedelta(days=7)
    if window is None:
        raise Fatal('which week? Give the job a recurring schedule and "window": "week", or the parameter week_of')
    return window.start, window.end


def records_of(dataset: str, hour: datetime, count: int) -> Iterator[dict[str, Any]]:
    """An hour of orders as they arrived. Wednesdays before dawn are bad."""
    chance = random.Random(f"{dataset} {hour.isoformat()}")
    troubled = hour.weekday() == 2 and hour.hour < 5
    before: dict[str, Any] | None = None
    for number in range(count):
        if before is not None and chance.random() < 0.004:
            yield before  # sent twice
            continue
        at = hour + timedelta(seconds=chance.uniform(0, 3600))
        record = {
            "order": f"{hour:%Y%m%d%H}-{number:05d}",
            "customer": chance.randrange(1, 5000) if chance.random() > (0.2 if troubled else 0.01) else None,
            "amount": round(chance.lognormvariate(3.5, 0.8), 2) if chance.random() > 0.005 else None,
            "at": at,
            "arrived": at + timedelta(minutes=chance.expovariate(1 / (40 if troubled else 4))),
        }
        if record["amount"] is not None and chance.random() < 0.002:
            record["amount"] = -record["amount"]
        before = record
        yield record


def faults_of(record: dict[str, Any], hour: datetime, seen: set[str]) -> list[str]:
    """What is wrong with a record. ``seen`` are the orders of this hour so far."""
    faults = []
    if record["order"] in seen:
        faults.append("duplicate")
    seen.add(record["order"])
    if record["customer"] is None:
        faults.append("missing_customer")
    if record["amount"] is None:
        faults.append("missing_amount")
    elif not 0 < record["amount"] < 5000:
        faults.append("amount_out_of_range")
    if record["arrived"] >= hour + 2 * HOUR:
        faults.append("late")
    return faults
