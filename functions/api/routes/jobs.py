"""``/jobs``."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated

import answers
import answers.submission
import bodies
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import BODY_ERRORS, openapi_responses
from services import (
    authorize,
    backfill,
    browse,
    created_response,
    dry_run_response,
    edit,
    job_state,
    rerun,
    run_once,
    statistics,
    submission_forecaster,
    submit,
)
from views import backfill_view, changes_view, job_view, run_view, submitted_view
from views.pages import page_fields
from views.submission import batch_preview_view, batch_view, submission_preview_view

from punctual.domain import instant
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Priority
from punctual.domain.requests.backfill_range import parse_range
from punctual.domain.requests.caller import Role
from punctual.domain.requests.job_filter import JobFilter, JobSort, parse_tag_filter
from routes.queries import (
    CursorQuery,
    DryRunQuery,
    IdempotencyKey,
    IfMatch,
    JobNameQuery,
    LimitQuery,
    NameQuery,
    TagsQuery,
    TotalQuery,
    revision_in,
)

router = APIGatewayHttpRouter()

SUBMISSION_ERRORS = (*BODY_ERRORS, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
DRY_RUN_RESPONSES = openapi_responses(answers.Changes)
SUBMIT_RESPONSES = openapi_responses(answers.Job, *SUBMISSION_ERRORS, success=HTTPStatus.CREATED) | openapi_responses(
    answers.Job | answers.submission.SubmissionPreview
)
BATCH_RESPONSES = openapi_responses(
    answers.BatchResponse, *SUBMISSION_ERRORS, success=HTTPStatus.CREATED
) | openapi_responses(answers.BatchResponse | answers.submission.BatchPreview)
LIST_RESPONSES = openapi_responses(answers.JobPage)
EDIT_RESPONSES = openapi_responses(
    answers.Job | answers.Changes,
    *SUBMISSION_ERRORS,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.PRECONDITION_FAILED,
)
BACKFILL_RESPONSES = (
    openapi_responses(answers.BackfillResponse, *SUBMISSION_ERRORS, HTTPStatus.NOT_FOUND, success=HTTPStatus.CREATED)
    | DRY_RUN_RESPONSES
)
STATE_RESPONSES = openapi_responses(answers.Job | answers.Changes, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
RUN_RESPONSES = (
    openapi_responses(answers.RunResponse, *SUBMISSION_ERRORS, HTTPStatus.NOT_FOUND, success=HTTPStatus.CREATED)
    | DRY_RUN_RESPONSES
)


@router.post("/jobs", summary="Submit a job", tags=["jobs"], status_code=HTTPStatus.CREATED, responses=SUBMIT_RESPONSES)
def submit_job(
    submission: bodies.Submission, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[answers.Job | answers.submission.SubmissionPreview]:
    """Returns 201 with the new job, or 200 with the existing one if `on_duplicate` is `return_existing`."""
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        changes, job = submit.preview(submission.to_submission(), caller)
        preview = submission_preview_view(changes, submission_forecaster.forecast(job) if job else None)
        return created_response(preview, is_new=False)

    submitted = run_once(router, partial(submit.submit, submission.to_submission(), caller), caller, idempotency_key)
    return created_response(submitted_view(submitted, instant.now()), is_new=submitted.created)


@router.post(
    "/jobs/batch",
    summary="Submit up to 1,000 jobs",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=BATCH_RESPONSES,
)
def submit_jobs(
    batch: bodies.BatchRequest, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[answers.BatchResponse | answers.submission.BatchPreview]:
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        changes, jobs = submit.preview_all((one.to_submission() for one in batch.jobs), caller)
        preview = batch_preview_view(changes, jobs, submission_forecaster.forecast_all(jobs))
        return created_response(preview, is_new=False)

    submissions = [one.to_submission() for one in batch.jobs]
    submitted = run_once(router, partial(submit.submit_all, submissions, caller), caller, idempotency_key)
    return created_response(batch_view(submitted, instant.now()), is_new=any(one.created for one in submitted))


@router.get("/jobs", summary="List jobs: live ones first, newest first", tags=["jobs"], responses=LIST_RESPONSES)
def list_jobs(
    state: Annotated[list[JobState] | None, Query(description="Several are separated by commas or repeated.")] = None,
    priority: Annotated[list[Priority] | None, Query()] = None,
    task: NameQuery = None,
    owner: NameQuery = None,
    name: JobNameQuery = None,
    tag: TagsQuery = None,
    sort: Annotated[
        JobSort | None, Query(description="Default: `newest`. `name` lists live jobs that have a name.")
    ] = None,
    total: TotalQuery = False,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> answers.JobPage:
    """Deleted jobs are listed only with `state=deleted`. With `name` and no `sort`, live jobs are sorted by name."""
    authorize(router)
    where = JobFilter(
        owner=owner,
        states=frozenset(state or ()),
        priorities=frozenset(priority or ()),
        task=task,
        name=name,
        tags=parse_tag_filter(tag or ()),
    )
    page, now = browse.list_jobs(where, limit, cursor, sort), instant.now()
    counted = page_fields(page, cursor, partial(browse.count_jobs, where, sort) if total else None)
    pulses = statistics.pulses(page.items)
    items = [job_view(job, now, pulse) for job, pulse in zip(page.items, pulses, strict=True)]
    return answers.JobPage(items=items, **counted)


@router.patch("/jobs/<job_id>", summary="Edit a job", tags=["jobs"], responses=EDIT_RESPONSES)
def edit_job(
    job_id: str, changes: bodies.Edit, if_match: IfMatch = None, dry_run: DryRunQuery = False
) -> answers.Job | answers.Changes:
    """Planned executions that have not started are replaced; running ones finish under the rules they started with."""
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return changes_view(edit.preview(job_id, changes.to_changes(), revision_in(if_match), caller))
    return job_view(edit.edit(job_id, changes.to_changes(), revision_in(if_match), caller), instant.now())


@router.delete("/jobs/<job_id>", summary="Delete a job and keep its history", tags=["jobs"], responses=STATE_RESPONSES)
def delete_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """Waiting executions are cancelled; running ones are asked to stop."""
    return _change_state(job_id, JobState.DELETED, dry_run)


@router.put(
    "/jobs/<job_id>/cancel", summary="Cancel a job and its live executions", tags=["jobs"], responses=STATE_RESPONSES
)
def cancel_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """The job creates no more executions. Waiting ones are cancelled; running ones are asked to stop."""
    return _change_state(job_id, JobState.CANCELLED, dry_run)


@router.post("/jobs/<job_id>/pause", summary="Pause a job", tags=["jobs"], responses=STATE_RESPONSES)
def pause_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """Executions that have not started are skipped; running ones continue."""
    return _change_state(job_id, JobState.PAUSED, dry_run)


@router.post("/jobs/<job_id>/resume", summary="Resume a job", tags=["jobs"], responses=STATE_RESPONSES)
def resume_job(job_id: str, dry_run: DryRunQuery = False) -> answers.Job | answers.Changes:
    """Due instants missed in the pause are run or recorded according to the job's `misfire` rule."""
    return _change_state(job_id, JobState.ACTIVE, dry_run)


