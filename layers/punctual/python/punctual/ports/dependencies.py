"""What waits for the end of something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job
from punctual.domain.planning.dependency_graph import Tied
from punctual.domain.planning.upstreams import Upstream
from punctual.ports.executions import ReadExecutions


class HeldExecutions(ReadExecutions, Protocol):
    """The executions, as those see them who hold some back until others have ended.

    Only what is still held, under the revision that was looked at, moves; ``False`` when it is past that.
    """

    def listen(self, execution: Execution) -> Execution | None:
        """See to it that its end is heard of, if it has not ended. How it stands."""

    def hold(self, execution: Execution, reason: str, look_at: datetime) -> bool:
        """From ``queued`` to ``waiting``, with the instant of the timer that is set for it."""

    def clear(self, execution: Execution) -> bool:
        """Let one that is ``queued`` start; also ``True`` when that was done before."""

    def release(self, execution: Execution, now: datetime) -> bool:
        """The same for one that waits: becoming ``queued`` sets it on its way."""

    def look_again(self, execution: Execution, now: datetime) -> bool:
        """From ``waiting`` to ``queued``, and still held: what it waits for has changed."""

    def pass_over(self, execution: Execution, reason: str, now: datetime) -> bool:
        """To ``skipped``."""


class Dependants(Protocol):
    """Who waits for the end of which execution."""

    def register(self, dependant: str, upstream: str, now: datetime) -> None: ...

    def of(self, upstream: str) -> Iterator[str]:
        """All that registered before this was called."""


class Upstreams(Protocol):
    """Whoever knows what executions depend on."""

    def let_through(self, execution: Execution) -> bool:
        """Whether one that is held may go on its way; if not, it waits now, or was skipped."""

    def forgotten(self, execution_id: str) -> None:
        """It will not come, and did not end: those who wait for it look again."""


class UpstreamLookup(Protocol):
    def of(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        """Of each, what it depends on, as that stands."""


class Ties(Protocol):
    """What jobs may depend on. All raise ``Invalid``; only ``note`` writes."""

    def check(self, job: Job) -> Tied:
        """A single job, or its next revision."""

    def check_all(self, jobs: Sequence[Job], existing: Mapping[str, Job]) -> Tied:
        """The jobs of a batch, which may name each other. ``existing`` are those that stand in for some, by key."""

    def note(self, tied: Tied) -> None:
        """From now on the ends of the upstreams are listened for: before the jobs themselves are stored."""
