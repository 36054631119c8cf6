"""The upstream executions whose results an execution can read."""

from __future__ import annotations

from dataclasses import dataclass

from punctual.domain.identity import job_of


@dataclass(frozen=True)
class CountedUpstream:
    """The execution of an upstream job that counted when its dependant was allowed to start."""

    name: str
    """The name of the upstream job at that time."""
    execution_id: str

    @property
    def job_id(self) -> str:
        return job_of(self.execution_id)
