"""``/jobs``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

import models
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import answers
from views import backfill_view, job_view
from wiring import all_jobs, backfill, browse, caller, once, submit

from punctual.domain import instant
from punctual.domain.backfill import parse_range
from punctual.domain.caller import Caller, Role
from punctual.domain.errors import Invalid, NotFound
from punctual.domain.identity import check_job_id
from punctual.domain.job import JobState, Priority
from punctual.stages.browse import JobFilter
from routes.queries import CursorQuery, LimitQuery, NameQuery

router = APIGatewayHttpRouter()

FOR_SUBMISSIONS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
ON_SUBMIT = answers(models.Job, *FOR_SUBMISSIONS, success=HTTPStatus.CREATED) | answers(models.Job)
ON_BATCH = answers(models.BatchAnswer, *FOR_SUBMISSIONS, success=HTTPStatus.CREATED) | answers(models.BatchAnswer)
ON_LIST = answers(models.JobPage, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)
ON_ONE = answers(models.Job, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
ON_EDIT = answers(
    models.Job,
    *FOR_SUBMISSIONS,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.PRECONDITION_FAILED,
)
IfMatch = Annotated[str | None, Header(description="The revision that the change is made for; 412 if it is not that.")]
DryRunQuery = Annotated[bool, Query(description="Show what it would do, and do nothing.")]
ON_BACKFILL = answers(models.BackfillAnswer, *FOR_SUBMISSIONS, HTTPStatus.NOT_FOUND, success=HTTPStatus.CREATED)
ON_DELETE = answers(models.Job, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


@router.post("/jobs", summary="Submit a job", tags=["jobs"], status_code=HTTPStatus.CREATED, responses=ON_SUBMIT)
def submit_job(submission: models.Submission) -> Response[models.Job]:
    """201 with the job; 200 with the one that has its `dedupe_key` already, if that is asked for."""
    who = caller(router, Role.OPERATOR)

    def act() -> dict[str, Any]:
        submitted = submit.submit(submission.to_submission(), who)
        return job_view(submitted.job, instant.now()).model_dump(mode="json") | {"created": submitted.created}

    answer = _once(act, who)
    return _created(models.Job(**answer), anew=answer.get("created", True))


@router.post(
    "/jobs/batch",
    summary="Submit up to 1,000 jobs",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=ON_BATCH,
)
def submit_jobs(batch: models.Batch) -> Response[models.BatchAnswer]:
    who = caller(router, Role.OPERATOR)

    def act() -> dict[str, Any]:
        submitted = submit.submit_all((one.to_submission() for one in batch.jobs), who)
        return {
            "items": [{"job_id": one.job.job_id, "name": one.job.name, "created": one.created} for one in submitted]
        }

    answer = models.BatchAnswer(**_once(act, who))
    return _created(answer, anew=any(one.created for one in answer.items))


@router.get("/jobs", summary="List jobs, newest first", tags=["jobs"], responses=ON_LIST)
def list_jobs(
    status: Annotated[JobState | None, Query(description="active, done or deleted")] = None,
    priority: Annotated[Priority | None, Query()] = None,
    task: NameQuery = None,
    owner: NameQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> models.JobPage:
    caller(router)
    where = JobFilter(owner=owner, state=status, priority=priority, task=task)
    page, now = browse.list_jobs(where, limit, cursor), instant.now()
    return models.JobPage(items=[job_view(job, now) for job in page.items], cursor=page.cursor)


@router.get("/jobs/<job_id>", summary="One job", tags=["jobs"], responses=ON_ONE)
def get_job(job_id: str) -> models.Job:
    caller(router)
    job = all_jobs.get(check_job_id(job_id))
    if job is None:
        raise NotFound("job", job_id, field="job_id")
    return job_view(job, instant.now())


@router.patch("/jobs/<job_id>", summary="Change a job", tags=["jobs"], responses=ON_EDIT)
def edit_job(job_id: str, edit: models.Edit, if_match: IfMatch = None) -> models.Job:
    """What was planned and has not started is replaced; what runs finishes under the rules it started with."""
    who = caller(router, Role.OPERATOR)
    job = submit.edit(job_id, edit.to_changes(), _revision(if_match), who)
    return job_view(job, instant.now())


@router.delete("/jobs/<job_id>", summary="Delete a job; its history stays", tags=["jobs"], responses=ON_DELETE)
def delete_job(job_id: str) -> models.Job:
    return job_view(submit.delete(job_id, caller(router, Role.OPERATOR)), instant.now())


@router.post(
    "/jobs/<job_id>/backfill",
    summary="Run due instants of the past",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=ON_BACKFILL,
)
def backfill_job(
    job_id: str, request: models.BackfillRequest, dry_run: DryRunQuery = False
) -> Response[models.BackfillAnswer]:
    """Each with the data window of its instant; its deadline counts from now. Up to 1,000 at once."""
    who = caller(router, Role.OPERATOR)
    wanted = parse_range(request.model_dump(by_alias=True), instant.now())

    def act() -> dict[str, Any]:
        stored = backfill.backfill(job_id, wanted, who, dry_run=dry_run)
        return models.BackfillAnswer(items=[backfill_view(one) for one in stored]).model_dump(mode="json")

    return _created(models.BackfillAnswer(**(act() if dry_run else _once(act, who))))


def _revision(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().removeprefix("W/").strip('"')
    if not number.isdecimal():
        raise Invalid("If-Match", "is the number of a revision, as the job shows it")
    return int(number)


def _once(act: Any, who: Caller) -> dict[str, Any]:
    event = router.current_event
    key = event.headers.get("idempotency-key")
    return once(act, key=key, caller=who.subject, route=event.path, body=event.body, context=router.lambda_context)


def _created(body: Any, *, anew: bool = True) -> Response[Any]:
    status = HTTPStatus.CREATED if anew else HTTPStatus.OK
    return Response(status_code=status, content_type="application/json", body=body)
