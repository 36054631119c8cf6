"""The stages that the routes call, built once per process, and what all routes share: authorization, responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import unreadable_header
from views import changes_view

from punctual.aws.clients import cloudwatch, cognito, dynamodb, s3, sqs
from punctual.aws.cloudwatch.alarms import CloudWatchAlarms
from punctual.aws.cognito.users import CognitoUsers
from punctual.aws.dynamodb.execution_index import DynamoExecutionIndex
from punctual.aws.dynamodb.keyed_requests import DynamoKeyedRequests
from punctual.aws.dynamodb.table import Table
from punctual.aws.s3.results import S3Results
from punctual.aws.sqs.intake_queue import SqsIntakeQueue
from punctual.aws.sqs.queue_depths import SqsQueueDepths
from punctual.domain import instant
from punctual.domain.forecasts.queue_backlog import BacklogLimits
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.requests.caller import Caller, Role, caller_in
from punctual.domain.requests.dry_run import DryRunChanges
from punctual.domain.requests.keyed_request import KeyedRequest
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import logger
from punctual.runtime.lambdas.settings import ApiSettings
from punctual.stages.api.agenda import AgendaReader
from punctual.stages.api.attention import Acknowledge, AttentionList
from punctual.stages.api.backfill import Backfill
from punctual.stages.api.browse import Browse
from punctual.stages.api.browse_deadlines import BrowseDeadlines
from punctual.stages.api.calendar import Calendar
from punctual.stages.api.cancel import Cancel
from punctual.stages.api.current_caller import CurrentCallers
from punctual.stages.api.dependencies import DependencyChecker
from punctual.stages.api.edit import Edit
from punctual.stages.api.execution_details import ExecutionDetails
from punctual.stages.api.explain import Explain
from punctual.stages.api.find import Finder
from punctual.stages.api.forecast_submission import SubmissionForecaster
from punctual.stages.api.idempotency import Idempotency
from punctual.stages.api.job_graph import JobGraphReader
from punctual.stages.api.job_state import JobStateChanger
from punctual.stages.api.lane_status import LaneStatus
from punctual.stages.api.queue_status import QueueStatus
from punctual.stages.api.read_logs import LogReader
from punctual.stages.api.read_revisions import RevisionReader
from punctual.stages.api.read_statistics import StatisticsReading
from punctual.stages.api.rerun import Rerun
from punctual.stages.api.send_messages import MessageSender
from punctual.stages.api.submission import JobBuilder
from punctual.stages.api.submit import Submit
from punctual.stages.api.task_usage import TaskUsageReader
from punctual.stages.api.today import TodayReader
from punctual.stages.api.transfer import Transfer
from punctual.stages.api.yield_slot import YieldSlot
from punctual.stages.operations.find import OperationFinder
from punctual.stages.operations.select import Selector
from punctual.stages.operations.start import OperationStarter
from punctual.stages.plan.upstreams import UpstreamLookup
from punctual.stages.watch.check_deadlines import Forecaster
from punctual.stages.watch.planned_demand import PlannedDemand

T = TypeVar("T")

settings = ApiSettings.from_env()
current_callers = CurrentCallers(CognitoUsers(settings.user_pool_id, cognito), instant.now)
job_store = wiring.jobs(settings)
execution_store = wiring.executions(settings)
part_store = wiring.parts(settings)
gates, gatekeeper, catalog = wiring.gates(settings), wiring.gatekeeper(settings), wiring.catalog()
find = Finder(jobs=job_store, executions=execution_store)
job_builder = JobBuilder(
    tasks=catalog, images=settings.images, max_cpu=settings.cpu, sends_email=bool(settings.email_sender)
)
dependency_checker = DependencyChecker(jobs=job_store, clock=instant.now)
keyed_requests = DynamoKeyedRequests(Table(settings.idempotency_table, dynamodb()))
idempotency = Idempotency(requests=keyed_requests, clock=instant.now)
submit = Submit(
    jobs=job_store,
    builder=job_builder,
    dependencies=dependency_checker,
    keyed_requests=keyed_requests,
    clock=instant.now,
)
revisions = wiring.revisions(settings)
revision_reader = RevisionReader(revisions=revisions, find=find)
edit = Edit(
    jobs=job_store,
    revisions=revisions,
    builder=job_builder,
    executions=execution_store,
    dependencies=dependency_checker,
    clock=instant.now,
    find=find,
)
transfer = Transfer(jobs=job_store, revisions=revisions, edit=edit, clock=instant.now)
cancel = Cancel(find=find, gatekeeper=gatekeeper, clock=instant.now)
job_state = JobStateChanger(jobs=job_store, executions=execution_store, clock=instant.now, find=find)
upstream_lookup = UpstreamLookup(jobs=job_store, executions=execution_store)
rerun = Rerun(
    jobs=job_store,
    executions=execution_store,
    gates=gates,
    tasks=catalog,
    builder=job_builder,
    clock=instant.now,
    find=find,
    upstreams=upstream_lookup,
)
execution_index = DynamoExecutionIndex(execution_store, gates)
browse = Browse(jobs=job_store, executions=execution_index, clock=instant.now)
statistics = StatisticsReading(
    statistics=wiring.statistics(settings), jobs=job_store, activity=wiring.job_activity(settings)
)
task_usage = TaskUsageReader(jobs=job_store, statistics=wiring.statistics(settings))
job_graph = JobGraphReader(jobs=job_store, statistics=statistics)
browse_deadlines = BrowseDeadlines(execution_index)
backfill = Backfill(
    jobs=job_store,
    executions=execution_store,
    index=execution_index,
    gatekeeper=gatekeeper,
    clock=instant.now,
    find=find,
)
operations = wiring.operations(settings)
operation_finder = OperationFinder(operations=operations, clock=instant.now)
operation_starter = OperationStarter(
    operations=operations,
    find=operation_finder,
    jobs=job_store,
    queue=wiring.operation_queue(settings),
    selector=Selector(browse=browse, clock=instant.now),
    clock=instant.now,
)
message_sender = MessageSender(
    find=find,
    tasks=catalog,
    keyed_requests=keyed_requests,
    queue=SqsIntakeQueue(settings.intake_queue_url, sqs),
    clock=instant.now,
)
samples, lane_outlooks = wiring.samples(settings), wiring.lane_outlooks(settings)
explain = Explain(
    gates=gates,
    executions=execution_store,
    samples=samples,
    lane_outlooks=lane_outlooks,
    slots=part_store,
    clock=instant.now,
)
limits = LaneLimits(tasks=settings.long_tasks, cpu=settings.cpu)
concurrency: dict[str, int] = json.loads(settings.concurrency)
job_backlogs = wiring.job_backlogs(settings)
queue_status = QueueStatus(
    samples=samples,
    depths=SqsQueueDepths(settings.backlog_queue_urls, sqs, logger.warning),
    concurrency=concurrency,
    limits=BacklogLimits(minutes=settings.backlog_minutes, messages=settings.backlog_messages),
    hours=wiring.queue_hours(settings),
    backlogs=job_backlogs,
    clock=instant.now,
)
forecaster = Forecaster(
    samples=samples,
    lane_outlooks=lane_outlooks,
    limits=limits,
    concurrency=concurrency,
    upstreams=upstream_lookup,
    parts=part_store,
    clock=instant.now,
)
yield_slot = YieldSlot(find=find, parts=part_store, slots=part_store, limits=limits, clock=instant.now)
lane_status = LaneStatus(
    slots=part_store,
    outlooks=lane_outlooks,
    demand=PlannedDemand(execution_index, job_store),
    jobs=job_store,
    limits=limits,
    clock=instant.now,
)
attention = AttentionList(
    deadlines=browse_deadlines,
    alarms=CloudWatchAlarms(settings.alarm_prefix, cloudwatch, instant.now, logger.warning),
    backlogs=job_backlogs,
    acknowledgements=wiring.acknowledgements(settings),
    broken_modules=lambda: {one.name: str(one) for one in catalog.broken},
    clock=instant.now,
)
acknowledge = Acknowledge(acknowledgements=wiring.acknowledgements(settings), find=find, clock=instant.now)
today = TodayReader(
    jobs=job_store, statistics=wiring.statistics(settings), executions=execution_index, clock=instant.now
)
agenda = AgendaReader(jobs=job_store, executions=execution_index, clock=instant.now)
execution_details = ExecutionDetails(
    jobs=job_store,
    executions=execution_index,
    dependants=wiring.dependants(settings),
    forecaster=forecaster,
    clock=instant.now,
)
calendar = Calendar(browse=browse, executions=execution_index, forecaster=forecaster, clock=instant.now)
submission_forecaster = SubmissionForecaster(forecaster=forecaster, clock=instant.now)
results = S3Results(settings.results_bucket, s3)
log_reader = LogReader(logs=wiring.execution_logs(settings), clock=instant.now)


def authorize(router: APIGatewayHttpRouter, least: Role = Role.VIEWER) -> Caller:
    """Return the caller of the current request. Raises ``Forbidden`` if their role is lower than ``least``.

    Requests that change something require more than a viewer: for them, the user is read, too.
    """
    caller = caller_of_request(router)
    caller.require_role(least)
    if least is not Role.VIEWER:
        caller = current_callers.current(caller)
        caller.require_role(least)
    return caller


def caller_of_request(router: APIGatewayHttpRouter) -> Caller:
    """Return the caller of the current request, who may have no role. Raises ``Forbidden`` for an unclear token."""
    return caller_in(router.current_event.request_context.authorizer.jwt_claim or {})


def run_once(
    router: APIGatewayHttpRouter, act: Callable[[KeyedRequest | None], T], caller: Caller, key: str | None
) -> T:
    """Return the answer of ``act``. With a ``key``, a repeated request has one effect."""
    event = router.current_event
    if key is None:
        return act(None)
    if any("\ud800" <= letter <= "\udfff" for letter in key):
        raise unreadable_header("Idempotency-Key", "must be valid Unicode text: use a UUID, for example")
    return idempotency.run(act, key=key, caller=caller.subject, route=event.path, body=event.body or "")


def created_response(body: Any, *, is_new: bool = True) -> Response[Any]:
    """Return 201, or 200 for an object that existed before."""
    status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return Response(status_code=status, content_type="application/json", body=body)


def dry_run_response(changes: DryRunChanges) -> Response[Any]:
    """Return 200, also where the request itself would return 201."""
    return Response(status_code=HTTPStatus.OK, content_type="application/json", body=changes_view(changes))
