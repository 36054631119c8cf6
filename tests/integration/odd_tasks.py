"""Tasks that do what a good task would not: registered beside the shipped ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from punctual import Context, Retry, task


class Killed(BaseException):
    """What a kill looks like from inside: nothing that a worker could catch and settle."""


@task("test.die")
def die(context: Context, parameters: dict[str, Any]) -> str:
    """Takes the whole worker down in the attempts that it is told to."""
    if context.attempt in parameters["in_attempts"]:
        raise Killed
    return f"lived in attempt {context.attempt}"


@task("test.ask_again")
def ask_again(context: Context, parameters: dict[str, Any]) -> str:
    if context.attempt == 1:
        raise Retry("not ready", after=parameters["after"])
    return "ready"


@task("test.dawdle")
def dawdle(_context: Context, _parameters: dict[str, Any]) -> None:
    try:
        time.sleep(30)
    except Exception:  # a task that catches everything must still be stopped
        time.sleep(30)


MEANWHILE: list[Callable[[Context], Any]] = []
"""What the test does while ``test.meanwhile`` runs: each run takes the next."""


@task("test.meanwhile")
def meanwhile(context: Context, parameters: dict[str, Any]) -> Any:
    """Runs for as long as the test wants, which does other things in that time."""
    return MEANWHILE.pop(0)(context) if MEANWHILE else parameters


@task("test.large")
def large(_context: Context, parameters: dict[str, Any]) -> str:
    return "x" * int(parameters["bytes"])


@task("test.not_json")
def not_json(_context: Context, _parameters: dict[str, Any]) -> object:
    return {1, 2, 3}


@task("test.look")
def look(context: Context, _parameters: dict[str, Any]) -> dict[str, Any]:
    """Returns what a task can see."""
    context.logger.info("looking", extra={"far": True})
    context.progress(50, "half")
    return {
        "job_id": context.job_id,
        "execution_id": context.execution_id,
        "attempt": context.attempt,
        "due": context.due.isoformat(),
        "window": [context.window.start.isoformat(), context.window.end.isoformat()] if context.window else None,
        "deadline": context.deadline.isoformat() if context.deadline else None,
        "seconds_left": context.seconds_left(),
        "cancelled": context.cancelled,
    }
