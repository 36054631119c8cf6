"""The settings of each Lambda: one immutable class per function, read once from the environment.

Six other modules read the environment: ``aws/call_meter.py`` (``PUNCTUAL_METER``), ``runtime/lambdas/log.py``
(``LOG_LEVEL``, ``LOG_DEBUG_PERCENT``) and ``runtime/lambdas/alarm_metric.py``
(``PUNCTUAL_STAGE``), as every function has them and they are imported before its settings are read;
``aws/task_credentials.py`` (the function's name), which writes the credentials of tasks;
``runtime/tasks/public_addresses.py`` (``HTTP_CALL_NETWORKS``), as tasks run in both lanes; and
``runtime/container/main.py`` (the container's own variables).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from punctual.domain.lane import Priority


class MissingSetting(RuntimeError):
    """A required environment variable is not set, or is not a whole number where one is required."""


class Settings:
    """Base class; subclasses annotate their settings. Not a dataclass: each would add a millisecond to a cold start."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read each annotated name from the variable of the same name in capitals. Raises ``MissingSetting``."""
        settings = cls()
        for name, kind in cls.types().items():
            settings.__dict__[name] = _read(environ, name.upper(), kind)
        return settings

    @classmethod
    def types(cls) -> dict[str, type[int] | type[str]]:
        """The type of each setting."""
        annotations = [inspect.get_annotations(base) for base in reversed(cls.__mro__)]
        return {name: int if kind == "int" else str for own in annotations for name, kind in own.items()}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings are immutable: {name}")


class _Retention(Settings):
    retention_days: int
    brief_retention_days: int

    @property
    def retention(self) -> timedelta:
        return timedelta(days=self.retention_days)

    @property
    def brief_retention(self) -> timedelta:
        return timedelta(days=self.brief_retention_days)


class _ShortQueues(Settings):
    high_queue_url: str
    normal_queue_url: str
    low_queue_url: str

    @property
    def queue_urls(self) -> dict[Priority, str]:
        return {
            Priority.HIGH: self.high_queue_url,
            Priority.NORMAL: self.normal_queue_url,
            Priority.LOW: self.low_queue_url,
        }


class _BacklogQueues(_ShortQueues):
    """The queues of requested work, and the limits of their backlogs."""

    intake_queue_url: str
    concurrency: str
    backlog_minutes: int
    backlog_messages: int

    @property
    def backlog_queue_urls(self) -> dict[str, str]:
        return {**{str(name): url for name, url in self.queue_urls.items()}, "intake": self.intake_queue_url}


class _Signals(Settings):
    signals_table: str


class _Gates(Settings):
    gates_table: str


class _Lane(Settings):
    long_vcpus: int
    long_tasks: int

    @property
    def cpu(self) -> int:
        """The capacity of the long lane in ECS CPU units."""
        return self.long_vcpus * 1024


class _Logs(Settings):
    logs_table: str


class _Statistics(Settings):
    statistics_table: str


class _Notices(Settings):
    notices_queue_url: str


class _StateMachine(Settings):
    state_machine_arn: str
    schedule_group: str
    schedule_role_arn: str


class _Operations(Settings):
    operations_table: str
    bulk_queue_url: str


class _Revisions(Settings):
    revisions_table: str


class _Images(Settings):
    long_images: str

    @property
    def images(self) -> list[str]:
        return [name for name in self.long_images.split(",") if name]


class ConsoleSettings(_Retention):
    console_path: str
    sign_in_url: str


class ApiSettings(
    _Lane, _Images, _Signals, _Statistics, _Gates, _Logs, _Operations, _Revisions, _BacklogQueues, _Retention
):
    jobs_table: str
    executions_table: str
    parts_table: str
    idempotency_table: str
    results_bucket: str
    alarm_prefix: str
    timer_shards: int
    punctual_stage: str
    issuer: str
    user_pool_id: str
    sign_in_client_id: str
    sign_in_url: str
    console_path: str
    email_sender: str
    """Empty if the stage sends no e-mail."""


class BulkSettings(_Lane, _Images, _Gates, _Operations, _Revisions, _Retention):
    jobs_table: str
    executions_table: str
    dead_letter_queue_url: str
    timer_shards: int


class PlannerSettings(_StateMachine, _ShortQueues, _Gates, _Revisions, _Retention):
    jobs_table: str
    executions_table: str
    timers_table: str
    checks_queue_url: str
    dead_letter_queue_url: str
    timer_shards: int


class DispatcherSettings(_ShortQueues, _Gates, _Retention):
    jobs_table: str
    executions_table: str
    timers_table: str
    timer_shards: int


class WorkerSettings(_Signals, _ShortQueues, _Gates, _Logs, _Retention):
    executions_table: str
    results_bucket: str
    high_dead_letter_queue_url: str
    normal_dead_letter_queue_url: str
    low_dead_letter_queue_url: str
    task_role_arn: str
    timer_shards: int

    @property
    def dead_letter_queue_urls(self) -> dict[Priority, str]:
        return {
            Priority.HIGH: self.high_dead_letter_queue_url,
            Priority.NORMAL: self.normal_dead_letter_queue_url,
            Priority.LOW: self.low_dead_letter_queue_url,
        }


class SettlerSettings(_Signals, _Statistics, _Notices, _Gates, _Retention):
    jobs_table: str
    executions_table: str
    parts_table: str
    schedule_group: str
    cluster: str
    dead_letter_queue_url: str
    timer_shards: int


class ConductorSettings(_Gates, _Retention):
    jobs_table: str
    executions_table: str
    parts_table: str
    results_bucket: str
    cluster: str
    timer_shards: int


class ReporterSettings(_Logs, _Retention):
    executions_table: str
    parts_table: str
    results_bucket: str
    cluster: str
    heartbeat_seconds: int
    timer_shards: int


class ObserverSettings(_Retention):
    executions_table: str
    parts_table: str
    results_bucket: str
    cluster: str
    timer_shards: int


class AdmissionSettings(_Lane, _Retention):
    executions_table: str
    parts_table: str
    cluster: str
    dead_letter_queue_url: str
    long_starts_per_second: int
    heartbeat_seconds: int
    task_definitions: str
    timer_shards: int


class ReconcilerSettings(_StateMachine, _Retention):
    executions_table: str
    parts_table: str
    cluster: str
    timer_shards: int


class IntakeSettings(_Signals, _Retention):
    jobs_table: str
    executions_table: str
    dead_letter_queue_url: str
    timer_shards: int


class MonitorSettings(_Lane, _Signals, _Statistics, _Notices, _Operations, _BacklogQueues, _Gates, _Retention):
    jobs_table: str
    executions_table: str
    parts_table: str
    timers_table: str
    checks_queue_url: str
    dead_letter_queue_url: str
    dead_letter_queue_urls: str
    state_machine_arn: str
    timer_shards: int
    punctual_stage: str
    metrics_from_logs: int
    """0 on the emulator, which extracts no metrics from the log; 1 on AWS."""


class NotifierSettings(_Signals, _Notices, _Retention):
    dead_letter_queue_url: str
    api_url: str
    page_topic_arn: str
    notice_topic_arn: str
    jobs_table: str
    email_sender: str
    """Empty if the stage sends no e-mail."""


def _read(environ: Mapping[str, str], name: str, kind: type[int] | type[str]) -> int | str:
    try:
        return kind(environ[name])
    except KeyError:
        raise MissingSetting(f"environment variable {name} is not set") from None
    except ValueError:
        raise MissingSetting(f"environment variable {name} is not a whole number: {environ[name]!r}") from None
