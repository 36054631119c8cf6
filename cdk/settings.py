"""Settings of each stage: capacity, subscribers of alerts, platform, retention.

Everything else is the same on every stage. Choose a stage with `cdk deploy -c stage=local`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_network

from aws_cdk import Duration
from aws_cdk import aws_logs as logs

from cdk.addresses import read_address


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The platform of the functions, which decides the wheels of their layer."""

    architecture: str
    """`arm64` or `x86_64`, in Lambda's spelling."""
    wheels: str | None
    """The platform tag of the wheels. `None` means the platform of the build machine."""


@dataclass(frozen=True, kw_only=True)
class WorkerConcurrency:
    """The maximum number of concurrent function instances per queue. Lambda requires at least 2."""

    high: int
    normal: int
    low: int
    intake: int

    @property
    def limits(self) -> dict[str, str]:
        """The environment variable of functions that need to know the concurrency of each queue."""
        return {"CONCURRENCY": json.dumps(asdict(self))}


@dataclass(frozen=True, kw_only=True)
class LongLane:
    """Limits of the long lane. Parts that exceed them wait for a slot, in order of laxity."""

    vcpus: int
    """Of all containers together. Keep it below the account's quota of Fargate vCPUs; Spot has a separate quota."""
    tasks: int
    """The maximum number of concurrent containers."""
    starts_per_second: int
    """ECS accepts 20 task starts per second for the whole account: leave some for other applications."""
    heartbeat_seconds: int
    """The heartbeat interval of a container. A container without a heartbeat for three intervals is considered dead."""
    image: str | None
    """The image of Punctual's own runner. `None` builds it from the Dockerfile, which requires Docker."""
    images: Mapping[str, str]
    """Alternative images, by the name that jobs use. They must be built for the architecture of the functions."""
    events_from: tuple[str, ...]
    """The accepted sources of ECS task state change events."""

    @property
    def limits(self) -> dict[str, str]:
        """The environment variables of functions that need to know how much may run at once."""
        return {"LONG_VCPUS": str(self.vcpus), "LONG_TASKS": str(self.tasks)}

    def __post_init__(self) -> None:
        for name in self.images:
            if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name) or name == "runner":
                raise ValueError(
                    f"long.images: {name!r} is not a valid name; use a-z, 0-9 and hyphens, but not 'runner'"
                )


@dataclass(frozen=True, kw_only=True)
class Alerts:
    """Subscribers of alerts, thresholds of the backlog alarms, and the address of the runbook."""

    page: tuple[str, ...]
    """Subscribers of urgent alerts: each `mailto:someone@example.com`, `https://…`, or the ARN of an SQS queue."""
    notice: tuple[str, ...]
    """Subscribers of other alerts, in the same forms."""
    backlog_minutes: int
    """The alarm threshold for the estimated time to drain a queue of the short lane."""
    backlog_messages: int
    """The alarm threshold for the number of messages in a queue of the short lane."""
    runbook: str
    """The address of docs/operations.md, preferably https://. Each alarm links to its section."""
    on_aws_metrics: bool = True
    """Whether alarms also watch metrics of AWS. The emulator evaluates such alarms wrongly: it ignores dimensions."""

    @property
    def backlog_limits(self) -> dict[str, str]:
        """The environment variables of functions that need to know when a backlog is too long."""
        return {"BACKLOG_MINUTES": str(self.backlog_minutes), "BACKLOG_MESSAGES": str(self.backlog_messages)}

    def __post_init__(self) -> None:
        for setting, addresses in (("alerts.page", self.page), ("alerts.notice", self.notice)):
            for address in addresses:
                read_address(setting, address)
                if addresses.count(address) > 1:
                    raise ValueError(f"{setting}: {address!r} is listed twice; remove one")
        for setting, limit in (("minutes", self.backlog_minutes), ("messages", self.backlog_messages)):
            if limit < 1:
                raise ValueError(f"alerts.backlog_{setting}: {limit} is not a limit; use an integer of at least 1")


