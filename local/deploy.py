"""Runs `cdk bootstrap` and `cdk deploy` against the emulator."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from botocore.exceptions import ClientError

from local.aws import DUMMY_CREDENTIALS, client
from local.errors import DeployFailed
from local.places import ACCOUNT, REGION, ROOT, Places

STACK = "Punctual-local"
DEPLOYED = "/punctual/local/deployed"
CDK = ROOT / "node_modules" / ".bin" / "cdk"
# Inputs of the synthesised stack.
SOURCES = (
    *("app.py", "cdk.json", "cdk", "functions", "layers", "tasks", "package-lock.json"),
    *("console/index.html", "console/public", "console/src", "console/precompress.js", "console/vite.config.ts"),
)
LAST_LINES = 25
COMPLETE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
UNDER_WAY = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS")
COMPLETION_SECONDS = 30


class Deployment:
    """Deploys the stack of this checkout to the emulator at `endpoint`. Idempotent."""

    def __init__(self, places: Places, endpoint: str) -> None:
        self._places = places
        self._endpoint = endpoint
        self._cloudformation: Any = client("cloudformation", endpoint)
        self._ssm: Any = client("ssm", endpoint)

    def exists(self) -> bool:
        """Whether the stack exists and is complete."""
        return self._status(STACK) in COMPLETE

    def deployed(self) -> str | None:
        """The fingerprint of the deployed stack. The emulator stores it, so that it is lost together with the stack."""
        try:
            return str(self._ssm.get_parameter(Name=DEPLOYED)["Parameter"]["Value"])
        except self._ssm.exceptions.ParameterNotFound:
            return None

    def wait_until_complete(self) -> None:
        """Wait for an interrupted deployment, which the emulator continues: a partial stack must not be saved."""
        end = time.monotonic() + COMPLETION_SECONDS
        while self._status(STACK) in UNDER_WAY and time.monotonic() < end:
            time.sleep(0.2)

    def is_bootstrapped(self) -> bool:
        return self._status("CDKToolkit") in COMPLETE

    def bootstrap(self) -> None:
        self._cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", "")

    def deploy(self, fingerprint: str) -> None:
        """Deploy this checkout and record its `fingerprint`."""
        shutil.rmtree(self._places.assembly, ignore_errors=True)
        app = f'"{sys.executable}" app.py'
        # `make test` validates the same stack with cdk-nag.
        self._cdk(
            *("deploy", STACK, "--app", app, "--output", str(self._places.assembly)),
            *("--context", "stage=local", "--context", "validate=no", "--require-approval", "never"),
            *("--progress", "events"),
        )
        self._ssm.put_parameter(Name=DEPLOYED, Value=fingerprint, Type="String", Overwrite=True)

    def outputs(self) -> dict[str, str]:
        """The outputs of the deployed stack."""
        (stack,) = self._cloudformation.describe_stacks(StackName=STACK)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def _status(self, stack: str) -> str | None:
        try:
            reply = self._cloudformation.describe_stacks(StackName=stack)
        except ClientError:
            return None
        return str(reply["Stacks"][0]["StackStatus"])

    def _cdk(self, *arguments: str) -> None:
        with self._places.deploy_log.open("a") as log:
            log.write(f"$ cdk {' '.join(arguments)}\n")
            log.flush()
            status = self._run([str(CDK), *arguments, "--ci"], log)
        if status != 0:
            raise DeployFailed(self._failure_text(arguments[0]))

    def _run(self, command: list[str], log: TextIO) -> int:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait()
        except BaseException:
            # Ends the CDK command line and the application that it started.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {
            **inherited,
            **DUMMY_CREDENTIALS,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_ENDPOINT_URL_S3": self._endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def _failure_text(self, command: str) -> str:
        lines = self._places.deploy_log.read_text(errors="replace").splitlines()
        start = max(i for i, line in enumerate(lines) if line.startswith("$ cdk "))
        tail = "\n".join(lines[start:][-LAST_LINES:])
        return f"`cdk {command}` failed. The end of {self._places.deploy_log}:\n{tail}"


def fingerprint() -> str:
    """A hash that changes whenever the deployed stack would."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in _files(ROOT / source):
            digest.update(f"{file.relative_to(ROOT)}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    return [file for file in found if file.is_file() and file.suffix != ".pyc"]
