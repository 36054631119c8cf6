"""Checks an account and this machine before a deployment. Read-only: `make preflight` prints the results as a table."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from cdk.quotas import RESERVABLE, Quotas, fitted, needed_quota
from cdk.settings import Settings

OLDEST_PYTHON = (3, 11)
NODES = (20, 22, 24)
OLDEST_BOOTSTRAP = 6
BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
SERVICE_LINKED_ROLE = "AWSServiceRoleForECS"
FARGATE_VCPUS = ("fargate", "L-3032A538")
LAMBDA_CONCURRENCY = "L-B99A9384"
BUSY = re.compile(r"_IN_PROGRESS$")
ROLLED_BACK = "ROLLBACK_COMPLETE"
NEVER_CREATED = {None, "REVIEW_IN_PROGRESS", ROLLED_BACK}
"""The stack does not exist, was only prepared, or its creation was rolled back: the CDK creates it anew."""
DEAD = {"CREATE_FAILED", "ROLLBACK_FAILED", "DELETE_FAILED"}
STUCK = {"UPDATE_FAILED", "UPDATE_ROLLBACK_FAILED"}


class State(StrEnum):
    OK = "ok"
    ADAPTED = "adapted"
    """The deployment proceeds, with other settings than the stage's, or after it has created what is missing."""
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """One row of the table."""

    name: str
    state: State
    found: str
    fix: str = ""