@dataclass(frozen=True, kw_only=True)
class Settings:
    stage: str
    platform: Platform
    concurrency: WorkerConcurrency
    long: LongLane
    alerts: Alerts
    timer_shards: int
    """The number of parallel timer sweeps. One shard handles about 150 timers per second."""
    stream_parallelization: int
    """Concurrent batches per stream shard; items with the same key still stay in order."""
    retention_days: int
    """The retention of executions and results after their end."""
    log_retention: logs.RetentionDays
    requests_per_second: int
    request_burst: int
    token_validity: Duration
    password_sign_in: bool
    """Whether clients may sign in with user name and password without SRP: for demo users only."""
    is_emulated: bool
    """Whether the stack runs on the emulator, which serves the API below a path, and the sign-in page
    at its own address."""
    keep_data: bool
    """Whether tables, results and users survive the deletion of the stack."""
    http_call_networks: tuple[str, ...] = ()
    """Networks without public addresses that the task `http.call` may connect to, such as `10.1.0.0/16`."""

    email_sender: str | None = None
    """The address from which jobs send notices by e-mail: verify it, or its domain, in SES. `None` sends no e-mail."""

    @property
    def of_email(self) -> dict[str, str]:
        """The environment variable of functions that check or use the sender of e-mail."""
        return {"EMAIL_SENDER": self.email_sender or ""}

    @property
    def of_tasks(self) -> dict[str, str]:
        """The environment variables that tasks read, in both lanes."""
        return {"HTTP_CALL_NETWORKS": ",".join(self.http_call_networks)} if self.http_call_networks else {}

    def api_path(self, api_id: str) -> str:
        """The path below which the API is served."""
        return f"/_aws/execute-api/{api_id}" if self.is_emulated else ""

    def __post_init__(self) -> None:
        if self.email_sender is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", self.email_sender):
            raise ValueError(f"email_sender: {self.email_sender!r} is not an e-mail address; write it as a@example.com")
        for network in self.http_call_networks:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"http_call_networks: {error}; write it as `10.1.0.0/16` or `10.1.2.3/32`") from error


LOCAL = Settings(
    stage="local",
    platform=Platform(architecture="x86_64", wheels=None),
    concurrency=WorkerConcurrency(high=10, normal=10, low=4, intake=2),
    long=LongLane(
        vcpus=4,
        tasks=8,
        starts_per_second=20,
        heartbeat_seconds=5,
        image="punctual-runner:local",
        images={"shell": "punctual-shell:local"},
        # The second source is the local simulation of Fargate: see local/fargate.py.
        events_from=("aws.ecs", "punctual.fargate"),
    ),
    alerts=Alerts(
        page=(),
        notice=(),
        backlog_minutes=1,
        backlog_messages=100_000,
        runbook="docs/operations.md",
        on_aws_metrics=False,
    ),
    timer_shards=1,
    stream_parallelization=1,
    retention_days=30,
    log_retention=logs.RetentionDays.ONE_WEEK,
    requests_per_second=1000,
    request_burst=2000,
    token_validity=Duration.hours(24),
    password_sign_in=True,
    is_emulated=True,
    keep_data=False,
)

PROD = Settings(
    stage="prod",
    platform=Platform(architecture="arm64", wheels="aarch64-manylinux2014"),
    concurrency=WorkerConcurrency(high=200, normal=100, low=20, intake=20),
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
    is_emulated=False,
    keep_data=True,
)


def for_stage(name: str) -> Settings:
    """The settings of the stage called `name`; raises `ValueError` for an unknown stage."""
    stages = {settings.stage: settings for settings in (LOCAL, PROD)}
    if name not in stages:
        raise ValueError(f"no stage {name!r}: choose one of {', '.join(sorted(stages))}")
    return stages[name]
