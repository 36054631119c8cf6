"""The CDK application: `cdk deploy` deploys Punctual to the account and Region of your credentials."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import cdk  # noqa: F401 - before the library of the CDK

# isort: split
from aws_cdk import App

# The stack derives event filters from the engine (punctual.domain.triggers).
sys.path.append(str(Path(__file__).parent / "layers" / "punctual" / "python"))

from cdk.lock import LockOutdated, require_current
from cdk.quotas import Quotas, fitted
from cdk.stack import PunctualStack
from cdk.stages import for_stage, is_on_this_machine, with_long_lane
from cdk.task_check import TasksBroken, check_tasks
from cdk.validation import validate

app = App()
context = app.node.try_get_context
try:
    require_current()
    settings = with_long_lane(for_stage(context("stage") or "prod"), context("long_lane"))
except (LockOutdated, ValueError) as error:
    sys.exit(f"\n{error}\n")
# `make deploy` states the quotas of the account.
settings = fitted(settings, Quotas.of(context("lambda_concurrency"), context("fargate_vcpus")))
# `make deploy` creates a stack without deletion protection, so that a creation that fails can be rolled back.
settings = replace(settings, is_protected=context("creating") != "yes")
if settings.is_emulated and not is_on_this_machine(os.environ.get("AWS_ENDPOINT_URL", "")):
    sys.exit("\nthe stage `local` is for the emulator: use `make up`\n")
stack = PunctualStack(app, settings=settings)
if stack.bundling_required:  # not by commands that deploy nothing
    try:
        check_tasks()
    except TasksBroken as error:
        sys.exit(f"\n{error}\n")
if context("validate") != "no":
    validate(app)
app.synth()