class Preflight:
    """The checks of one stage, with the credentials and the Region that the CDK uses."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # The CDK prefers this variable to the profile's Region; boto3 ignores it.
        self._session = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        self.account = ""
        """Known after the credentials have been checked."""
        self.quotas = Quotas()
        """Known after the quotas have been checked."""

    @property
    def region(self) -> str:
        return str(self._session.region_name)

    @property
    def is_new(self) -> bool:
        """Whether a deployment creates the stack."""
        return self._stack_status in NEVER_CREATED

    def checks(self) -> Iterator[Check]:
        """Each check as soon as it is made. Without credentials, the checks of the account are left out."""
        yield self._python()
        yield self._node()
        if self._settings.long.enabled:
            yield self._runner_image()
        credentials = self.credentials()
        yield credentials
        if credentials.state is State.FAILED:
            return
        of_account: dict[str, Callable[[], Check]] = {
            "CDK bootstrap": self._bootstrap,
            "stack": self._stack,
            "sign-in domain": self._domain,
            "Lambda concurrency": self._lambda_concurrency,
        }
        if self._settings.long.enabled:
            of_account |= {"ECS role": self._service_linked_role, "Fargate vCPUs": self._fargate_vcpus}
        for name, check in of_account.items():
            try:
                yield check()
            except (ClientError, BotoCoreError) as error:
                yield Check(name, State.FAILED, str(error), "allow your role the action, or use another one")

    def _python(self) -> Check:
        found = ".".join(map(str, sys.version_info[:3]))
        if sys.version_info >= OLDEST_PYTHON:
            return Check("Python", State.OK, found)
        return Check("Python", State.FAILED, found, "use Python 3.11 or newer: `make … PYTHON=python3.13`")

    def _node(self) -> Check:
        found = _output("node", "--version")
        version = re.match(r"v(\d+)\.", found)
        if version and int(version[1]) in NODES:
            return Check("Node", State.OK, found)
        return Check("Node", State.FAILED, found or "not found", "install Node 20, 22 or 24")

    def _runner_image(self) -> Check:
        name, image = "runner image", self._settings.long.image
        if image:
            return Check(name, State.OK, image)
        if shutil.which("docker") and _output("docker", "info", "--format", "{{.ServerVersion}}"):
            return Check(name, State.OK, "built with Docker")
        fix = (
            "start Docker; or in the section [long] of the stage, set `image` to an image that exists, or leave the "
            "long lane out with `enabled = false`: long jobs are then refused"
        )
        return Check(name, State.FAILED, "Docker does not run, and the stage names no image", fix)

    def credentials(self) -> Check:
        if self._session.region_name is None:
            return Check("credentials", State.FAILED, "no Region", "set AWS_REGION, or `region` in your profile")
        try:
            identity = self._client("sts").get_caller_identity()
        except NoCredentialsError:
            return Check("credentials", State.FAILED, "none", "sign in: `aws sso login`, or set AWS_PROFILE")
        except (ClientError, BotoCoreError) as error:
            return Check("credentials", State.FAILED, str(error), "sign in again: `aws sso login`")
        self.account = str(identity["Account"])
        return Check("credentials", State.OK, f"account {self.account}, {self.region}")

    def _bootstrap(self) -> Check:
        name, fix = "CDK bootstrap", "run `make bootstrap`"
        try:
            version = int(self._client("ssm").get_parameter(Name=BOOTSTRAP_VERSION)["Parameter"]["Value"])
        except ClientError as error:
            if _code(error) != "ParameterNotFound":
                raise
            return Check(name, State.FAILED, f"missing in {self.region}", fix)
        if version < OLDEST_BOOTSTRAP:
            return Check(name, State.FAILED, f"version {version}; at least {OLDEST_BOOTSTRAP} is required", fix)
        return Check(name, State.OK, f"version {version}")

    def _stack(self) -> Check:
        name = f"stack {self._settings.stack_name}"
        status = self._stack_status
        if status == ROLLED_BACK:
            return Check(name, State.ADAPTED, "an earlier creation was rolled back", "is deleted and created again")
        if status is None or self.is_new:
            return Check(name, State.OK, "will be created")
        if status in DEAD:
            command = f"aws cloudformation delete-stack --stack-name {self._settings.stack_name}"
            return Check(name, State.FAILED, status, f"delete it: `{command}`")
        if status in STUCK:
            command = f"node_modules/.bin/cdk rollback {self._settings.stack_name}"
            return Check(name, State.FAILED, status, f"complete its rollback: `{command}`")
        if BUSY.search(status):
            return Check(name, State.FAILED, status, "wait until the other deployment has ended")
        return Check(name, State.OK, f"{status}: will be updated")

    def _domain(self) -> Check:
        """The sign-in page's domain of Cognito must be free, or belong to the stack."""
        domain = self._settings.domain_prefix(self.account)
        found = self._client("cognito-idp").describe_user_pool_domain(Domain=domain).get("DomainDescription", {})
        if not found or not self.is_new:
            return Check("sign-in domain", State.OK, domain)
        command = f"aws cognito-idp delete-user-pool-domain --domain {domain} --user-pool-id {found['UserPoolId']}"
        return Check(
            "sign-in domain", State.FAILED, f"{domain} belongs to another user pool", f"delete it: `{command}`"
        )

    def _service_linked_role(self) -> Check:
        try:
            self._client("iam").get_role(RoleName=SERVICE_LINKED_ROLE)
        except ClientError as error:
            if _code(error) != "NoSuchEntity":
                raise
            return Check("ECS role", State.ADAPTED, "missing", f"`make deploy` creates {SERVICE_LINKED_ROLE}")
        return Check("ECS role", State.OK, SERVICE_LINKED_ROLE)

    def _lambda_concurrency(self) -> Check:
        name, limits = "Lambda concurrency", self._client("lambda").get_account_settings()["AccountLimit"]
        quota = int(limits["ConcurrentExecutions"])
        available = int(limits["UnreservedConcurrentExecutions"]) + self._own_reservations()
        self.quotas = replace(self.quotas, lambda_concurrency=available)
        found = f"{quota:,}" + (f"; others reserve {quota - available:,}" if available < quota else "")
        given = fitted(self._settings, self.quotas)
        if given.concurrency == self._settings.concurrency and set(given.reserved) == set(RESERVABLE):
            return Check(name, State.OK, found)
        shares = ", ".join(f"{queue} {one}" for queue, one in asdict(given.concurrency).items())
        reserved = f"reserves concurrency for {', '.join(given.reserved) or 'no function'}"
        ask = needed_quota(self._settings) + quota - available
        fix = f"deploys with {shares}; {reserved}; for the settings of the stage, request {ask:,}"
        return Check(name, State.ADAPTED, found, f"{fix} (quota {LAMBDA_CONCURRENCY})")

    def _own_reservations(self) -> int:
        """The concurrency that the functions of the deployed stack have reserved."""
        outputs = {one["OutputKey"]: one["OutputValue"] for one in (self._stack_description or {}).get("Outputs", ())}
        functions = [outputs[key] for key in (f"{name.title()}Function" for name in RESERVABLE) if key in outputs]
        answers = [self._client("lambda").get_function_concurrency(FunctionName=one) for one in functions]
        return sum(int(answer.get("ReservedConcurrentExecutions", 0)) for answer in answers)

    def _fargate_vcpus(self) -> Check:
        service, code = FARGATE_VCPUS
        answer = self._client("service-quotas").get_service_quota(ServiceCode=service, QuotaCode=code)
        quota = int(answer["Quota"]["Value"])
        self.quotas = replace(self.quotas, fargate_vcpus=quota)
        wanted = self._settings.long.vcpus
        if quota >= wanted:
            return Check("Fargate vCPUs", State.OK, f"{quota:,}")
        fix = f"deploys with {max(1, quota)} vCPUs; for the settings of the stage, request {wanted:,} (quota {code})"
        return Check("Fargate vCPUs", State.ADAPTED, f"{quota:,}", fix)

    @property
    def _stack_status(self) -> str | None:
        return str(self._stack_description["StackStatus"]) if self._stack_description else None

    @cached_property
    def _stack_description(self) -> dict[str, Any] | None:
        try:
            stacks = self._client("cloudformation").describe_stacks(StackName=self._settings.stack_name)["Stacks"]
        except ClientError as error:
            if "does not exist" not in str(error):
                raise
            return None
        return dict(stacks[0])

    def _client(self, service: str) -> Any:
        return self._session.client(service)


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])


def _output(*command: str) -> str:
    """What a command prints; empty if it does not exist or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
