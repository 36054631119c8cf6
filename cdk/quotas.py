"""Settings that fit the quotas of an account: a new account allows much less than the defaults need."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Self

from cdk.settings import Settings, WorkerConcurrency

OTHER_FUNCTIONS = 10
"""Concurrent invocations that functions without a reservation need at least, besides the workers and the intake."""
LEAST_PER_QUEUE = 2
"""Lambda accepts no lower maximum concurrency of a queue."""
UNRESERVED = 100
"""Lambda accepts no reservation that leaves less to the functions without one."""
SPARE_TICKS = 10
RESERVABLE = ("dispatcher", "planner", "settler", "api", "worker")
"""The functions that get concurrency of their own, the most important first."""


@dataclass(frozen=True)
class Quotas:
    """What the account allows. `None` means unknown: the settings are used unchanged, and nothing is reserved."""

    lambda_concurrency: int | None = None
    """Without what functions outside of the stack have reserved."""
    fargate_vcpus: int | None = None

    @classmethod
    def of(cls, lambda_concurrency: str | None, fargate_vcpus: str | None) -> Self:
        """The quotas that the context of the CDK states."""
        return cls(*(int(one) if one else None for one in (lambda_concurrency, fargate_vcpus)))

    @property
    def context(self) -> dict[str, str]:
        """The quotas as context of the CDK."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


def fitted(settings: Settings, quotas: Quotas) -> Settings:
    """The settings with the concurrency of the functions, and the size of the long lane, that the quotas allow.

    The functions that plan and start executions get theirs first, then the workers: tasks cannot starve them.
    """
    if quotas.lambda_concurrency is not None:
        quota = quotas.lambda_concurrency
        wanted = _of_engine(settings)
        available = quota - OTHER_FUNCTIONS - sum(_reserved(wanted, settings, quota).values())
        settings = replace(settings, concurrency=_scaled(settings.concurrency, available))
        settings = replace(settings, reserved=_reserved(wanted_reservations(settings), settings, quota))
    if quotas.fargate_vcpus is not None:
        vcpus = max(1, min(settings.long.vcpus, quotas.fargate_vcpus))
        settings = replace(settings, long=replace(settings.long, vcpus=vcpus))
    return settings


def wanted_reservations(settings: Settings) -> dict[str, int]:
    """The reservation of each function. It is also the maximum, so it covers all that the function can use.

    The pollers of a queue are never throttled if the workers have a reservation for all of them.
    """
    concurrency = settings.concurrency
    return {**_of_engine(settings), "worker": concurrency.high + concurrency.normal + concurrency.low}


def needed_quota(settings: Settings) -> int:
    """The quota that allows all reservations and the concurrency of the settings."""
    others = max(UNRESERVED, settings.concurrency.intake + OTHER_FUNCTIONS)
    return sum(_at_least_provisioned(wanted_reservations(settings), settings).values()) + others


def _of_engine(settings: Settings) -> dict[str, int]:
    # The stream of a new table has four shards, and more with its throughput, as the timers have.
    batches = 2 * max(2, settings.timer_shards) * settings.stream_parallelization
    return {
        "dispatcher": settings.timer_shards + SPARE_TICKS,
        "planner": 3 * batches,  # three streams
        "settler": batches,
        "api": max(1, settings.requests_per_second // 2),  # at the permitted rate, half a second for each request
    }


def _at_least_provisioned(wanted: Mapping[str, int], settings: Settings) -> dict[str, int]:
    """Lambda accepts no reservation below the number of provisioned instances."""
    return {name: max(one, getattr(settings.provisioned, name, 0)) for name, one in wanted.items()}


def _reserved(wanted: Mapping[str, int], settings: Settings, quota: int) -> dict[str, int]:
    """Those of the reservations that fit, each as a whole or not at all: a smaller one would throttle the function."""
    left, reserved = quota - UNRESERVED, {}
    for name, one in _at_least_provisioned(wanted, settings).items():
        if one <= left:
            reserved[name] = one
        left -= reserved.get(name, getattr(settings.provisioned, name, 0))
    return reserved


def _scaled(wanted: WorkerConcurrency, available: int) -> WorkerConcurrency:
    """The concurrency of each queue, reduced in proportion to what is available to them together."""
    each = {name: getattr(wanted, name) for name in ("high", "normal", "low", "intake")}
    total = sum(each.values())
    if total <= available:
        return wanted
    return WorkerConcurrency(**{name: max(LEAST_PER_QUEUE, one * available // total) for name, one in each.items()})
