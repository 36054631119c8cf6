"""Runs the code of a task and observes the result."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Fatal, Rejected, Retry, TaskUnavailable
from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.executions.execution_log import LogChunk
from punctual.runtime.tasks.context import Context
from punctual.runtime.tasks.execution_log import ExecutionLog
from punctual.runtime.tasks.lease import Lease
from punctual.runtime.tasks.registry import Catalog
from punctual.runtime.tasks.time_limit import TimeLimitReached, time_limit

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.running import Results
    from punctual.runtime.tasks.upstreams import Upstreams

TRACE_LENGTH = 2000
MESSAGE_LENGTH = 1000


@dataclass(frozen=True)
class TaskRunner:
    executions: Executions
    results: Results
    catalog: Catalog
    clock: Clock
    logger: logging.Logger
    store_log: Callable[[str, LogChunk], None]

    def run(self, execution: Execution, seconds_left: float) -> AttemptResult:
        """Run one attempt under a lease and a time limit. Returns a result for any exception of the task."""

        lease = Lease(self.executions, execution, self.clock, self.logger.warning)

        def act() -> Any:
            task = self.catalog.find(execution.task)
            task.check(execution.parameters)
            with lease, time_limit(seconds_left):
                return task.function(self._context(execution, lease, seconds_left), execution.parameters)

        store_log = partial(self.store_log, execution.execution_id)
        with ExecutionLog(store_log, attempt=execution.attempt, clock=self.clock):
            result = run_attempt(act, seconds_left, self.logger)
        if lease.stop_requested:  # the returned value, or the error, is kept
            return replace(result, outcome=Outcome.CANCELLED)
        return result

    def _context(self, execution: Execution, lease: Lease, seconds_left: float) -> Context:
        end = time.monotonic() + seconds_left
        return Context(
            job_id=execution.job_id,
            execution_id=execution.execution_id,
            owner=execution.owner,
            attempt=execution.attempt,
            due=execution.scheduled_at,
            window=execution.window,
            deadline=execution.deadline_at,
            logger=self.logger,
            seconds_left=lambda: end - time.monotonic(),
            _report=lease.report,
            _cancelled=lambda: lease.lost or lease.stop_requested,
            _upstreams=lambda: self._upstreams(execution),
        )

    def _upstreams(self, execution: Execution) -> Upstreams:
        from punctual.runtime.tasks.upstreams import stored_upstreams  # few tasks read them

        return stored_upstreams(execution, self.executions, self.results)


def run_attempt(act: Callable[[], Any], seconds: float, logger: logging.Logger) -> AttemptResult:
    """Call ``act`` and convert its return value or exception to a result. ``seconds`` is its time limit."""
    try:
        return AttemptResult(outcome=Outcome.SUCCEEDED, value=act())
    except TimeLimitReached:
        message = f"stopped after {seconds:.0f} seconds"
        return AttemptResult(outcome=Outcome.TIMED_OUT, error=Failure(type="TimedOut", message=message))
    except Retry as error:
        return AttemptResult(outcome=Outcome.FAILED, error=_failure(error), retry_after_seconds=error.after)
    except Fatal as error:
        return AttemptResult(outcome=Outcome.FATAL, error=_failure(error))
    except TaskUnavailable as error:  # the next attempt may run after a deployment that fixes the module
        return AttemptResult(outcome=Outcome.FAILED, error=_failure(error))
    except Rejected as error:  # an unknown task, or parameters that do not match its schema
        where = f"{error.field}: " if error.field else ""
        message = f"{where}{error.message}"[:MESSAGE_LENGTH]
        return AttemptResult(outcome=Outcome.FATAL, error=Failure(type="BadParameters", message=message))
    except (Exception, SystemExit) as error:
        logger.exception("the task raised an exception")
        return AttemptResult(outcome=Outcome.FAILED, error=_failure(error, with_trace=True))


def _failure(error: BaseException, *, with_trace: bool = False) -> Failure:
    trace = "".join(traceback.format_exception(error))[-TRACE_LENGTH:] if with_trace else None
    return Failure(type=type(error).__name__, message=str(error)[:MESSAGE_LENGTH], trace=trace)


if TYPE_CHECKING:
    from punctual.ports.running import AttemptRunner

    _runner: type[AttemptRunner] = TaskRunner
