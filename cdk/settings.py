"""What a stage decides: sizes, for which platform wheels are fetched, and how long things are kept.

Everything else is the same code on every stage. Choose one with `cdk deploy -c stage=local`.
"""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_logs as logs


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Where the functions run, hence which wheels their layer needs."""

    architecture: str
    """`arm64` or `x86_64`, as Lambda spells it."""
    wheels: str | None
    """The platform tag of the wheels; `None` takes those of the machine that builds."""


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    """How many functions may work on each queue at once. Lambda asks for at least 2."""

    high: int
    normal: int
    low: int
    intake: int


@dataclass(frozen=True, kw_only=True)
class Settings:
    stage: str
    platform: Platform
    concurrency: Concurrency
    timer_shards: int
    """Parallel sweeps of the timers: one carries about 150 timers a second."""
    stream_parallelization: int
    """Concurrent batches per stream shard; items with the same key still stay in order."""
    retention_days: int
    """How long executions and results are kept after they ended."""
    log_retention: logs.RetentionDays
    requests_per_second: int
    request_burst: int
    token_validity: Duration
    password_sign_in: bool
    """Whether a client may trade user name and password for tokens without SRP: for demo users only."""
    keep_data: bool
    """Whether tables, results and users survive the deletion of the stack."""


LOCAL = Settings(
    stage="local",
    platform=Platform(architecture="x86_64", wheels=None),
    concurrency=Concurrency(high=10, normal=10, low=4, intake=2),
    timer_shards=1,
    stream_parallelization=1,
    retention_days=30,
    log_retention=logs.RetentionDays.ONE_WEEK,
    requests_per_second=1000,
    request_burst=2000,
    token_validity=Duration.hours(24),
    password_sign_in=True,
    keep_data=False,
)

PROD = Settings(
    stage="prod",
    platform=Platform(architecture="arm64", wheels="aarch64-manylinux2014"),
    concurrency=Concurrency(high=200, normal=100, low=20, intake=20),
    timer_shards=1,
    stream_parallelization=4,
    retention_days=90,
    log_retention=logs.RetentionDays.ONE_MONTH,
    requests_per_second=200,
    request_burst=400,
    token_validity=Duration.hours(1),
    password_sign_in=False,
    keep_data=True,
)


def for_stage(name: str) -> Settings:
    """The settings of the stage called `name`; raises `ValueError` for a stage that does not exist."""
    stages = {settings.stage: settings for settings in (LOCAL, PROD)}
    if name not in stages:
        raise ValueError(f"no stage {name!r}: choose one of {', '.join(sorted(stages))}")
    return stages[name]
