"""``/jobs``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

import answers
import bodies
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import described
from services import backfill, browse, caller, created, edit, find_job, foreseen, manage, once_for, rerun, submit
from views import backfill_view, changes_view, job_view, run_view

from punctual.domain import instant
from punctual.domain.errors import Invalid
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Priority
from punctual.domain.requests.backfill_range import parse_range
from punctual.domain.requests.caller import Role
from punctual.stages.api.browse import JobFilter
from routes.queries import CursorQuery, DryRunQuery, LimitQuery, NameQuery

router = APIGatewayHttpRouter()

LONGEST_REVISION = 18
"""Digits."""

FOR_SUBMISSIONS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
FORESEEN = described(answers.Changes)
ON_SUBMIT = described(answers.Job, *FOR_SUBMISSIONS, success=HTTPStatus.CREATED) | described(
    answers.Job | answers.Changes
)
ON_BATCH = described(answers.BatchAnswer, *FOR_SUBMISSIONS, success=HTTPStatus.CREATED) | described(
    answers.BatchAnswer | answers.Changes
)
ON_LIST = described(answers.JobPage, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)
ON_ONE = described(answers.Job, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
ON_EDIT = described(
    answers.Job | answers.Changes,
    *FOR_SUBMISSIONS,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.PRECONDITION_FAILED,
)
IfMatch = Annotated[str | None, Header(description="The revision that the change is made for; 412 if it is not that.")]
ON_BACKFILL = (
    described(answers.BackfillAnswer, *FOR_SUBMISSIONS, HTTPStatus.NOT_FOUND, success=HTTPStatus.CREATED) | FORESEEN
)
ON_MOVE = described(answers.Job | answers.Changes, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
ON_RUN = described(answers.RunAnswer, *FOR_SUBMISSIONS, HTTPStatus.NOT_FOUND, success=HTTPStatus.CREATED) | FORESEEN


@router.post("/jobs", summary="Submit a job", tags=["jobs"], status_code=HTTPStatus.CREATED, responses=ON_SUBMIT)
def submit_job(submission: bodies.Submission, dry_run: DryRunQuery = False) -> Response[answers.Job | answers.Changes]:
    """201 with the job; 200 with the one that has its `dedupe_key` already, if that is asked for."""
    who = caller(router, Role.OPERATOR)
    if dry_run:
        return foreseen(submit.foresee(submission.to_submission(), who))

    def act() -> dict[str, Any]:
        submitted = submit.submit(submission.to_submission(), who)
        return job_view(submitted.job, instant.now()).model_dump(mode="json") | {"created": submitted.created}

    answer = once_for(router, act, who)
    return created(answers.Job(**answer), anew=answer.get("created", True))


@router.post(
    "/jobs/batch",
    summary="Submit up to 1,000 jobs",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=ON_BATCH,
)
def submit_jobs(batch: bodies.Batch, dry_run: DryRunQuery = False) -> Response[answers.BatchAnswer | answers.Changes]:
    who = caller(router, Role.OPERATOR)
    if dry_run:
        return foreseen(submit.foresee_all((one.to_submission() for one in batch.jobs), who))

    def act() -> dict[str, Any]:
        submitted = submit.submit_all((one.to_submission() for one in batch.jobs), who)
        return {
            "items": [{"job_id": one.job.job_id, "name": one.job.name, "created": one.created} for one in submitted]
        }

    answer = answers.BatchAnswer(**once_for(router, act, who))
    return created(answer, anew=any(one.created for one in answer.items))


@router.get("/jobs", summary="List jobs, newest first", tags=["jobs"], responses=ON_LIST)
def list_jobs(
    status: Annotated[JobState | None, Query(description="active, paused, done, cancelled or deleted")] = None,
    priority: Annotated[Priority | None, Query()] = None,
    task: NameQuery = None,
    owner: NameQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.JobPage:
    caller(router)
    where = JobFilter(owner=owner, state=status, priority=priority, task=task)
    page, now = browse.list_jobs(where, limit, cursor), instant.now()
    return answers.JobPage(items=[job_view(job, now) for job in page.items], cursor=page.cursor)


@router.get("/jobs/<job_id>", summary="One job", tags=["jobs"], responses=ON_ONE)
def get_job(job_id: str) -> answers.Job:
    caller(router)
    return job_view(find_job(job_id), instant.now())


@router.patch("/jobs/<job_id>", summary="Change a job", tags=["jobs"], responses=ON_EDIT)
def edit_job(
    job_id: str, changes: bodies.Edit, if_match: IfMatch = None, dry_run: DryRunQuery = False
) -> answers.Job | answers.Changes:
    """What was planned and has not started is replaced; what runs finishes under the rules it started with."""
    who = caller(router, Role.OPERATOR)
    if dry_run:
        return changes_view(edit.foresee(job_id, changes.to_changes(), _revision(if_match), who))
    return job_view(edit.edit(job_id, changes.to_changes(), _revision(if_match), who), instant.now())


@router.delete("/jobs/<job_id>", summary="Delete a job; its history stays", tags=["jobs"], responses=ON_MOVE)
def delete_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """What waits of it is cancelled, and what runs is asked to stop."""
    return _move(job_id, JobState.DELETED, dry_run)


@router.put("/jobs/<job_id>/cancel", summary="Cancel a job and all that lives of it", tags=["jobs"], responses=ON_MOVE)
def cancel_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """It brings forth nothing more; what waits of it is cancelled, and what runs is asked to stop."""
    return _move(job_id, JobState.CANCELLED, dry_run)


@router.post("/jobs/<job_id>/pause", summary="Pause a job", tags=["jobs"], responses=ON_MOVE)
def pause_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """What has not started is skipped; what runs goes on."""
    return _move(job_id, JobState.PAUSED, dry_run)


@router.post("/jobs/<job_id>/resume", summary="Resume a job", tags=["jobs"], responses=ON_MOVE)
def resume_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """What went by meanwhile is run or recorded as its misfire rule says."""
    return _move(job_id, JobState.ACTIVE, dry_run)


def _move(job_id: str, state: JobState, dry_run: bool) -> answers.Job | answers.Changes:
    who = caller(router, Role.OPERATOR)
    if dry_run:
        return changes_view(manage.foresee(job_id, state, who))
    return job_view(manage.move(job_id, state, who), instant.now())


@router.post(
    "/jobs/<job_id>/run", summary="Run a job now", tags=["jobs"], status_code=HTTPStatus.CREATED, responses=ON_RUN
)
def run_job(
    job_id: str, request: bodies.RunRequest | None = None, dry_run: DryRunQuery = False
) -> Response[answers.RunAnswer | answers.Changes]:
    """Beside its schedule; its overlap rule counts, and the answer says what it did."""
    who = caller(router, Role.OPERATOR)
    parameters = request.parameters if request else None
    if dry_run:
        return foreseen(rerun.foresee_run(job_id, parameters, who))

    def act() -> dict[str, Any]:
        return run_view(rerun.run(job_id, parameters, who)).model_dump(mode="json")

    return created(answers.RunAnswer(**once_for(router, act, who)))


@router.post(
    "/jobs/<job_id>/backfill",
    summary="Run due instants of the past",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=ON_BACKFILL,
)
def backfill_job(
    job_id: str, request: bodies.BackfillRequest, dry_run: DryRunQuery = False
) -> Response[answers.BackfillAnswer | answers.Changes]:
    """Each with the data window of its instant; its deadline counts from now. Up to 1,000 at once."""
    who = caller(router, Role.OPERATOR)
    wanted = parse_range(request.model_dump(by_alias=True), instant.now())
    if dry_run:
        return foreseen(backfill.foresee(job_id, wanted, who))

    def act() -> dict[str, Any]:
        stored = backfill.backfill(job_id, wanted, who)
        return answers.BackfillAnswer(items=[backfill_view(one) for one in stored]).model_dump(mode="json")

    return created(answers.BackfillAnswer(**once_for(router, act, who)))


def _revision(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().removeprefix("W/").strip('"')
    if not number.isdecimal() or len(number) > LONGEST_REVISION:
        raise Invalid("If-Match", "is the number of a revision, as the job shows it")
    return int(number)
