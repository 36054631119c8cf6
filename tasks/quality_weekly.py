"""A weekly batch job: processes a week of records, hour by hour, and measures their quality.

The records are generated, deterministically by dataset and hour, with the faults of real feeds: missing fields, amounts
out of range, duplicate and late records, and one night with a much higher rate of faults. To use it on your own data,
replace ``records_of`` by a query.
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
            "week_of": {
                "type": "string",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                "examples": ["2026-11-16"],
            },
        },
        "required": ["dataset"],
        "additionalProperties": False,
    },
)
def weekly(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    """``seconds`` is the simulated duration of a week of data: hours in a realistic run, half a minute in a demo.

    A recurring job takes the week from its data window; a one-time job names any day of the week in ``week_of``.
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
    """Combine the results of the days to a report of the week."""
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
        raise Fatal(
            'no week given: add a recurring schedule with "window": "week" to the job, or set the parameter week_of'
        )
    return window.start, window.end


def records_of(dataset: str, hour: datetime, count: int) -> Iterator[dict[str, Any]]:
    """Generate an hour of orders in order of arrival. The rate of faults is high on Wednesdays before 05:00."""
    chance = random.Random(f"{dataset} {hour.isoformat()}")
    troubled = hour.weekday() == 2 and hour.hour < 5
    before: dict[str, Any] | None = None
    for number in range(count):
        if before is not None and chance.random() < 0.004:
            yield before  # duplicate
            continue
        at = hour + timedelta(seconds=chance.uniform(0, 3600))
        record: dict[str, Any] = {
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
    """List the faults of a record. ``seen`` contains the orders of this hour so far, and is updated."""
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
