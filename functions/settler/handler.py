"""Stream records of executions that ended → the settle stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.execution_item import item_to_execution
from punctual.aws.lanes import SqsDeadLetters
from punctual.domain import instant
from punctual.runtime import adapters, long_lane
from punctual.runtime.function import function, logger
from punctual.runtime.settings import SettlerSettings
from punctual.runtime.streams import Change, changes_in, each
from punctual.stages.settle import Settler

settings = SettlerSettings.from_env()
settler = Settler(
    jobs=adapters.jobs(settings),
    parts=long_lane.parts(settings),
    runs=long_lane.runs(settings),
    containers=long_lane.containers(settings),
    clock=instant.now,
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)


@function
def handler(event: dict[str, Any], _context: Any) -> None:
    each(changes_in(event), _ended, dead_letters, logger.warning)


def _ended(change: Change) -> None:
    settler.execution_ended(item_to_execution(change.new or {}))
