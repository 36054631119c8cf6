"""The main program of a container of the long lane: ``python -m punctual.runtime.container.main``.

It claims its part, runs the task, and reports the result. Its only input is its environment variables, and the only AWS
API that it calls is the reporter function.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from punctual.aws.reporter_client import ReporterClient, ReporterUnreachable
from punctual.domain import instant
from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.executions.execution_log import LogChunk
from punctual.domain.executions.lease import MAX_CONTAINER_STOP_GRACE
from punctual.domain.instant import from_text
from punctual.domain.jobs.partitions import Partition
from punctual.domain.long_lane.assignment import assignment_in
from punctual.domain.long_lane.part import COLLECT, WHOLE
from punctual.domain.schedules.data_window import DataWindow
from punctual.runtime.container.heartbeat import Heartbeat, TaskInterrupted, interrupt_on_sigterm, record_sigterm
from punctual.runtime.lambdas import log
from punctual.runtime.tasks.context import Context
from punctual.runtime.tasks.execution_log import ExecutionLog
from punctual.runtime.tasks.registry import Catalog
from punctual.runtime.tasks.runner import run_attempt
from punctual.runtime.tasks.time_limit import time_limit

if TYPE_CHECKING:
    from punctual.runtime.tasks.upstreams import Upstreams

MAX_RESULT_BYTES = 4_000_000
"""A result is sent in one invocation of the reporter, whose payload is limited."""


@dataclass(frozen=True)
class ContainerRunner:
    """Runs one attempt of one part."""

    reporter: ReporterClient
    catalog: Catalog
    logger: logging.Logger
    grace_seconds: float = MAX_CONTAINER_STOP_GRACE.total_seconds()

    def run(self, token: str, task_arn: str) -> bool:
        """Claim the part, run the task, report the result.

        Returns ``False`` when the attempt was superseded: the reporter refuses the claim, and the task is not run, or
        refuses the result. Raises ``ReporterUnreachable``.
        """
        work = self.reporter.call_with_retries("claim", token=token, task_arn=task_arn)
        if not work["ok"]:
            self.logger.warning("the claim was refused: this attempt was superseded")
            return False
        with ExecutionLog(self._send_log, part=work["part"], attempt=work["attempt"], clock=instant.now):
            result = _check_result(self._run_task(work))
        answer = self.reporter.call_with_retries("conclude", result=_to_payload(result))
        self.logger.info(str(result.outcome) if answer["ok"] else "the result was refused: this attempt was superseded")
        return bool(answer["ok"])

    def _send_log(self, chunk: LogChunk) -> None:
        self.reporter.call("log", chunk=chunk.to_payload())

    def _run_task(self, work: Mapping[str, Any]) -> AttemptResult:
        seconds = float(work["seconds"])
        heartbeat = Heartbeat(self.reporter, work["heartbeat_seconds"], self.logger.warning)

        def act() -> Any:
            with heartbeat, time_limit(seconds), interrupt_on_sigterm(heartbeat, self.grace_seconds):
                return self._call(work, self._context(work, heartbeat, seconds))

        try:
            result = run_attempt(act, seconds, self.logger)
        except TaskInterrupted:
            if heartbeat.should_stop:
                return AttemptResult(outcome=Outcome.CANCELLED)
            heartbeat.flush_checkpoint()
            failure = Failure(type="Interrupted", message="the container was preempted, or stopped by AWS")
            return AttemptResult(outcome=Outcome.INTERRUPTED, error=failure)
        # A cancelled attempt keeps the value that the task returned, or its error.
        return replace(result, outcome=Outcome.CANCELLED) if heartbeat.should_stop else result

    def _call(self, work: Mapping[str, Any], context: Context) -> Any:
        task, parameters = self.catalog.find(work["task"]), work["parameters"]
        task.check(parameters)
        if work["part"] == COLLECT:
            return self.catalog.collector(work["task"])(context, parameters, [_fetch(one) for one in work["results"]])
        return task.function(context, parameters)

    def _context(self, work: Mapping[str, Any], heartbeat: Heartbeat, seconds: float) -> Context:
        end = time.monotonic() + seconds
        return Context(
            job_id=work["job_id"],
            execution_id=work["execution_id"],
            owner=work["owner"],
            attempt=work["attempt"],
            due=from_text(work["due"]),
            window=_window(work["window"]),
            deadline=from_text(work["deadline"]) if work["deadline"] else None,
            logger=self.logger,
            seconds_left=lambda: end - time.monotonic(),
            partition=_partition(work),
            _report=heartbeat.report,
            _cancelled=lambda: heartbeat.superseded or heartbeat.should_stop,
            _save_checkpoint=heartbeat.checkpoint,
            _last_checkpoint=work["resume"],
            _upstreams=lambda: self._upstreams(work),
        )

    def _upstreams(self, work: Mapping[str, Any]) -> Upstreams:
        from punctual.runtime.container.upstreams import reported_upstreams  # few tasks read them

        return reported_upstreams(work["upstreams"], self.reporter)


def main() -> int:
    """Return the exit code: 0 also for a task that failed, because its result was reported."""
    record_sigterm()
    logger = log.configure()
    assignment = assignment_in(os.environ)
    reporter = ReporterClient(os.environ["PUNCTUAL_REPORTER"], assignment, _lambda_client())
    grace = float(os.environ.get("PUNCTUAL_GRACE_SECONDS", MAX_CONTAINER_STOP_GRACE.total_seconds()))
    runner = ContainerRunner(reporter, Catalog(), logger, grace)
    fields = {"job_id": assignment.job_id, "execution_id": assignment.execution_id, "part": assignment.part}
    with log.about(**fields, attempt=assignment.attempt), log.sampled():
        try:
            runner.run(os.environ["PUNCTUAL_TASK_TOKEN"], _task_arn())
            return 0
        except ReporterUnreachable:
            logger.exception("the reporter is unreachable: the container ends without a reported result")
            return 1


def _lambda_client() -> Any:
    # One attempt only: ReporterClient retries, with its own delays.
    return boto3.client("lambda", config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=40))


def _task_arn() -> str:
    """The ARN of this container's ECS task, from the task metadata endpoint."""
    metadata = os.environ.get("ECS_CONTAINER_METADATA_URI_V4")
    if metadata is None:
        return os.environ["PUNCTUAL_TASK_ARN"]
    with urllib.request.urlopen(f"{metadata}/task", timeout=5) as answer:
        return str(json.load(answer)["TaskARN"])


