"""The users of a run: random requests to the API, each in a process of its own, and messages to the intake queue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from punctual.domain.instant import to_text
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, LIVE_STATUSES, Status
from tests.simulator import bulk
from tests.simulator.event_sources import Invoker
from tests.simulator.kernel import Process
from tests.simulator.observer import Observer
from tests.simulator.rare_requests import RARE_REQUESTS, rename, vary

INTERVALS = (60, 30, 90, 300, 900)
RECURRING: tuple[dict[str, Any], ...] = (
    *({"every_seconds": seconds} for seconds in INTERVALS),
    {"every_seconds": 60, "max_runs": 3},
    {"every_seconds": 90, "jitter_seconds": 40},
    {"cron": "* * * * *"},
    {"cron": "*/7 * * * *"},
)
RARE: tuple[dict[str, Any], ...] = ({"every_seconds": 300}, {"every_seconds": 900}, {"cron": "*/7 * * * *"})
"""For long jobs: the lane has few slots, and none of them may wait for ever."""
OVERLAPS = ("skip", "allow", "queue_one", "queue_all", "cancel_running")
KEYS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"key": "k", "limit": 1},
    {"key": "k", "limit": 2},
    {"key": "k", "rate": {"starts": 2, "per_seconds": 10}},
    {"key": "k", "limit": 1, "rate": {"starts": 4, "per_seconds": 20}},
)
RETRIES = (
    {"max_attempts": 3, "backoff_seconds": 5, "max_backoff_seconds": 5},
    {"max_attempts": 1},
    {"max_attempts": 2, "backoff_seconds": 60, "max_backoff_seconds": 60},
)
LONG_BACKOFF = {"max_attempts": 2, "backoff_seconds": 600, "max_backoff_seconds": 600}
"""For long jobs: short ones that come due more often than that would never end."""
MISFIRES = tuple(
    {"policy": policy, "grace_seconds": grace} for policy in ("run_latest", "run_all", "skip") for grace in (300, 45, 0)
)
MESSAGE_MISFIRES = (None, {"policy": "run_all"}, {"policy": "skip"})
BATCHES: tuple[dict[str, Any], ...] = (
    {},
    {"resources": {"vcpu": 4}},
    {"partitions": {"count": 2, "at_once": 1}},
    {"partitions": {"count": 3}, "resources": {"vcpu": 2}},
    {"preemptible": True, "resources": {"vcpu": 4}, "expected_seconds": 60, "deadline": {"within_seconds": 7200}},
    {"resources": {"vcpu": 2}, "expected_seconds": 60, "deadline": {"within_seconds": 300}},
)
CONDITIONS = ("succeeded", "finished", "failed")
GAPS = (15, 1, 3, 40, 90, 240)
"""Seconds between two requests."""
MAX_JOBS = 4
RETRIED_ANSWERS = {429, 500, 502, 503}
REPEAT_DELAY = 7.0
"""Seconds after which a client repeats a request that was not answered."""


@dataclass
class Operator:
    invoker: Invoker
    observer: Observer
    actions: int
    """How many requests it makes."""
    is_done: bool = False
    answers: list[tuple[str, int, Any]] = field(default_factory=list)
    """Method and path, status and body of every answered request."""
    messages: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        some = self.invoker.faults.choices.some
        self._actions = some("operator/actions", ACTIONS)
        self._overlaps = some("operator/overlaps", OVERLAPS)
        self._recurring = some("operator/recurring", RECURRING)
        self._keys = some("operator/keys", KEYS)
        self._lanes = some("operator/lanes", ("short", "short", "long"))
        self._is_bulky = self.invoker.faults.choices.any("operator/bulky", (False, False, False, True))
        self._is_varied = self.invoker.faults.choices.any("operator/varied", (False, True))

    def start(self) -> None:
        for number in range(self.choose("jobs", (2,))):
            self._submit(f"0.{number}")
        self._schedule(0)

    def _schedule(self, number: int) -> None:
        if number == self.actions:
            self.is_done = True
            return
        self.invoker.kernel.after(self.choose(f"{number}/gap", GAPS), partial(self._act, number))

    def _act(self, number: int) -> None:
        act = self.choose(f"{number}/action", (Operator._wait, *self._actions))
        act(self, str(number))
        if self._is_varied and (request := self.choose(f"{number}/rare", RARE_REQUESTS)):
            request(self, f"{number}/rare")
        if self._is_bulky and (request := self.choose(f"{number}/bulk", bulk.REQUESTS)):
            request(self, f"{number}/bulk")
        self._schedule(number + 1)

    # requests

    def _wait(self, where: str) -> None:
        """Make no request."""

    def _submit(self, where: str) -> None:
        if len(self.observer.jobs) >= MAX_JOBS:
            return
        job = self._job(where)
        if self.choose(f"{where}/dependant", (False, False, False, True)):
            dependency = {"job": f"first {where}", "condition": self.choose(f"{where}/condition", CONDITIONS)}
            second = {**job, "name": f"second {where}", "depends_on": [dependency]}
            self.keyed("POST", "/jobs/batch", {"jobs": [{**job, "name": f"first {where}"}, second]})
        else:
            self.submit(job)

    def _job(self, where: str) -> dict[str, Any]:
        lane = self.choose(f"{where}/lane", self._lanes)
        once = (None, {"in_seconds": 70}, {"in_seconds": 600})
        schedules = (*RARE, *once) if lane == "long" else (*self._recurring, *self._recurring, *once, {"queue": True})
        schedule = self.choose(f"{where}/schedule", schedules)
        if schedule and "in_seconds" in schedule:
            at = self.invoker.kernel.now + timedelta(seconds=schedule["in_seconds"])
            schedule = {"at": to_text(at.replace(microsecond=0))}
        job: dict[str, Any] = {
            "task": "echo",
            "overlap": self.choose(f"{where}/overlap", self._overlaps),
            "retry": self.choose(f"{where}/retry", (*RETRIES, LONG_BACKOFF) if lane == "long" else RETRIES),
            "schedule": schedule,
            "concurrency": self.choose(f"{where}/key", self._keys),
            "priority": self.choose(f"{where}/priority", ("normal", "normal", "high", "low")),
            "timeout_seconds": self.choose(f"{where}/timeout", (None, None, None, 60)),
        }
        if schedule:
            rules = MESSAGE_MISFIRES if schedule.get("queue") else MISFIRES
            job["misfire"] = self.choose(f"{where}/misfire", rules)
        if lane == "long":
            job |= {"lane": "long", **self.choose(f"{where}/batch", BATCHES)}
        if self._is_varied:
            job = vary(job, self.invoker.kernel.now, partial(self._choose_within, where))
        return {name: value for name, value in job.items() if value is not None}

    def submit(self, job: dict[str, Any]) -> None:
        self.keyed("POST", "/jobs", job)

    def _edit(self, where: str) -> None:
        jobs = list(self.observer.jobs)
        if not jobs:
            return
        job_id = self.choose(f"{where}/job", jobs)
        schedules = RARE if self.observer.jobs[job_id][-1].job.lane is Lane.LONG else self._recurring
        values: dict[str, Any] = {
            "schedule": self.choose(f"{where}/schedule", schedules),
            "overlap": self.choose(f"{where}/overlap", self._overlaps),
            "parameters": {"n": 1},
            "concurrency": self.choose(f"{where}/key", self._keys),
            "misfire": self.choose(f"{where}/misfire", MISFIRES),
            "priority": self.choose(f"{where}/priority", ("normal", "high", "low")),
            "depends_on": [],
        }
        name = self.choose(f"{where}/change", tuple(values))
        change = {name: values[name]}
        if self._is_varied:
            change = rename(change, partial(self._choose_within, where))
        self.request("PATCH", f"/jobs/{job_id}", change)

    def _pause(self, where: str) -> None:
        self._of_job(where, "POST", "/pause")

    def _resume(self, where: str) -> None:
        self._of_job(where, "POST", "/resume")

    def _cancel_job(self, where: str) -> None:
        if len(self.observer.jobs) > 1:
            self._of_job(where, "PUT", "/cancel")

    def _delete(self, where: str) -> None:
        if len(self.observer.jobs) > 1:
            self._of_job(where, "DELETE", "")

    def _run(self, where: str) -> None:
        if jobs := list(self.observer.jobs):
            self.keyed("POST", f"/jobs/{self.choose(f'{where}/job', jobs)}/run", {})

    def _retry(self, where: str) -> None:
        if name := self._execution(where, FINAL - {Status.SUCCEEDED}):
            send = self.choose(f"{where}/keyed", (self.keyed, self.request))
            send("POST", f"/executions/{name}/retry", {})

    def _cancel(self, where: str) -> None:
        if name := self._execution(where, LIVE_STATUSES):
            grace = self.choose(f"{where}/grace", (30, 0))
            self.request("PUT", f"/executions/{name}/cancel?grace_seconds={grace}")

    def _backfill(self, where: str) -> None:
        self._of_job(where, "POST", "/backfill", self.backfill_range(where))

    def backfill_range(self, where: str) -> dict[str, Any]:
        until = self.invoker.kernel.now
        since = until - timedelta(minutes=self.choose(f"{where}/minutes", (3, 1, 6)))
        which = self.choose(f"{where}/which", ("missing", "all"))
        order = self.choose(f"{where}/order", ("oldest_first", "newest_first"))
        span = {"from": to_text(since), "to": to_text(until), "which": which, "order": order}
        return span | self.choose(f"{where}/at_once", ({}, {"at_once": 1}, {"at_once": 2}))

    def _send_messages(self, where: str) -> None:
        jobs = [job_id for job_id, versions in self.observer.jobs.items() if versions[-1].job.schedule.kind == "queue"]
        for _ in range(self.choose(f"{where}/count", (1, 3)) if jobs else 0):
            self.messages += 1
            body = json.dumps({**self._named(jobs[0], where), "payload": {"n": self.messages}})
            sqs = self.invoker.deployment.account.sqs
            sent = sqs.send_message(QueueUrl=self.invoker.deployment.queue_urls["intake"], MessageBody=body)
            self.observer.messages[sent["MessageId"]] = body
        self.observer.poll()

    def _named(self, job_id: str, where: str) -> dict[str, str]:
        """How a message names its job: by its id, or by the name that it has just now."""
        job = self.observer.jobs[job_id][-1].job
        is_by_name = self._is_varied and job.name and self.choose(f"{where}/by name", (False, True))
        return {"owner": job.owner, "name": job.name} if is_by_name and job.name else {"job_id": job_id}

    def _of_job(self, where: str, method: str, suffix: str, body: Any = None) -> None:
        jobs = list(self.observer.jobs)
        if jobs:
            self.request(method, f"/jobs/{self.choose(f'{where}/job', jobs)}{suffix}", body)

    def _execution(self, where: str, statuses: frozenset[Status]) -> str | None:
        names = [one.execution_id for one in self.observer.executions.values() if one.status in statuses]
        return self.choose(f"{where}/execution", names) if names else None

    def choose(self, stream: str, options: Any) -> Any:
        return self.invoker.faults.choices.any(f"operator/{stream}", options)

    def _choose_within(self, where: str, name: str, options: Any) -> Any:
        return self.choose(f"{where}/{name}", options)

    def keyed(self, method: str, path: str, body: Any) -> None:
        """Send a request with an ``Idempotency-Key``, and repeat it until it is answered."""
        key = f"key-{next(self._numbers)}"
        self._send(method, path, body, key)

    def _send(self, method: str, path: str, body: Any, key: str) -> None:
        def answered(process: Process) -> None:
            self.observer.stored_under(key, None if "which" in body else len(body.get("jobs", [body])))
            if process.is_dead or (process.result or {}).get("statusCode") in RETRIED_ANSWERS:
                self.invoker.kernel.after(REPEAT_DELAY, partial(self._send, method, path, body, key))
            else:
                self._answered(f"{method} {path}", process)

        self.request(method, path, body, key, answered)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str | None = None,
        ends: Callable[[Process], None] | None = None,
    ) -> None:
        text = json.dumps(body) if body is not None else None
        self.invoker.kernel.log(f"{method} {path} {text or ''} {key or ''}")
        self.invoker.invoke("api", event(method, path, text, key), ends or partial(self._answered, f"{method} {path}"))

    def _answered(self, request: str, process: Process) -> None:
        if process.is_dead:
            return
        if process.error is not None:
            raise AssertionError(f"{request}: {process.error!r}")
        status, text = process.result["statusCode"], process.result.get("body")
        self.invoker.kernel.log(f"{request}: {status}")
        self.observer.coverage.counts[f"answered {status // 100}xx"] += 1
        self.answers.append((request, status, json.loads(text) if text else None))


ACTIONS: tuple[Callable[[Operator, str], None], ...] = (
    Operator._submit,
    Operator._edit,
    Operator._edit,
    Operator._edit,
    Operator._pause,
    Operator._resume,
    Operator._resume,
    Operator._run,
    Operator._run,
    Operator._retry,
    Operator._backfill,
    Operator._cancel,
    Operator._cancel,
    Operator._cancel_job,
    Operator._delete,
    Operator._send_messages,
)


def event(
    method: str, path: str, body: str | None, key: str | None = None, groups: str = "operator team:team"
) -> dict[str, Any]:
    """The event that API Gateway passes to the api function."""
    path, _, query = path.partition("?")
    claims = {"token_use": "access", "username": f"{groups.partition(' ')[0]}@team", "cognito:groups": f"[{groups}]"}
    headers = {"content-type": "application/json"} | ({"idempotency-key": key} if key else {})
    request = {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1", "userAgent": "simulated"},
            "requestId": "simulated",
            "stage": "$default",
            "authorizer": {"jwt": {"claims": claims}},
        },
        "isBase64Encoded": False,
    }
    if query:
        request["queryStringParameters"] = dict(parse_qsl(query, keep_blank_values=True))
    return request | ({"body": body} if body is not None else {})
