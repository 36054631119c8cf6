"""The API through the gateway: authentication, validation, paging, idempotency, conformance to its OpenAPI document."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.e2e.punctual import Punctual, wait_for
from tests.integration.malformed import RAW_BODIES, SUBMISSIONS


def stored_jobs(punctual: Punctual) -> int:
    pages = punctual.aws("dynamodb").get_paginator("scan").paginate(TableName=punctual.stack["tables"]["jobs"])
    return sum("task" in item for page in pages for item in page["Items"])


def test_a_request_without_a_valid_token_is_rejected(punctual: Punctual) -> None:
    good = punctual.stack["tokens"]["operator"]
    for token in ("x", "not.a.token", good[:-6] + "AAAAAA"):
        answer = punctual.request("GET", "/jobs", role=None, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    assert punctual.request("POST", "/jobs", {"task": "echo"}, role=None).status_code == 401
    assert punctual.request("GET", "/health", role=None).json()["status"] == "ok"


def test_roles_and_teams_come_from_the_token(punctual: Punctual) -> None:
    assert punctual.request("POST", "/jobs", {"task": "echo"}, role="viewer").status_code == 403
    job = punctual.request("POST", "/jobs", {"task": "echo"}, role="admin").json()
    assert (job["owner"], job["created_by"]) == ("data-quality", "admin")


def test_the_first_administrator_and_a_program_get_tokens_as_documented(punctual: Punctual) -> None:
    """The commands of docs/deployment.md, section "First sign-in"."""
    cognito, pool = punctual.aws("cognito-idp"), {"UserPoolId": punctual.stack["user_pool_id"]}
    user = {**pool, "Username": "loader"}
    cognito.admin_create_user(**user, UserAttributes=[{"Name": "email", "Value": "loader@example.com"}])
    cognito.create_group(**pool, GroupName="team:loading")
    for group in ("admin", "team:loading"):
        cognito.admin_add_user_to_group(**user, GroupName=group)
    cognito.admin_set_user_password(**user, Password="Long-enough-1", Permanent=True)
    signed_in = cognito.admin_initiate_auth(
        **pool,
        ClientId=punctual.stack["user_pool_client_id"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": "loader", "PASSWORD": "Long-enough-1"},
    )
    header = {"Authorization": f"Bearer {signed_in['AuthenticationResult']['AccessToken']}"}
    me = punctual.request("GET", "/me", role=None, headers=header).json()
    assert (me["role"], [team["name"] for team in me["teams"]]) == ("admin", ["loading"])


def test_a_user_who_is_disabled_or_loses_a_role_changes_nothing_more(punctual: Punctual) -> None:
    cognito, pool = punctual.aws("cognito-idp"), {"UserPoolId": punctual.stack["user_pool_id"]}
    user, operator = {**pool, "Username": "leaver"}, {**pool, "Username": "leaver", "GroupName": "operator"}
    cognito.admin_create_user(**user)
    cognito.create_group(**pool, GroupName="team:leaving")
    cognito.admin_add_user_to_group(**operator)
    cognito.admin_add_user_to_group(**user, GroupName="team:leaving")
    cognito.admin_set_user_password(**user, Password="Long-enough-1", Permanent=True)
    token = cognito.admin_initiate_auth(
        **pool,
        ClientId=punctual.stack["user_pool_client_id"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": "leaver", "PASSWORD": "Long-enough-1"},
    )["AuthenticationResult"]["AccessToken"]

    def submission(status: int) -> bool:
        header = {"Authorization": f"Bearer {token}"}
        answer = punctual.request("POST", "/jobs?dry_run=true", {"task": "echo"}, role=None, headers=header)
        return answer.status_code == status

    assert submission(200)
    cognito.admin_remove_user_from_group(**operator)
    wait_for(lambda: submission(403), 30, "the lost role to have an effect")
    cognito.admin_add_user_to_group(**operator)
    wait_for(lambda: submission(200), 30, "the role to have an effect")
    cognito.admin_disable_user(**user)
    wait_for(lambda: submission(403), 30, "the end of the user to have an effect")


def test_a_malformed_submission_is_rejected_with_its_field_and_stores_nothing(punctual: Punctual) -> None:
    before = stored_jobs(punctual)
    wrong: list[Any] = []
    for name, submission, status, field in SUBMISSIONS:
        answer = punctual.request("POST", "/jobs", submission)
        if not is_problem(answer, status, field):
            wrong.append((name, answer.status_code, answer.text))
    for name, body, status, field in RAW_BODIES:
        answer = punctual.request("POST", "/jobs", content=body, headers={"Content-Type": "application/json"})
        if not is_problem(answer, status, field):
            wrong.append((name, answer.status_code, answer.text))
    assert wrong == []
    assert len(SUBMISSIONS) + len(RAW_BODIES) >= 50
    assert stored_jobs(punctual) == before


def is_problem(answer: Any, status: int, field: str) -> bool:
    return (
        answer.status_code == status
        and answer.headers["content-type"] == "application/problem+json"
        and field in [error["field"] for error in answer.json()["errors"]]
    )


def test_a_batch_of_a_thousand_jobs_is_stored_and_can_be_paged_through(punctual: Punctual) -> None:
    jobs = [{"name": f"batch-{n}", "schedule": {"every_seconds": 86400}} for n in range(1000)]
    made = [job["job_id"] for job in punctual.submit_all(*jobs)]
    assert len(made) == 1000
    found: set[str] = set()
    cursor: str | None = ""
    while cursor is not None:
        page = punctual.get(f"/jobs?owner=data-quality&limit=100{f'&cursor={cursor}' if cursor else ''}")
        found |= {job["job_id"] for job in page["items"]}
        cursor = page["cursor"]
    assert set(made) <= found


def test_a_repeated_post_with_the_same_idempotency_key_returns_the_first_answer(punctual: Punctual) -> None:
    key = {"Idempotency-Key": "e2e"}
    first = punctual.request("POST", "/jobs", {"task": "echo"}, headers=key)
    again = punctual.request("POST", "/jobs", {"task": "echo"}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()


def test_the_openapi_document_is_served_as_json_and_as_swagger_ui(punctual: Punctual) -> None:
    page = punctual.request("GET", "/swagger", role=None)
    assert page.status_code == 200
    assert "swagger-ui" in page.text
    assert punctual.request("GET", "/openapi.json", role=None).json()["openapi"].startswith("3.1")


def test_every_answer_conforms_to_the_openapi_document(punctual: Punctual) -> None:
    schema = schemathesis.openapi.from_url(f"{punctual.stack['api_url']}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) >= 9
    for operation in operations:
        check_operation(punctual, operation)


def check_operation(punctual: Punctual, operation: Any, examples: int = 8) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def answers_conform(case: Any) -> None:
        if operation.path.endswith("/bulk"):  # it could cancel the jobs of other tests
            case.query = {**(case.query or {}), "dry_run": "true"}
        case.call_and_validate(
            base_url=punctual.stack["api_url"],
            headers={"Authorization": f"Bearer {punctual.stack['tokens']['operator']}"},
            checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
        )

    answers_conform()
