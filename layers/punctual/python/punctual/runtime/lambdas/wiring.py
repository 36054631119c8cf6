"""Builds the adapters of a Lambda function, and the gatekeeper on top of them, from the function's settings.

Each adapter is imported when it is built, so a function loads only the adapters that it uses. The protocols name the
settings that an adapter needs; mypy checks that the settings of the function have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from punctual.aws.clients import dynamodb, ecs, scheduler, sqs, states
from punctual.aws.dynamodb.table import Table
from punctual.domain import instant

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Protocol

    from punctual.aws.dynamodb.acknowledgements import DynamoAcknowledgements
    from punctual.aws.dynamodb.conducted_parts import DynamoConductedParts
    from punctual.aws.dynamodb.dependants import DynamoDependants
    from punctual.aws.dynamodb.execution_logs import DynamoExecutionLogs
    from punctual.aws.dynamodb.executions import DynamoExecutions
    from punctual.aws.dynamodb.gated_executions import DynamoGatedExecutions
    from punctual.aws.dynamodb.gates import DynamoGates
    from punctual.aws.dynamodb.held_executions import DynamoHeldExecutions
    from punctual.aws.dynamodb.job_activity import DynamoJobActivity
    from punctual.aws.dynamodb.job_backlogs import DynamoArrivals, DynamoJobBacklogs
    from punctual.aws.dynamodb.jobs import DynamoJobs
    from punctual.aws.dynamodb.long_executions import DynamoLongExecutions
    from punctual.aws.dynamodb.misfires import DynamoMisfires
    from punctual.aws.dynamodb.monitor_state import DynamoLaneOutlooks, DynamoSamples
    from punctual.aws.dynamodb.operations import DynamoOperations
    from punctual.aws.dynamodb.parts import DynamoParts
    from punctual.aws.dynamodb.queue_flows import DynamoFlows
    from punctual.aws.dynamodb.queue_history import DynamoQueueHours
    from punctual.aws.dynamodb.revisions import DynamoRevisions
    from punctual.aws.dynamodb.shards import DynamoShards
    from punctual.aws.dynamodb.statistics import DynamoStatistics
    from punctual.aws.dynamodb.timers import DynamoTimers
    from punctual.aws.dynamodb.unstarted_messages import DynamoUnstartedMessages
    from punctual.aws.dynamodb.watched_executions import DynamoWatchedExecutions
    from punctual.aws.ecs.containers import FargateContainers
    from punctual.aws.sqs.operation_queue import SqsOperationQueue
    from punctual.aws.step_functions.long_runs import (
        FailedLongRuns,
        LongRuns,
        LongStateMachine,
        StepFunctionsCallbacks,
    )
    from punctual.aws.step_functions.no_long_lane import NoContainers, NoStateMachine
    from punctual.runtime.lambdas.alarm_metric import AlarmMetric
    from punctual.runtime.tasks.registry import Catalog
    from punctual.stages.run.gates import Gatekeeper

    class _WithRetention(Protocol):
        @property
        def retention(self) -> timedelta: ...

        @property
        def brief_retention(self) -> timedelta: ...

    class _WithJobs(_WithRetention, Protocol):
        jobs_table: str

    class _WithRevisions(_WithJobs, Protocol):
        revisions_table: str

    class _WithShards(Protocol):
        executions_table: str
        timer_shards: int

    class _WithExecutions(_WithRetention, _WithShards, Protocol): ...

    class _WithMisfires(_WithJobs, _WithExecutions, Protocol): ...

    class _WithTimers(_WithShards, Protocol):
        timers_table: str

    class _WithGatesTable(_WithRetention, Protocol):
        gates_table: str

    class _WithGates(_WithExecutions, _WithGatesTable, Protocol): ...

    class _WithParts(_WithRetention, Protocol):
        parts_table: str

    class _WithConductedParts(_WithParts, Protocol):
        executions_table: str

    class _WithCluster(Protocol):
        cluster: str

    class _WithScheduleGroup(Protocol):
        schedule_group: str

    class _WithStateMachine(_WithScheduleGroup, Protocol):
        state_machine_arn: str
        schedule_role_arn: str

    class _WithSignals(Protocol):
        signals_table: str

    class _WithStatistics(Protocol):
        statistics_table: str

    class _WithOperations(_WithRetention, Protocol):
        operations_table: str

    class _WithOperationQueue(Protocol):
        bulk_queue_url: str

    class _WithLogs(_WithRetention, Protocol):
        logs_table: str


def jobs(settings: _WithJobs) -> DynamoJobs:
    from punctual.aws.dynamodb.jobs import DynamoJobs

    return DynamoJobs(Table(settings.jobs_table, dynamodb()), settings.retention)


def revisions(settings: _WithRevisions) -> DynamoRevisions:
    from punctual.aws.dynamodb.revisions import DynamoRevisions

    return DynamoRevisions(Table(settings.revisions_table, dynamodb()), jobs(settings))


def shards(settings: _WithShards) -> DynamoShards:
    from punctual.aws.dynamodb.shards import DynamoShards

    return DynamoShards(Table(settings.executions_table, dynamodb()), settings.timer_shards, instant.now)


def _execution_storage(settings: _WithExecutions) -> tuple[Table, DynamoShards, timedelta, timedelta]:
    table = Table(settings.executions_table, dynamodb())
    return table, shards(settings), settings.retention, settings.brief_retention


def executions(settings: _WithExecutions) -> DynamoExecutions:
    from punctual.aws.dynamodb.executions import DynamoExecutions

    return DynamoExecutions(*_execution_storage(settings))


def misfires(settings: _WithMisfires) -> DynamoMisfires:
    from punctual.aws.dynamodb.misfires import DynamoMisfires

    return DynamoMisfires(executions(settings), Table(settings.jobs_table, dynamodb()))


def gated_executions(settings: _WithExecutions) -> DynamoGatedExecutions:
    from punctual.aws.dynamodb.gated_executions import DynamoGatedExecutions

    return DynamoGatedExecutions(*_execution_storage(settings))


def held_executions(settings: _WithExecutions) -> DynamoHeldExecutions:
    from punctual.aws.dynamodb.held_executions import DynamoHeldExecutions

    return DynamoHeldExecutions(*_execution_storage(settings))


def long_executions(settings: _WithExecutions) -> DynamoLongExecutions:
    from punctual.aws.dynamodb.long_executions import DynamoLongExecutions

    return DynamoLongExecutions(*_execution_storage(settings))


def watched_executions(settings: _WithExecutions) -> DynamoWatchedExecutions:
    from punctual.aws.dynamodb.watched_executions import DynamoWatchedExecutions

    return DynamoWatchedExecutions(*_execution_storage(settings))


def unstarted_messages(settings: _WithExecutions) -> DynamoUnstartedMessages:
    from punctual.aws.dynamodb.unstarted_messages import DynamoUnstartedMessages

    return DynamoUnstartedMessages(Table(settings.executions_table, dynamodb()))


def timers(settings: _WithTimers) -> DynamoTimers:
    from punctual.aws.dynamodb.timers import DynamoTimers

    return DynamoTimers(Table(settings.timers_table, dynamodb()), shards(settings))


def gates(settings: _WithGates) -> DynamoGates:
    from punctual.aws.dynamodb.gates import DynamoGates

    return DynamoGates(Table(settings.gates_table, dynamodb()), gated_executions(settings))


def gatekeeper(settings: _WithGates) -> Gatekeeper:
    from punctual.stages.run.gates import Gatekeeper

    return Gatekeeper(gates=gates(settings), executions=gated_executions(settings), clock=instant.now)


def dependants(settings: _WithGatesTable) -> DynamoDependants:
    from punctual.aws.dynamodb.dependants import DynamoDependants

    return DynamoDependants(Table(settings.gates_table, dynamodb()), settings.retention)


def parts(settings: _WithParts) -> DynamoParts:
    from punctual.aws.dynamodb.parts import DynamoParts

    return DynamoParts(Table(settings.parts_table, dynamodb()), settings.retention)


def conducted_parts(settings: _WithConductedParts) -> DynamoConductedParts:
    from punctual.aws.dynamodb.conducted_parts import DynamoConductedParts

    client = dynamodb()
    executions = Table(settings.executions_table, client)
    return DynamoConductedParts(Table(settings.parts_table, client), settings.retention, executions)


def containers(settings: _WithCluster) -> FargateContainers:
    from punctual.aws.ecs.containers import FargateContainers

    return FargateContainers(settings.cluster, ecs)


def containers_if_any(settings: _WithCluster) -> FargateContainers | NoContainers:
    """The containers, also of a stage without the long lane."""
    from punctual.aws.step_functions.no_long_lane import NoContainers

    return containers(settings) if settings.cluster else NoContainers()


def state_machine(settings: _WithStateMachine) -> LongStateMachine:
    from punctual.aws.step_functions.long_runs import LongStateMachine

    return LongStateMachine(
        arn=settings.state_machine_arn,
        schedule_group=settings.schedule_group,
        schedule_role_arn=settings.schedule_role_arn,
        states=states,
        scheduler=scheduler,
    )


def state_machine_if_any(settings: _WithStateMachine) -> LongStateMachine | NoStateMachine:
    """The state machine, also of a stage without the long lane."""
    from punctual.aws.step_functions.no_long_lane import NoStateMachine

    return state_machine(settings) if settings.state_machine_arn else NoStateMachine()


def runs_if_any(settings: _WithScheduleGroup) -> LongRuns | NoStateMachine:
    """The runs of the state machine, also of a stage without the long lane."""
    from punctual.aws.step_functions.long_runs import LongRuns
    from punctual.aws.step_functions.no_long_lane import NoStateMachine

    if not settings.schedule_group:
        return NoStateMachine()
    return LongRuns(schedule_group=settings.schedule_group, states=states, scheduler=scheduler)


def failed_runs_if_any(state_machine_arn: str) -> FailedLongRuns | NoStateMachine:
    """The failed runs of the state machine, also of a stage without the long lane."""
    from punctual.aws.step_functions.long_runs import FailedLongRuns
    from punctual.aws.step_functions.no_long_lane import NoStateMachine

    return FailedLongRuns(state_machine_arn, states) if state_machine_arn else NoStateMachine()


def callbacks() -> StepFunctionsCallbacks:
    from punctual.aws.step_functions.long_runs import StepFunctionsCallbacks

    return StepFunctionsCallbacks(states)


def execution_logs(settings: _WithLogs) -> DynamoExecutionLogs:
    from punctual.aws.dynamodb.execution_logs import DynamoExecutionLogs

    return DynamoExecutionLogs(Table(settings.logs_table, dynamodb()), settings.retention)


def flows(settings: _WithSignals) -> DynamoFlows:
    from punctual.aws.dynamodb.queue_flows import DynamoFlows

    return DynamoFlows(Table(settings.signals_table, dynamodb()))


def counted_statistics(settings: _WithStatistics) -> DynamoStatistics:
    """The statistics, with consistent reads; each process adds to one part of the items of owners."""
    import secrets

    from punctual.aws.dynamodb.statistics import PARTS, DynamoStatistics

    part = secrets.randbits(32) % PARTS
    return DynamoStatistics(Table(settings.statistics_table, dynamodb()), part, consistent=True)


def statistics(settings: _WithStatistics) -> DynamoStatistics:
    from punctual.aws.dynamodb.statistics import DynamoStatistics

    return DynamoStatistics(Table(settings.statistics_table, dynamodb()))


def job_activity(settings: _WithGates) -> DynamoJobActivity:
    from punctual.aws.dynamodb.job_activity import DynamoJobActivity

    executions, all_shards, *_ = _execution_storage(settings)
    return DynamoJobActivity(executions, Table(settings.gates_table, dynamodb()), all_shards)


def samples(settings: _WithSignals) -> DynamoSamples:
    from punctual.aws.dynamodb.monitor_state import DynamoSamples

    return DynamoSamples(Table(settings.signals_table, dynamodb()))


def acknowledgements(settings: _WithSignals) -> DynamoAcknowledgements:
    from punctual.aws.dynamodb.acknowledgements import DynamoAcknowledgements

    return DynamoAcknowledgements(Table(settings.signals_table, dynamodb()))


def queue_hours(settings: _WithSignals) -> DynamoQueueHours:
    from punctual.aws.dynamodb.queue_history import DynamoQueueHours

    return DynamoQueueHours(Table(settings.signals_table, dynamodb()))


def job_backlogs(settings: _WithSignals) -> DynamoJobBacklogs:
    from punctual.aws.dynamodb.job_backlogs import DynamoJobBacklogs

    return DynamoJobBacklogs(Table(settings.signals_table, dynamodb()))


def arrivals(settings: _WithSignals) -> DynamoArrivals:
    from punctual.aws.dynamodb.job_backlogs import DynamoArrivals

    return DynamoArrivals(Table(settings.signals_table, dynamodb()))


def lane_outlooks(settings: _WithSignals) -> DynamoLaneOutlooks:
    from punctual.aws.dynamodb.monitor_state import DynamoLaneOutlooks

    return DynamoLaneOutlooks(Table(settings.signals_table, dynamodb()))


def operations(settings: _WithOperations) -> DynamoOperations:
    from punctual.aws.dynamodb.operations import DynamoOperations

    return DynamoOperations(Table(settings.operations_table, dynamodb()), settings.retention)


def operation_queue(settings: _WithOperationQueue) -> SqsOperationQueue:
    from punctual.aws.sqs.operation_queue import SqsOperationQueue

    return SqsOperationQueue(settings.bulk_queue_url, sqs)


def catalog() -> Catalog:
    from punctual.runtime.tasks.registry import Catalog

    return Catalog(alarm=broken_task_modules().publish)


def broken_task_modules() -> AlarmMetric:
    from datetime import timedelta

    from punctual.domain.metrics import Metric
    from punctual.runtime.lambdas.alarm_metric import AlarmMetric

    return AlarmMetric(Metric.BROKEN_TASK_MODULES, interval=timedelta(minutes=1))
