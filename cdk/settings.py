"""The settings of a stage, with their defaults. A file `stages/<stage>.toml` changes them; see `cdk/stages.py`.

The docstring of each setting is its documentation in `stages/prod.toml.example`, which `make docs` generates.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from ipaddress import ip_network
from typing import ClassVar

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_logs as logs

from cdk.addresses import read_address
from cdk.log_retentions import LOG_RETENTIONS
from cdk.platform import WHEELS, Platform
from cdk.section import Section, between
from cdk.statements import Statement, read_statements

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
IMAGE_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
STAGE_NAME = re.compile(r"[a-z][a-z0-9]{0,19}")  # no hyphen: `Punctual-<stage>-` is the prefix of one stage only
RESERVED_BY_COGNITO = ("aws", "amazon", "cognito")
E_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True, kw_only=True)
class WorkerConcurrency(Section):
    """The maximum number of concurrent function instances per queue. Their sum must stay below the account's quota."""

    path: ClassVar[str] = "concurrency."

    high: int = between(2, 1000, 200)
    """Workers of the queue for jobs with the priority `high`."""
    normal: int = between(2, 1000, 100)
    """Workers of the queue for jobs with the priority `normal`."""
    low: int = between(2, 1000, 20)
    """Workers of the queue for jobs with the priority `low`."""
    intake: int = between(2, 1000, 20)
    """Instances of the intake function, which turns messages into executions."""

    @property
    def limits(self) -> dict[str, str]:
        """The environment variable of functions that need to know the concurrency of each queue."""
        return {"CONCURRENCY": json.dumps(asdict(self))}


@dataclass(frozen=True, kw_only=True)
class Provisioned(Section):
    """Instances that Lambda keeps initialised, against cold starts. They cost money while nothing runs, too."""

    path: ClassVar[str] = "provisioned."

    api: int = between(0, 1000, 0)
    """Of the function that answers requests."""
    planner: int = between(0, 1000, 0)
    """Of the function that plans and enqueues executions."""
    worker: int = between(0, 1000, 0)
    """Of the function that runs tasks, for all queues together."""


@dataclass(frozen=True, kw_only=True)
class LongLane(Section):
    """Limits of the long lane. Parts that exceed them wait for a slot, in order of laxity."""

    path: ClassVar[str] = "long."

    enabled: bool = True
    """Whether the stage has a long lane. Without one it needs neither Docker nor an image, and refuses long jobs."""
    vcpus: int = between(1, 100_000, 256)
    """The vCPUs of all containers together, below the account's quota of Fargate vCPUs; Spot has a separate quota."""
    tasks: int = between(1, 100_000, 256)
    """The maximum number of concurrent containers."""
    starts_per_second: int = between(1, 1000, 15)
    """ECS accepts 20 task starts per second for the whole account: leave some for other applications."""
    heartbeat_seconds: int = between(5, 300, 30)
    """The heartbeat interval of a container. A container without a heartbeat for three intervals is considered dead."""
    image: str | None = None
    """The image of Punctual's own runner. Without one, a deployment builds it from the Dockerfile with Docker."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Alternative images, by the name that jobs use. They must be built for the architecture of the functions."""

    @property
    def limits(self) -> dict[str, str]:
        """The environment variables of functions that need to know how much may run at once: nothing, if disabled."""
        vcpus, tasks = (self.vcpus, self.tasks) if self.enabled else (0, 0)
        return {"LONG_VCPUS": str(vcpus), "LONG_TASKS": str(tasks)}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.images:
            if not IMAGE_NAME.fullmatch(name) or name == "runner":
                raise ValueError(
                    f"long.images: {name!r} is not a valid name; use a-z, 0-9 and hyphens, but not 'runner'"
                )


