"""The stages behind the routes, and who calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from once import Once
from views import changes_view

from punctual.aws.clients import cloudwatch_logs, s3
from punctual.aws.cloudwatch.execution_logs import CloudWatchLogs
from punctual.aws.dynamodb.execution_index import DynamoExecutionShelf
from punctual.aws.s3.results import S3Results
from punctual.domain import instant
from punctual.domain.errors import NotFound
from punctual.domain.identity import check_job_id
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.requests.caller import Caller, Role, caller_of
from punctual.domain.requests.dry_run import Changes
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.settings import ApiSettings
from punctual.runtime.tasks.registry import Catalog
from punctual.stages.api.backfill import Backfill
from punctual.stages.api.browse import Browse
from punctual.stages.api.cancel import Cancel
from punctual.stages.api.dependencies import Ties
from punctual.stages.api.edit import Edit
from punctual.stages.api.explain import Explain
from punctual.stages.api.job_state import Manage
from punctual.stages.api.rerun import Rerun
from punctual.stages.api.submission import Drafts
from punctual.stages.api.submit import Submit
from punctual.stages.plan.upstreams import Lookup
from punctual.stages.watch.check_deadlines import Forecaster

settings = ApiSettings.from_env()
all_jobs = wiring.jobs(settings)
all_executions, watched = wiring.executions(settings), wiring.watched_executions(settings)
all_parts = wiring.parts(settings)
gates, gatekeeper, catalog = wiring.gates(settings), wiring.gatekeeper(settings), Catalog()


def find_job(job_id: str) -> Job:
    """Raises ``NotFound``."""
    job = all_jobs.get(check_job_id(job_id))
    if job is None:
        raise NotFound("job", job_id, field="job_id")
    return job


drafts = Drafts(tasks=catalog, images=settings.images, largest_cpu=settings.long_vcpus * 1024)
ties = Ties(jobs=all_jobs, clock=instant.now)
submit = Submit(jobs=all_jobs, drafts=drafts, ties=ties, clock=instant.now)
edit = Edit(jobs=all_jobs, drafts=drafts, executions=all_executions, ties=ties, clock=instant.now, find=find_job)
cancel = Cancel(executions=all_executions, gatekeeper=gatekeeper, clock=instant.now)
manage = Manage(jobs=all_jobs, executions=all_executions, clock=instant.now, find=find_job)
rerun = Rerun(jobs=all_jobs, executions=all_executions, gates=gates, tasks=catalog, clock=instant.now, find=find_job)
shelf = DynamoExecutionShelf(all_executions, gates)
upstreams = Lookup(jobs=all_jobs, executions=all_executions)
browse = Browse(jobs=all_jobs, executions=shelf, clock=instant.now)
backfill = Backfill(
    jobs=all_jobs, executions=all_executions, shelf=shelf, gatekeeper=gatekeeper, clock=instant.now, find=find_job
)
samples, lane_outlooks = wiring.samples(settings), wiring.lane_outlooks(settings)
explain = Explain(
    gates=gates, executions=all_executions, samples=samples, lane_outlooks=lane_outlooks, clock=instant.now
)
limits = LaneLimits(tasks=settings.long_tasks, cpu=settings.long_vcpus * 1024, starts_per_second=1)
forecaster = Forecaster(
    samples=samples,
    lane_outlooks=lane_outlooks,
    limits=limits,
    concurrency=json.loads(settings.concurrency),
    upstreams=upstreams,
    clock=instant.now,
)
results = S3Results(settings.results_bucket, s3)
logs = {
    Lane.SHORT: CloudWatchLogs(settings.worker_log_group, cloudwatch_logs()),
    Lane.LONG: CloudWatchLogs(settings.runner_log_group, cloudwatch_logs()),
}
once = Once(settings.idempotency_table)


def caller(router: APIGatewayHttpRouter, least: Role = Role.VIEWER) -> Caller:
    """The caller of the current request. Raises ``Forbidden`` for less than ``least``."""
    claims = router.current_event.request_context.authorizer.jwt_claim or {}
    subject = claims.get("username") or claims.get("cognito:username") or claims.get("sub", "")
    who = caller_of(subject, _groups(claims.get("cognito:groups")))
    who.must_be(least)
    return who


def _groups(claim: Any) -> list[str]:
    """API Gateway turns a list in a claim into text such as ``[admin team:a]``."""
    if isinstance(claim, str):
        return re.split(r"[\s,]+", claim.strip("[]"))
    return list(claim or ())


def once_for(router: APIGatewayHttpRouter, act: Callable[[], dict[str, Any]], who: Caller) -> dict[str, Any]:
    """What ``act`` answers; under an ``Idempotency-Key`` that was used before, what it answered then."""
    event = router.current_event
    key = event.headers.get("idempotency-key")
    return once(act, key=key, caller=who.subject, route=event.path, body=event.body, context=router.lambda_context)


def created(body: Any, *, anew: bool = True) -> Response[Any]:
    """201, or 200 for what was there already."""
    status = HTTPStatus.CREATED if anew else HTTPStatus.OK
    return Response(status_code=status, content_type="application/json", body=body)


def foreseen(changes: Changes) -> Response[Any]:
    """200 with what was found, also where the call itself answers 201."""
    return Response(status_code=HTTPStatus.OK, content_type="application/json", body=changes_view(changes))
