"""`make preflight` and `make deploy`: checks first, then `cdk deploy` with settings that fit the account."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import boto3
from botocore.exceptions import ClientError
from rich.console import Console
from rich.table import Table

from cdk.preflight import Check, Preflight, State
from cdk.settings import Settings
from cdk.stages import for_stage

ROOT = Path(__file__).parents[1]
LOOKS = {State.OK: "[green]✓[/]", State.ADAPTED: "[yellow]![/]", State.FAILED: "[red]✗[/]"}


def cdk(arguments: list[str]) -> int:
    """Run the command line of the CDK. Returns its exit code."""
    return subprocess.run([str(ROOT / "node_modules" / ".bin" / "cdk"), *arguments], cwd=ROOT, check=False).returncode


def main(arguments: Sequence[str] | None = None, run_cdk: Callable[[list[str]], int] = cdk) -> int:
    """Check, and with `deploy` also deploy. Returns 1 if a check fails: then nothing has been changed."""
    options = _options(arguments)
    try:
        settings = for_stage(options.stage)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    preflight = Preflight(settings)
    if options.command == "bootstrap":
        return _bootstrap(preflight, run_cdk)
    checks = _show(preflight, settings.stack_name)
    if any(check.state is State.FAILED for check in checks):
        return 1
    if options.command == "preflight":
        return 0
    if any(check.name == "ECS role" and check.state is State.ADAPTED for check in checks):
        _create_service_linked_role(preflight.region)
    return _deploy(preflight, settings, run_cdk)


def _deploy(preflight: Preflight, settings: Settings, run_cdk: Callable[[list[str]], int]) -> int:
    """Deploy the stack; if it is new, first without deletion protection, which would block the rollback of a creation.

    A second pass protects what the first has created. After a crash between the two, the stack exists, so the next
    deployment protects it.
    """
    context = {"stage": settings.stage, **preflight.quotas.context}
    flags = [part for name, value in context.items() for part in ("--context", f"{name}={value}")]
    command = ["deploy", settings.stack_name, *flags]
    if preflight.is_new and (code := run_cdk([*command, "--context", "creating=yes"])):
        return code
    return run_cdk(command)


def _bootstrap(preflight: Preflight, run_cdk: Callable[[list[str]], int]) -> int:
    credentials = preflight.credentials()
    if credentials.state is State.FAILED:
        print(f"credentials: {credentials.found}; {credentials.fix}", file=sys.stderr)
        return 1
    # Without an application: bootstrapping needs no packages of the functions.
    return run_cdk(["bootstrap", f"aws://{preflight.account}/{preflight.region}", "--app", ""])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cdk.deploy", description=__doc__)
    parser.add_argument("command", choices=["preflight", "bootstrap", "deploy"])
    parser.add_argument("--stage", default="prod")
    return parser.parse_args(arguments)


def _show(preflight: Preflight, stack: str) -> list[Check]:
    """Make the checks, and print them as a table."""
    console, checks = Console(highlight=False), []
    with console.status("checking the account") as status:
        for check in preflight.checks():
            checks.append(check)
            status.update(f"checked: {check.name}")
    table = Table("", "check", "found", "fix", title=f"Preflight of {stack}", title_justify="left", box=None)
    for check in checks:
        table.add_row(LOOKS[check.state], check.name, check.found, check.fix)
    console.print(table)
    return checks


def _create_service_linked_role(region: str) -> None:
    """Without this role, the first ECS cluster of an account cannot be created."""
    try:
        boto3.client("iam", region_name=region).create_service_linked_role(AWSServiceName="ecs.amazonaws.com")
    except ClientError as error:
        if "has been taken" not in str(error):  # another deployment created it
            raise


if __name__ == "__main__":
    sys.exit(main())
