"""Punctual's real functions, deployed to the modelled account: handlers, stages and adapters run unchanged.

Replaced is only what they get from outside: the AWS clients, the clock, sleeping, random numbers and secrets.
"""

from __future__ import annotations

import importlib
import logging
import os
import random
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from punctual.aws import clients, throttling
from punctual.aws.cloudwatch.metrics import CloudWatchMetrics
from punctual.aws.dynamodb import executions
from punctual.domain import instant
from tests.resources import TOPICS, create_tables, environment, queue_names
from tests.simulator.aws.account import Account
from tests.simulator.aws.others import Sts
from tests.simulator.kernel import Kernel

FUNCTIONS = Path(__file__).parents[2] / "functions"
TIMEOUTS = {
    "api": 29,
    "planner": 120,
    "dispatcher": 55,
    "worker": 900,
    "intake": 30,
    "settler": 60,
    "conductor": 60,
    "admission": 55,
    "reporter": 30,
    "observer": 30,
    "reconciler": 300,
    "monitor": 55,
    "notifier": 30,
    "bulk": 60,
}
"""The timeout of each function in seconds."""
TICKS = "ticks"
PARTS = (*TIMEOUTS, TICKS)
"""What a deployment replaces: the functions, and the schedules of the dispatcher."""
VISIBILITY = {"high": 960, "normal": 960, "low": 960}
"""The visibility timeout of each queue in seconds; 180 for all others."""
MAX_RECEIVES = 100
STATELESS = frozenset({"answers", "bodies", "body_fields", "json_body", "strictness", "views"})
"""The data models of the api. They take ten times as long to import as all other modules of a function."""
OF_ONE_ENVIRONMENT = frozenset(path.stem for path in FUNCTIONS.glob("*/*")) - STATELESS
AWS_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "simulated",
    "AWS_SECRET_ACCESS_KEY": "simulated",
    "AWS_DEFAULT_REGION": "us-east-1",
}


class LambdaContext:
    """The context that Lambda passes to a handler."""

    function_name, aws_request_id = "simulated", "simulated"

    def __init__(self, kernel: Kernel, seconds: float) -> None:
        self._kernel, self._ends_at = kernel, kernel.clock() + timedelta(seconds=seconds)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - self._kernel.clock()).total_seconds() * 1000))


class Deployment:
    """The functions of one run. Each invocation has an execution environment of its own while it runs, as on Lambda."""

    def __init__(self, kernel: Kernel, account: Account) -> None:
        self.kernel, self.account = kernel, account
        create_tables(account.client("dynamodb"))
        for table in account.dynamodb.tables.values():
            table.ttl_attribute = "expires_at"
        sqs = account.client("sqs")
        self.queue_urls = {
            name: sqs.create_queue(QueueName=name, Attributes=_attributes(name))["QueueUrl"] for name in queue_names()
        }
        self._settings = environment(self.queue_urls, {name: f"arn:topic:{name}" for name in TOPICS})
        self._changed: dict[str, dict[str, str]] = {part: {} for part in PARTS}
        self.prepare: dict[str, Callable[[ModuleType], None]] = {}
        """By function: called with each new execution environment, before its first invocation."""
        self._warm: dict[str, list[ModuleType]] = {}

    def call(self, name: str, event: dict[str, Any]) -> Any:
        """Invoke a function in the current process."""
        warm = self._warm.setdefault(name, [])
        module = warm.pop() if warm else self._cold_start(name)
        try:
            return module.handler(event, LambdaContext(self.kernel, TIMEOUTS[name]))
        finally:  # also after a kill: nothing that a handler keeps depends on the invocation
            warm.append(module)

    def redeploy(self, settings: Mapping[str, str], parts: Iterable[str]) -> None:
        """Replace functions by ones with other settings.

        Invocations that run continue with the old ones, later ones start cold.
        """
        for part in parts:
            self._warm.pop(part, None)
            self._changed[part] |= settings

    @property
    def ticks(self) -> int:
        """The number of the dispatcher's ticks a minute."""
        return int((self._settings | self._changed[TICKS])["TIMER_SHARDS"])

    def _cold_start(self, name: str) -> ModuleType:
        """Import the handler of a function, with its own copy of the modules in the function's folder."""
        os.environ |= self._settings | self._changed[name]
        os.environ["DEAD_LETTER_QUEUE_URL"] = self.queue_urls.get(f"{name}-dead", "none")
        folder = str(FUNCTIONS / name)
        for module in [one for one in sys.modules if one.partition(".")[0] in OF_ONE_ENVIRONMENT]:
            del sys.modules[module]
        sys.path.insert(0, folder)
        try:
            handler = importlib.import_module("handler")
        finally:
            sys.path.remove(folder)
        if name in self.prepare:
            self.prepare[name](handler)
        return handler


@contextmanager
def installed(kernel: Kernel, account: Account) -> Iterator[Deployment]:
    """Deploy to ``account``, and replace what the functions get from outside until the block ends."""
    numbers = random.Random(0)

    def create_client(service: str, config: Any = None) -> Any:
        if service == "sts":
            return Sts()
        client = account.client(service, config)
        throttling.instrument(client)
        return client

    def sleep(seconds: float) -> None:
        process = kernel.current
        if process is not None:
            process.suspend(max(seconds, 0))

    def token_hex(size: int) -> str:
        return f"{numbers.getrandbits(8 * size):0{2 * size}x}"

    def map_in_any_order(act: Callable[[Any], Any], items: list[Any]) -> list[Any]:
        """Concurrent writes end in any order, and a crash leaves any of them out."""
        return [act(item) for item in numbers.sample(items, len(items))]

    clear_clients()
    logging.disable(logging.CRITICAL)
    with (
        mock.patch.dict(os.environ, AWS_ENVIRONMENT),
        mock.patch.object(clients, "_create_client", create_client),
        mock.patch.object(instant, "now", kernel.clock),
        mock.patch.object(time, "sleep", sleep),
        mock.patch.object(random, "uniform", lambda low, high: low + (high - low) * numbers.random()),
        mock.patch.object(secrets, "randbits", numbers.getrandbits),
        mock.patch.object(secrets, "token_hex", token_hex),
        mock.patch.object(secrets, "token_urlsafe", token_hex),
        mock.patch.object(CloudWatchMetrics, "log"),
        mock.patch.object(executions, "_map_concurrently", map_in_any_order),
        mock.patch.object(sys, "path", [str(FUNCTIONS.parent), *sys.path]),
    ):
        try:
            yield Deployment(kernel, account)
        finally:
            clear_clients()
            logging.disable(logging.NOTSET)


def clear_clients() -> None:
    for create in vars(clients).values():
        if hasattr(create, "cache_clear"):
            create.cache_clear()


def _attributes(queue: str) -> dict[str, str]:
    return {"VisibilityTimeout": str(VISIBILITY.get(queue, 180))}
