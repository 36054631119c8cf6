"""Calls of the long lane's state machine → the conduct stage."""

from __future__ import annotations

import random
from typing import Any

from punctual.aws.clients import s3
from punctual.aws.s3.results import S3Results
from punctual.domain import instant
from punctual.runtime.lambdas import log, wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import ConductorSettings
from punctual.stages.long_lane.conduct import Conductor
from punctual.stages.long_lane.create_parts import PartCreator

settings = ConductorSettings.from_env()
executions, parts = wiring.long_executions(settings), wiring.conducted_parts(settings)
conductor = Conductor(
    executions=executions,
    parts=parts,
    creator=PartCreator(wiring.jobs(settings), executions, parts, instant.now),
    results=S3Results(settings.results_bucket, s3),
    containers=wiring.containers(settings),
    callbacks=wiring.callbacks(),
    gatekeeper=wiring.gatekeeper(settings),
    clock=instant.now,
    uniform=random.uniform,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    item = event.get("item", event)
    with log.about(execution_id=item["execution_id"]):
        answer = ACTIONS[event["do"]](item)
        logger.info(event["do"], extra={"part": item.get("part"), "answer": answer})
        return answer


def _next_parts(item: dict[str, Any]) -> dict[str, Any]:
    step = conductor.next_parts(item["job_id"], item["execution_id"], item["run_arn"])
    return {
        "next": "run" if step.parts or step.call_again else "end",
        "not_before": instant.to_text(step.not_before),
        "parts": list(step.parts),
        "at_once": step.max_parallel,
    }


def _request_slot(item: dict[str, Any]) -> dict[str, Any]:
    conductor.request_slot(item["execution_id"], item["part"], item["ticket"], item["run_arn"])
    return {}


def _conclude_attempt(item: dict[str, Any]) -> dict[str, Any]:
    attempt = item.get("grant", {}).get("attempt")
    retry_at = conductor.conclude_attempt(item["execution_id"], item["part"], attempt, item.get("error")).retry_at
    return {"retry": retry_at is not None, "retry_at": instant.to_text(retry_at or instant.now())}


ACTIONS = {"next_parts": _next_parts, "request_slot": _request_slot, "conclude_attempt": _conclude_attempt}
