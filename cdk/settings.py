"""What a stage decides: sizes, who is alerted, for which platform wheels are fetched, how long things are kept.

Everything else is the same code on every stage. Choose one with `cdk deploy -c stage=local`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from aws_cdk import Duration
from aws_cdk import aws_logs as logs

from cdk.addresses import read_address


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

    @property
    def as_json(self) -> str:
        """By queue, as functions read it from their environment."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, kw_only=True)
class LongLane:
    """How much may run in containers at once. What does not fit waits, and the least lax goes first."""

    vcpus: int
    """All containers together; keep it below the account's quota of Fargate vCPUs, which counts Spot apart."""
    tasks: int
    """Containers at once, however small they are."""
    starts_per_second: int
    """ECS accepts 20 a second for the whole account: leave some to others."""
    heartbeat_seconds: int
    """How often a container says that it lives. One that is silent for three of these is taken for dead."""
    image: str | None
    """The image of Punctual's own runner; `None` builds it from the Dockerfile, which takes Docker."""
    images: Mapping[str, str]
    """Images that jobs may name instead, by that name; built for the same architecture as the functions."""
    events_from: tuple[str, ...]
    """The sources of events that are believed when they tell of a container."""

    def __post_init__(self) -> None:
        for name in self.images:
            if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name) or name == "runner":
                raise ValueError(f"no name for an image: {name!r}; use small letters, digits and hyphens, not 'runner'")


@dataclass(frozen=True, kw_only=True)
class Alerts:
    """Who is told, from when on a backlog is too large, and where the runbook is."""

    page: tuple[str, ...]
    """Who has to act now: each `mailto:someone@example.com`, `https://…`, or the ARN of an SQS queue."""
    notice: tuple[str, ...]
    """Who wants to know, in the same forms."""
    backlog_minutes: int
    """A short queue that takes longer than this to work off what waits in it is too large."""
    backlog_messages: int
    """So is one in which more than this wait, however fast they go."""
    runbook: str
    """Where your people read docs/operations.md, best as an https:// address. Each alarm links to its section."""

    def __post_init__(self) -> None:
        for setting, addresses in (("alerts.page", self.page), ("alerts.notice", self.notice)):
            for address in addresses:
                read_address(setting, address)
                if addresses.count(address) > 1:
                    raise ValueError(f"{setting}: {address!r} is there twice; once is enough")
        for setting, limit in (("minutes", self.backlog_minutes), ("messages", self.backlog_messages)):
            if limit < 1:
                raise ValueError(f"alerts.backlog_{setting}: {limit} is no limit; use a whole number of at least 1")


@dataclass(frozen=True, kw_only=True)
class Settings:
    stage: str
    platform: Platform
    concurrency: Concurrency
    long: LongLane
    alerts: Alerts
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
    long=LongLane(
        vcpus=4,
        tasks=8,
        starts_per_second=20,
        heartbeat_seconds=5,
        image="punctual-runner:local",
        images={"shell": "punctual-shell:local"},
        # The second is the process that stands in for Fargate: see local/fargate.py.
        events_from=("aws.ecs", "punctual.fargate"),
    ),
    alerts=Alerts(page=(), notice=(), backlog_minutes=1, backlog_messages=100_000, runbook="docs/operations.md"),
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
    long=LongLane(
        vcpus=256,
        tasks=256,
        starts_per_second=15,
        heartbeat_seconds=30,
        image=None,
        images={},
        events_from=("aws.ecs",),
    ),
    alerts=Alerts(page=(), notice=(), backlog_minutes=30, backlog_messages=100_000, runbook="docs/operations.md"),
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