@dataclass(frozen=True, kw_only=True)
class Tasks(Section):
    """What tasks may do on AWS, in both lanes: see docs/tasks.md. By default nothing."""

    path: ClassVar[str] = "tasks."

    statements: tuple[Statement, ...] = field(default=(), metadata={"read": read_statements})
    """IAM statements of the role with which tasks run, each with `actions`, `resources` and optional `conditions`."""


@dataclass(frozen=True, kw_only=True)
class Alerts(Section):
    """Subscribers of alerts, thresholds of the backlog alarms, and the address of the runbook."""

    path: ClassVar[str] = "alerts."

    page: tuple[str, ...] = ()
    """Subscribers of urgent alerts: each `mailto:someone@example.com`, `https://…`, or the ARN of an SQS queue."""
    notice: tuple[str, ...] = ()
    """Subscribers of other alerts, in the same forms."""
    backlog_minutes: int = between(1, 10_080, 30)
    """The alarm threshold for the estimated time to drain a queue of the short lane."""
    backlog_messages: int = between(1, 1_000_000_000, 100_000)
    """The alarm threshold for the number of messages in a queue of the short lane."""
    runbook: str = "docs/operations.md"
    """The address of docs/operations.md, preferably https://. Each alarm links to its section."""

    @property
    def backlog_limits(self) -> dict[str, str]:
        """The environment variables of functions that need to know when a backlog is too long."""
        return {"BACKLOG_MINUTES": str(self.backlog_minutes), "BACKLOG_MESSAGES": str(self.backlog_messages)}

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting, addresses in (("alerts.page", self.page), ("alerts.notice", self.notice)):
            for address in addresses:
                read_address(setting, address)
                if addresses.count(address) > 1:
                    raise ValueError(f"{setting}: {address!r} is listed twice; remove one")


