"""Fills the local stack with the week of a data-quality team: `make demo`. Idempotent: jobs that exist are kept.

Times are compressed, so that minutes show what takes hours in production: a weekly batch in the long lane with a
history of earlier weeks, a batch whose deadline is at risk, checks every minute, a graph of dependencies, a queue job
with a backlog, and a feed that fails.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from local.errors import LocalError
from local.progress import Progress

WEEKS = 6
"""Weeks of history of the weekly batches."""
MESSAGES = 60
NEW_YORK = "America/New_York"

JOBS: tuple[dict[str, Any], ...] = (
    {
        "name": "weekly-quality-orders",
        "task": "quality.weekly",
        "parameters": {"dataset": "orders", "seconds": 240, "records_per_hour": 20},
        "schedule": {"cron": "0 12 * * TUE", "timezone": NEW_YORK},
        "lane": "long",
        "window": "week",
        "partitions": {"by": "day", "at_once": 2},
        "resources": {"vcpu": 0.5, "memory_mb": 1024},
        "deadline": {"by": {"cron": "0 0 * * WED", "timezone": NEW_YORK}},
        "priority": "high",
        "tags": {"dataset": "orders"},
    },
    {
        "name": "refunds-week",
        "task": "steps",
        "parameters": {"seconds": [15] * 40},
        "schedule": {"cron": "0 14 * * TUE", "timezone": NEW_YORK},
        "lane": "long",
        "resources": {"vcpu": 0.5, "memory_mb": 1024},
        "expected_seconds": 600,
        "deadline": {"within_seconds": 600},
        "tags": {"dataset": "refunds"},
    },
    {
        "name": "orders-landing",
        "task": "sleep",
        "parameters": {"seconds": 6},
        "schedule": {"cron": "*/2 * * * *"},
        "deadline": {"within_seconds": 60},
        "tags": {"dataset": "orders"},
    },
    {
        "name": "orders-freshness",
        "task": "sleep",
        "parameters": {"seconds": 3},
        "schedule": {"cron": "*/2 * * * *"},
        "depends_on": [{"job": "orders-landing"}],
        "tags": {"dataset": "orders"},
    },
    {
        "name": "orders-score",
        "task": "gather",
        "schedule": {"cron": "*/2 * * * *"},
        "depends_on": [{"job": "orders-freshness"}],
        "tags": {"dataset": "orders"},
    },
    {
        "name": "fx-rates",
        "task": "echo",
        "parameters": {"EUR/USD": 1.08},
        "schedule": {"every_seconds": 60},
        "priority": "high",
        "deadline": {"within_seconds": 30},
    },
    {
        "name": "partner-feed-eu",
        "task": "fail",
        "parameters": {"times": 9},
        "schedule": {"cron": "*/3 * * * *", "timezone": "Europe/Berlin"},
        "retry": {"max_attempts": 2, "backoff_seconds": 5},
        "tags": {"dataset": "partners"},
    },
    {
        "name": "ledger-close",
        "task": "steps",
        "parameters": {"seconds": [2, 2, 2]},
        "schedule": {"cron": "15 20 * * MON-FRI", "timezone": NEW_YORK},
        "deadline": {"within_seconds": 2700},
        "priority": "high",
    },
    {
        "name": "inventory-snapshot",
        "task": "sleep",
        "parameters": {"seconds": 20},
        "schedule": {"cron": "10 21 * * *", "timezone": NEW_YORK, "skip": ["weekends"]},
        "priority": "low",
    },
    {
        "name": "checkout-events",
        "task": "queue.process",
        "schedule": {"queue": True},
        "priority": "low",
        "tags": {"dataset": "checkout"},
    },
)
BACKFILLED = {"weekly-quality-orders": timedelta(weeks=WEEKS), "ledger-close": timedelta(days=14)}
RUN_NOW = ("refunds-week", "inventory-snapshot")


class DemoFailed(LocalError):
    """A request of the demo was refused."""


class Demo:
    def __init__(self, stack: dict[str, Any], now: datetime | None = None) -> None:
        self._api = stack["api_url"]
        self._token = stack["tokens"]["operator"]
        self._now = now or datetime.now(UTC)

    def fill(self, progress: Progress) -> int:
        """Submit the jobs that are missing, and return their number. New ones get a history, runs and messages."""
        with progress.step(f"{len(JOBS)} jobs"):
            ids = self._submit()
        if not ids:
            return 0
        with progress.step("a history of weeks"):
            for name in BACKFILLED.keys() & ids.keys():
                span = {"from": _text(self._now - BACKFILLED[name]), "to": _text(self._now), "at_once": 2}
                self._request("POST", f"/jobs/{ids[name]}/backfill", span)
        with progress.step("manual runs and messages"):
            for name in set(RUN_NOW) & ids.keys():
                self._request("POST", f"/jobs/{ids[name]}/run", {})
            if "checkout-events" in ids:
                self._request("POST", f"/jobs/{ids['checkout-events']}/messages", {"messages": list(_messages())})
        return len(ids)

    def _submit(self) -> dict[str, str]:
        """The ids of the jobs that are new, by name."""
        jobs = [{**job, "dedupe_key": f"demo/{job['name']}", "on_duplicate": "return_existing"} for job in JOBS]
        entries = self._request("POST", "/jobs/batch", {"jobs": jobs})["items"]
        return {str(one["name"]): str(one["job_id"]) for one in entries if one["created"]}

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(self._api + path, data, headers, method=method)) as answer:
                return json.load(answer)
        except HTTPError as error:
            if error.code == HTTPStatus.UNAUTHORIZED:
                raise DemoFailed("The demo user's token has expired: run `make up` again.") from error
            raise DemoFailed(f"{method} {path} was refused: {error.read().decode()[:1000]}") from error


def _messages() -> Iterator[dict[str, Any]]:
    for number in range(MESSAGES):
        records = [{"id": number, "amount": number % 7 or None}] * 5
        payload = {"records": records, "required_fields": ["id", "amount"], "seconds_per_record": 2}
        yield {"payload": payload, "message_id": f"checkout-{number}"}


def _text(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
