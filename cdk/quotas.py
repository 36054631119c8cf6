"""Settings that fit the quotas of an account: a new account allows much less than the defaults need."""

from dataclasses import asdict, dataclass, replace
from typing import Self

from cdk.settings import Settings, WorkerConcurrency

OTHER_FUNCTIONS = 10
"""Concurrent invocations that the functions other than the workers need at least."""
LEAST_PER_QUEUE = 2
"""Lambda accepts no lower maximum concurrency of a queue."""


@dataclass(frozen=True)
class Quotas:
    """What the account allows. `None` means unknown: the settings are used unchanged."""

    lambda_concurrency: int | None = None
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
    """The settings with the concurrency of the workers, and the size of the long lane, that the quotas allow."""
    if quotas.lambda_concurrency is not None:
        settings = replace(settings, concurrency=_scaled(settings.concurrency, quotas.lambda_concurrency))
    if quotas.fargate_vcpus is not None:
        vcpus = max(1, min(settings.long.vcpus, quotas.fargate_vcpus))
        settings = replace(settings, long=replace(settings.long, vcpus=vcpus))
    return settings


def _scaled(wanted: WorkerConcurrency, quota: int) -> WorkerConcurrency:
    """The concurrency of each queue, reduced in proportion so that the other functions keep their part of the quota."""
    each = {name: getattr(wanted, name) for name in ("high", "normal", "low", "intake")}
    available, total = quota - OTHER_FUNCTIONS, sum(each.values())
    if total <= available:
        return wanted
    return WorkerConcurrency(**{name: max(LEAST_PER_QUEUE, one * available // total) for name, one in each.items()})