@dataclass(frozen=True, kw_only=True)
class Settings(Section):
    stage: str
    is_emulated: bool = False
    is_protected: bool = True
    """Whether kept tables and users cannot be deleted by mistake. Off while the stack is created: see cdk/deploy.py."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """The concurrency that only one function may use, by its name. Computed from the quota: see cdk/quotas.py."""

    architecture: str = "arm64"
    """The architecture of functions and containers: `arm64` or `x86_64`."""
    timer_shards: int = between(1, 1024, 1)
    """The number of parallel timer sweeps. One shard handles about 150 timers per second."""
    stream_parallelization: int = between(1, 10, 4)
    """Concurrent batches per stream shard; items with the same key still stay in order."""
    retention_days: int = between(1, 3650, 90)
    """The retention of executions and results after their end."""
    brief_retention_days: int = between(1, 3650, 35)
    """The same for executions that succeeded and that no other job, deadline or notification needs, if shorter."""
    log_retention_days: int = 30
    """The retention of logs: 1, 3, 7, 14, 30, 90, 180 or 365."""
    log_level: str = "INFO"
    """The lowest level of the lines that functions and containers log: `DEBUG`, `INFO`, `WARNING` or `ERROR`."""
    log_debug_percent: int = between(0, 100, 0)
    """The share of invocations and containers, chosen at random, that log from `DEBUG` on, whatever `log_level` is."""
    requests_per_second: int = between(1, 100_000, 200)
    """The rate at which the API accepts requests."""
    request_burst: int = between(1, 100_000, 400)
    """The number of requests that the API accepts at once."""
    token_minutes: int = between(5, 1440, 15)
    """The validity of a token. Changes are refused as soon as its user is disabled or deleted."""
    keep_data: bool = True
    """Whether tables, results and users survive the deletion of the stack."""
    http_call_networks: tuple[str, ...] = ()
    """Networks without public addresses that the task `http.call` may connect to, such as `10.1.0.0/16`."""
    email_sender: str | None = None
    """The address from which jobs send notices by e-mail: verify it, or its domain, in SES. Without it, no e-mail."""

    concurrency: WorkerConcurrency = WorkerConcurrency()
    provisioned: Provisioned = Provisioned()
    long: LongLane = LongLane()
    tasks: Tasks = Tasks()
    alerts: Alerts = Alerts()

    @property
    def removal_policy(self) -> RemovalPolicy:
        """Of data. A creation that fails leaves nothing behind, because nothing has been stored."""
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if self.keep_data else RemovalPolicy.DESTROY

    @property
    def deletion_protection(self) -> bool:
        return self.keep_data and self.is_protected

    @property
    def stack_name(self) -> str:
        return f"Punctual-{self.stage}"

    def domain_prefix(self, account: str) -> str:
        """The prefix of the sign-in page's domain, which must be unique in the Region, among all accounts."""
        return f"punctual-{self.stage}-{account}"

    @property
    def platform(self) -> Platform:
        return Platform(self.architecture, None if self.is_emulated else WHEELS[self.architecture])

    @property
    def log_retention(self) -> logs.RetentionDays:
        return LOG_RETENTIONS[self.log_retention_days]

    @property
    def of_logs(self) -> dict[str, str]:
        """The environment variables that decide which lines functions and containers log."""
        return {"LOG_LEVEL": self.log_level, "LOG_DEBUG_PERCENT": str(self.log_debug_percent)}

    @property
    def least_log_level(self) -> str:
        """The level below which Lambda drops the lines of functions, which apply `log_level` themselves.

        Lambda takes a line with a level that it does not know, such as Python's WARNING, as INFO, and one without a
        level, such as a metric, too: so it filters no higher.
        """
        return "DEBUG" if self.log_level == "DEBUG" or self.log_debug_percent else "INFO"

    @property
    def token_validity(self) -> Duration:
        return Duration.minutes(self.token_minutes)

    @property
    def events_from(self) -> list[str]:
        """The accepted sources of ECS task state change events; the second is the emulation of Fargate."""
        return ["aws.ecs", "punctual.fargate"] if self.is_emulated else ["aws.ecs"]

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
        super().__post_init__()
        if not STAGE_NAME.fullmatch(self.stage):
            raise ValueError(f"stage: {self.stage!r} is not a valid name; use up to 20 of a-z and 0-9, first a letter")
        for word in RESERVED_BY_COGNITO:
            if word in self.stage:
                raise ValueError(f"stage: {self.stage!r} contains {word!r}, which Cognito reserves: rename the stage")
        if self.architecture not in WHEELS:
            raise ValueError(f"architecture: {self.architecture!r} is not one of {', '.join(WHEELS)}")
        if self.log_retention_days not in LOG_RETENTIONS:
            allowed = ", ".join(map(str, LOG_RETENTIONS))
            raise ValueError(f"log_retention_days: {self.log_retention_days} is not one of {allowed}")
        if self.log_level not in LOG_LEVELS:
            raise ValueError(f"log_level: {self.log_level!r} is not one of {', '.join(LOG_LEVELS)}")
        if self.email_sender is not None and not E_MAIL.fullmatch(self.email_sender):
            raise ValueError(f"email_sender: {self.email_sender!r} is not an e-mail address; write it as a@example.com")
        for network in self.http_call_networks:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"http_call_networks: {error}; write it as `10.1.0.0/16` or `10.1.2.3/32`") from error


LOCAL = Settings(
    stage="local",
    is_emulated=True,
    architecture="x86_64",
    concurrency=WorkerConcurrency(high=10, normal=10, low=4, intake=2),
    long=LongLane(
        vcpus=4,
        tasks=8,
        starts_per_second=20,
        heartbeat_seconds=5,
        image="punctual-runner:local",
        images={"shell": "punctual-shell:local"},
    ),
    alerts=Alerts(backlog_minutes=1),
    stream_parallelization=1,
    retention_days=30,
    log_retention_days=7,
    requests_per_second=1000,
    request_burst=2000,
    token_minutes=1440,
    keep_data=False,
)
"""The stage of `make up`."""

PROD = Settings(stage="prod")
"""The stage of `make deploy`, with all defaults."""
