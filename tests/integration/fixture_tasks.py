"""Tasks for tests, registered beside the shipped ones: they crash, hang, return unusual values or run test code."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from punctual import Context, Retry, task


class Killed(BaseException):
    """A killed process. A BaseException, because the worker must not be able to catch it and record an outcome."""


@task("test.crash")
def crash(context: Context, parameters: dict[str, Any]) -> str:
    """Kill the worker in the attempts listed in ``in_attempts``."""
    if context.attempt in parameters["in_attempts"]:
        raise Killed
    return f"survived attempt {context.attempt}"


@task("test.retry_later")
def retry_later(context: Context, parameters: dict[str, Any]) -> str:
    if context.attempt == 1:
        raise Retry("not ready", after=parameters["after"])
    return "ready"


@task("test.hang")
def hang(_context: Context, _parameters: dict[str, Any]) -> None:
    try:
        time.sleep(30)
    except Exception:  # the worker must stop a task that catches every exception, too
        time.sleep(30)


TASK_BODIES: list[Callable[[Context], Any]] = []
"""What ``test.scripted`` does. Each attempt takes the first function of the list."""
FAILED_ASSERTIONS: list[AssertionError] = []
"""Assertions that failed inside a task: the worker records a failed attempt, the fixture ``world`` fails the test."""


@task("test.scripted")
def scripted(context: Context, parameters: dict[str, Any]) -> Any:
    """Run the next function of ``TASK_BODIES``, so that a test can act while an execution is running."""
    try:
        return TASK_BODIES.pop(0)(context) if TASK_BODIES else parameters
    except AssertionError as error:
        FAILED_ASSERTIONS.append(error)
        raise


@task("test.large")
def large(_context: Context, parameters: dict[str, Any]) -> str:
    return "x" * int(parameters["bytes"])


@task("test.not_json")
def not_json(_context: Context, _parameters: dict[str, Any]) -> object:
    return {1, 2, 3}


@task("test.show_context")
def show_context(context: Context, _parameters: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the context offers to a task."""
    context.logger.info("showing the context", extra={"far": True})
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
