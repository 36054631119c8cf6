"""What runs in a container of the long lane: ``python -m punctual.runtime.container.main``.

It claims its part, runs the task, and says how that went. It knows nothing but what it was started with, and can do
nothing but call the reporter.
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
from typing import Any

import boto3
from botocore.config import Config

from punctual.aws.reporter_client import Deaf, Desk
from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Failure, Outcome
from punctual.domain.executions.horizon import LONGEST_LEAVE
from punctual.domain.instant import from_text
from punctual.domain.jobs.partitions import Partition
from punctual.domain.long_lane.assignment import read_assignment
from punctual.domain.long_lane.part import COLLECT, WHOLE
from punctual.domain.schedules.data_window import DataWindow
from punctual.runtime.container.heartbeat import Leaving, Pulse, leaving_on_term, remember_term
from punctual.runtime.lambdas import log
from punctual.runtime.tasks.context import Context
from punctual.runtime.tasks.registry import Catalog
from punctual.runtime.tasks.runner import judged
from punctual.runtime.tasks.time_limit import time_limit

LARGEST_RESULT = 4_000_000
"""Bytes."""


@dataclass(frozen=True)
class Runner:
    desk: Desk
    catalog: Catalog
    logger: logging.Logger
    grace_seconds: float = LONGEST_LEAVE.total_seconds()

    def run(self, token: str, task_arn: str | None) -> bool:
        """Claim the part, run it, report. ``False`` when it came too late, or its word was refused."""
        work = self.desk.insist("claim", token=token, task_arn=task_arn)
        if not work["ok"]:
            self.logger.warning("came too late: this attempt was superseded")
            return False
        verdict = _fit_to_send(self._verdict(work))
        answer = self.desk.insist("conclude", verdict=_said(verdict))
        self.logger.info(str(verdict.outcome) if answer["ok"] else "refused: another attempt has taken over")
        return bool(answer["ok"])

    def _verdict(self, work: Mapping[str, Any]) -> AttemptResult:
        seconds = float(work["seconds"])
        pulse = Pulse(self.desk, work["beat_seconds"], self.logger.warning)

        def act() -> Any:
            with pulse, time_limit(seconds), leaving_on_term(pulse, self.grace_seconds):
                return self._call(work, self._context(work, pulse, seconds))

        try:
            verdict = judged(act, seconds, self.logger)
        except Leaving:
            if pulse.stopping:
                return AttemptResult(outcome=Outcome.CANCELLED)
            pulse.hand_in()
            failure = Failure(type="Interrupted", message="the container was asked to leave")
            return AttemptResult(outcome=Outcome.INTERRUPTED, error=failure)
        # what it returned, or how it broke off, is kept
        return replace(verdict, outcome=Outcome.CANCELLED) if pulse.stopping else verdict

    def _call(self, work: Mapping[str, Any], context: Context) -> Any:
        task, parameters = self.catalog.find(work["task"]), work["parameters"]
        task.check(parameters)
        if work["part"] == COLLECT:
            return self.catalog.collector(work["task"])(context, parameters, [_fetched(one) for one in work["results"]])
        return task.function(context, parameters)

    def _context(self, work: Mapping[str, Any], pulse: Pulse, seconds: float) -> Context:
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
            _report=pulse.report,
            _cancelled=lambda: pulse.lost or pulse.stopping,
            _keep=pulse.checkpoint,
            _kept=work["resume"],
        )


def main() -> int:
    remember_term()
    logger = log.start()
    assignment = read_assignment(os.environ["PUNCTUAL_ORDER"])
    desk = Desk(os.environ["PUNCTUAL_REPORTER"], assignment, _lambda())
    grace = float(os.environ.get("PUNCTUAL_GRACE_SECONDS", LONGEST_LEAVE.total_seconds()))
    runner = Runner(desk, Catalog(), logger, grace)
    about = {"job_id": assignment.job_id, "execution_id": assignment.execution_id, "part": assignment.part}
    with log.about(**about, attempt=assignment.attempt):
        try:
            runner.run(os.environ["PUNCTUAL_TASK_TOKEN"], _task_arn())
            return 0
        except Deaf:
            logger.exception("the reporter cannot be reached")
            return 1


def _lambda() -> Any:
    # a call is repeated by the desk, which knows how long it may take
    return boto3.client("lambda", config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=40))


def _task_arn() -> str | None:
    """As ECS tells it, inside a container."""
    metadata = os.environ.get("ECS_CONTAINER_METADATA_URI_V4")
    if metadata is None:
        return os.environ.get("PUNCTUAL_TASK_ARN")
    with urllib.request.urlopen(f"{metadata}/task", timeout=5) as answer:
        return str(json.load(answer)["TaskARN"])


def _fit_to_send(verdict: AttemptResult) -> AttemptResult:
    """A result has to be JSON, and to fit into one call of a function."""
    try:
        size = len(json.dumps(verdict.value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        return _fatal(f"the task's result cannot be written as JSON: {error}")
    if size > LARGEST_RESULT:
        return _fatal(f"the task's result is {size:,} bytes, the limit is {LARGEST_RESULT:,}: return where it lies")
    return verdict


def _fatal(message: str) -> AttemptResult:
    return AttemptResult(outcome=Outcome.FATAL, error=Failure(type="Fatal", message=message))


def _said(verdict: AttemptResult) -> dict[str, Any]:
    error = asdict(verdict.error) if verdict.error else None
    return {"outcome": str(verdict.outcome), "value": verdict.value, "error": error, "after": verdict.after}


def _fetched(result: Mapping[str, Any]) -> Any:
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
