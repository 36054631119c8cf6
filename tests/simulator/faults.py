"""Faults: which go wrong in a run, and where. Every decision comes from the run's choices.

Each run enables some kinds of faults with a probability of its own: a run with few kinds goes deeper than one with all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.simulator.aws.client import Response
from tests.simulator.aws.errors import THROTTLED, ConnectionLost, ServiceError, conflict
from tests.simulator.choices import Choices
from tests.simulator.kernel import Kernel

LATENCIES = ((0.01, 0.01), (0.001, 0.05), (0.005, 1.0))
"""Between which limits the durations of requests are, in seconds. If all are equal, processes run in lockstep."""
DELAYS = (0.0, 0.3, 2.0, 9.0, 40.0, 130.0)
"""Seconds that some requests take longer: a slow network, a throttled client, a frozen process."""
LAGS = (1.0, 20.0, 90.0, 300.0)
"""How late a stream record or message may be delivered, in seconds."""
PROBABILITIES = (0.0, 0.01, 0.04, 0.15)
MAX_SKEW_MS = 2000
KINDS = (
    *("delay", "kill", "lost", "throttle", "lag", "duplicate", "reorder", "tick", "skew", "stale", "deploy", "abort"),
    "conflict",
)
READS = ("query", "get_", "batch_get_", "list_", "describe_", "put_metric_data")
"""Operations that the trace leaves out, unless they fail."""
CONFLICTING = frozenset({"put_item", "update_item", "delete_item", "transact_write_items"})
"""Operations that DynamoDB refuses while a transaction writes the same item."""


@dataclass
class Faults:
    kernel: Kernel
    choices: Choices
    without: frozenset[str] = frozenset()
    """Kinds that never take place."""
    enabled: bool = True
    counts: dict[str, int] = field(default_factory=dict)
    """How often each kind of fault took place."""

    def __post_init__(self) -> None:
        self.last_until = self.kernel.now
        """When the last delay ends, of a delivery or of a process: perhaps after faults are disabled."""
        self.probability = {kind: self.choices.any(f"faults/{kind}", PROBABILITIES) for kind in KINDS}
        self.probability |= dict.fromkeys(self.without, 0.0)
        self._latency = self.choices.any("faults/latency", LATENCIES)

    def happens(self, kind: str, where: str) -> bool:
        return self._count(kind, self.enabled and self.choices.happens(f"{kind}/{where}", self.probability[kind]))

    def lag(self, where: str) -> float:
        """Seconds that a delivery is late."""
        if not self.enabled:
            return 0.0
        lag = self.choices.pick(f"lag/{where}", (0.0, *LAGS), self.probability["lag"])
        self._count("lag", lag > 0)
        self._lasts(lag)
        return lag

    def skew(self, where: str) -> timedelta:
        """How much the clock of a new process is wrong."""
        if not self.enabled or not self.probability["skew"]:
            return timedelta()
        offset = self.choices.pick(f"skew/{where}", (0, -MAX_SKEW_MS, -700, 700, MAX_SKEW_MS), 0.3)
        self._count("skew", offset != 0)
        return timedelta(milliseconds=offset)

    def before_call(self, service: str, operation: str, parameters: dict[str, Any]) -> None:
        """Suspend the running process, and perhaps kill it or reject its request."""
        process = self.kernel.current
        if process is None:
            return
        where = process.name
        if process.is_dead:
            process.die()
        process.calls += 1
        delay = 0.0
        if self.enabled:
            delay = self.choices.pick(f"delay/{where}", DELAYS, self.probability["delay"])
            self._count("delay", delay > 0)
            self._lasts(delay)
        process.suspend(self._draw_latency(where) + delay)
        if self.happens("kill", where):
            process.kill(f"before {service}.{operation}")
        if self.happens("throttle", where):
            self.kernel.log(f"{where}: {service}.{operation} is throttled")
            raise ServiceError(THROTTLED, "Rate exceeded")
        if operation in CONFLICTING and self.happens("conflict", where):
            self.kernel.log(f"{where}: {service}.{operation} conflicts with a transaction")
            raise conflict(parameters.get("TransactItems"))

    def _draw_latency(self, where: str) -> float:
        """How long a request of a process takes: between the limits of the run, and mostly near the lower one."""
        shortest, longest = self._latency
        if longest == shortest:
            return shortest
        return shortest * float((longest / shortest) ** self.choices.number(f"latency/{where}"))

    def after_call(
        self, service: str, operation: str, parameters: dict[str, Any], outcome: Response | ServiceError
    ) -> None:
        """Perhaps kill the process after the request has taken effect, or lose the response."""
        del parameters
        process = self.kernel.current
        if process is None:
            return
        is_plain_read = operation.startswith(READS) and not isinstance(outcome, ServiceError)
        if self.kernel.tracing and not is_plain_read:
            result = f" → {outcome.code}" if isinstance(outcome, ServiceError) else ""
            self.kernel.log(f"{process.name}: {service}.{operation}{result}")
        if self.happens("kill", f"after/{process.name}"):
            process.kill(f"after {service}.{operation}")
        if not isinstance(outcome, ServiceError) and self.happens("lost", process.name):
            self.kernel.log(f"{process.name}: the response of {service}.{operation} is lost")
            raise ConnectionLost

    def stale_writes(self, table: str, index: str | None) -> int:
        """How many of the last writes an eventually consistent read does not see."""
        if not self.enabled or not self.probability["stale"]:
            return 0
        writes = self.choices.pick(f"stale/{table}/{index}", (0, 1, 3, 12), self.probability["stale"])
        self._count("stale", writes > 0)
        return writes

    def _lasts(self, seconds: float) -> None:
        self.last_until = max(self.last_until, self.kernel.now + timedelta(seconds=seconds))

    def _count(self, kind: str, happened: bool) -> bool:
        if happened:
            self.counts[kind] = self.counts.get(kind, 0) + 1
        return happened
