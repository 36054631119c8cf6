"""The adapters of the long lane's functions, made from their settings. Apart, so that the short lane starts lighter."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from punctual.aws.clients import dynamodb, ecs, scheduler, states
from punctual.aws.containers import FargateContainers
from punctual.aws.parts import DynamoParts
from punctual.aws.state_machines import LongRuns, LongStateMachine, TaskTokens
from punctual.aws.table import Table


class _WithParts(Protocol):
    parts_table: str

    @property
    def retention(self) -> timedelta: ...


class _WithCluster(Protocol):
    cluster: str


class _WithSchedules(Protocol):
    schedule_group: str


class _WithStateMachine(_WithSchedules, Protocol):
    state_machine_arn: str
    schedule_role_arn: str


def parts(settings: _WithParts) -> DynamoParts:
    return DynamoParts(Table(settings.parts_table, dynamodb()), settings.retention)


def containers(settings: _WithCluster) -> FargateContainers:
    return FargateContainers(settings.cluster, ecs)


def state_machine(settings: _WithStateMachine) -> LongStateMachine:
    return LongStateMachine(
        arn=settings.state_machine_arn,
        schedule_group=settings.schedule_group,
        schedule_role_arn=settings.schedule_role_arn,
        states=states,
        scheduler=scheduler,
    )


def runs(settings: _WithSchedules) -> LongRuns:
    return LongRuns(schedule_group=settings.schedule_group, states=states, scheduler=scheduler)


def callbacks() -> TaskTokens:
    return TaskTokens(states)
