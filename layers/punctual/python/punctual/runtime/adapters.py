"""The adapters of a function, made from its settings. Each is imported when it is made: most need but one or two."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from punctual.aws.clients import dynamodb
from punctual.aws.table import Table
from punctual.domain import instant

if TYPE_CHECKING:
    from punctual.aws.dependants import DynamoDependants
    from punctual.aws.executions import DynamoExecutions
    from punctual.aws.gated_executions import DynamoGatedExecutions
    from punctual.aws.gates import DynamoGates
    from punctual.aws.held_executions import DynamoHeldExecutions
    from punctual.aws.jobs import DynamoJobs
    from punctual.aws.long_executions import DynamoLongExecutions
    from punctual.aws.timers import DynamoTimers
    from punctual.aws.watched_executions import DynamoWatchedExecutions
    from punctual.stages.gatekeep import Gatekeeper


class _Kept(Protocol):
    @property
    def retention(self) -> timedelta: ...


class _WithJobs(_Kept, Protocol):
    jobs_table: str


class _WithExecutions(_Kept, Protocol):
    executions_table: str
    timer_shards: int


class _WithTimers(Protocol):
    timers_table: str
    timer_shards: int


class _WithGates(_Kept, Protocol):
    gates_table: str


class _WithDoors(_WithExecutions, _WithGates, Protocol): ...


def jobs(settings: _WithJobs) -> DynamoJobs:
    from punctual.aws.jobs import DynamoJobs

    return DynamoJobs(Table(settings.jobs_table, dynamodb()), settings.retention)


def _kept_in(settings: _WithExecutions) -> tuple[Table, int, timedelta]:
    return Table(settings.executions_table, dynamodb()), settings.timer_shards, settings.retention


def executions(settings: _WithExecutions) -> DynamoExecutions:
    from punctual.aws.executions import DynamoExecutions

    return DynamoExecutions(*_kept_in(settings))


def gated_executions(settings: _WithExecutions) -> DynamoGatedExecutions:
    from punctual.aws.gated_executions import DynamoGatedExecutions

    return DynamoGatedExecutions(*_kept_in(settings))


def held_executions(settings: _WithExecutions) -> DynamoHeldExecutions:
    from punctual.aws.held_executions import DynamoHeldExecutions

    return DynamoHeldExecutions(*_kept_in(settings))


def long_executions(settings: _WithExecutions) -> DynamoLongExecutions:
    from punctual.aws.long_executions import DynamoLongExecutions

    return DynamoLongExecutions(*_kept_in(settings))


def watched_executions(settings: _WithExecutions) -> DynamoWatchedExecutions:
    from punctual.aws.watched_executions import DynamoWatchedExecutions

    return DynamoWatchedExecutions(*_kept_in(settings))


def timers(settings: _WithTimers) -> DynamoTimers:
    from punctual.aws.timers import DynamoTimers

    return DynamoTimers(Table(settings.timers_table, dynamodb()), settings.timer_shards)


def gates(settings: _WithDoors) -> DynamoGates:
    from punctual.aws.gates import DynamoGates

    return DynamoGates(Table(settings.gates_table, dynamodb()), settings.timer_shards, settings.retention)


def doors(settings: _WithDoors) -> Gatekeeper:
    from punctual.stages.gatekeep import Gatekeeper

    return Gatekeeper(gates=gates(settings), executions=gated_executions(settings), clock=instant.now)


def dependants(settings: _WithGates) -> DynamoDependants:
    from punctual.aws.dependants import DynamoDependants

    return DynamoDependants(Table(settings.gates_table, dynamodb()), settings.retention)