def _change_state(job_id: str, state: JobState, dry_run: bool) -> answers.Job | answers.Changes:
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return changes_view(job_state.preview(job_id, state, caller))
    return job_view(job_state.change_state(job_id, state, caller), instant.now())


@router.post(
    "/jobs/<job_id>/run",
    summary="Run a job now",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=RUN_RESPONSES,
)
def run_job(
    job_id: str,
    request: bodies.RunRequest | None = None,
    dry_run: DryRunQuery = False,
    idempotency_key: IdempotencyKey = None,
) -> Response[answers.RunResponse | answers.Changes]:
    """Creates an execution in addition to the schedule. The `overlap` rule applies; `outcome` says what it will do."""
    caller = authorize(router, Role.OPERATOR)
    wanted = (request or bodies.RunRequest()).to_request()
    if dry_run:
        return dry_run_response(rerun.preview_run(job_id, wanted, caller))

    manual = run_once(router, partial(rerun.run, job_id, wanted, caller), caller, idempotency_key)
    return created_response(run_view(manual))


@router.post(
    "/jobs/<job_id>/backfill",
    summary="Backfill past due instants",
    tags=["jobs"],
    status_code=HTTPStatus.CREATED,
    responses=BACKFILL_RESPONSES,
)
def backfill_job(
    job_id: str, request: bodies.BackfillRequest, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[answers.BackfillResponse | answers.Changes]:
    """Each execution has the data window of its instant, and its deadline counts from now. At most 1,000 at once."""
    caller = authorize(router, Role.OPERATOR)
    wanted = parse_range(request.model_dump(by_alias=True), instant.now())
    if dry_run:
        return dry_run_response(backfill.preview(job_id, wanted, caller))

    stored = run_once(router, partial(backfill.backfill, job_id, wanted, caller), caller, idempotency_key)
    return created_response(answers.BackfillResponse(items=[backfill_view(one) for one in stored]))