def _check_result(result: AttemptResult) -> AttemptResult:
    """Replace a result that cannot be sent, because its value is not JSON or is too large, by a fatal error."""
    try:
        size = len(json.dumps(result.value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        return _fatal(f"the task's result cannot be written as JSON: {error}")
    if size > MAX_RESULT_BYTES:
        remedy = "store it elsewhere, and return its location"
        return _fatal(f"the task's result is {size:,} bytes, the limit is {MAX_RESULT_BYTES:,}: {remedy}")
    return result


def _fatal(message: str) -> AttemptResult:
    return AttemptResult(outcome=Outcome.FATAL, error=Failure(type="Fatal", message=message))


def _to_payload(result: AttemptResult) -> dict[str, Any]:
    return {
        "outcome": str(result.outcome),
        "value": result.value,
        "error": asdict(result.error) if result.error else None,
        "retry_after_seconds": result.retry_after_seconds,
    }


def _fetch(result: Mapping[str, Any]) -> Any:
    """The value of a partition's result: inline, or downloaded from its pre-signed link."""
    if "link" not in result:
        return result["value"]
    with urllib.request.urlopen(result["link"], timeout=60) as answer:
        return json.load(answer)


def _window(span: Mapping[str, str] | None) -> DataWindow | None:
    return None if span is None else DataWindow(from_text(span["start"]), from_text(span["end"]))


def _partition(work: Mapping[str, Any]) -> Partition | None:
    if work["part"] in (WHOLE, COLLECT):
        return None
    return Partition(
        number=work["number"], count=work["count"], value=work["value"], window=_window(work["part_window"])
    )


if __name__ == "__main__":
    sys.exit(main())
