"""Dependencies: the upstream jobs that a job waits for, each with a condition on its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.status import Status

MAX_UPSTREAMS = 100
"""Per job. To depend on more, add an intermediate job that does no work and depends on some of them."""


class Condition(StrEnum):
    """The outcome of the upstream execution that satisfies a dependency."""

    SUCCEEDED = "succeeded"
    FINISHED = "finished"
    """Any outcome: succeeded, failed or timed out."""
    FAILED = "failed"
    """Failed or timed out: for jobs that clean up or send an alert."""

    def is_met_by(self, status: Status) -> bool:
        return status in _SATISFYING[self]


_FAILURES = frozenset({Status.FAILED, Status.TIMED_OUT})
_SATISFYING = {
    Condition.SUCCEEDED: frozenset({Status.SUCCEEDED}),
    Condition.FINISHED: _FAILURES | {Status.SUCCEEDED},
    Condition.FAILED: _FAILURES,
}


@dataclass(frozen=True)
class Dependency:
    """An upstream job and the condition on its outcome.

    ``job`` is a job id, or, while a batch is being submitted, the name of another job of the same batch.
    """

    job: str
    condition: Condition = Condition.SUCCEEDED

    def to_spec(self) -> dict[str, Any]:
        return {"job": self.job, "condition": str(self.condition)}


def parse_dependencies(specs: Iterable[Mapping[str, Any]] | None) -> tuple[Dependency, ...]:
    """Parse the API's representation. Raises ``Invalid``, naming the field."""
    found: dict[str, Dependency] = {}
    for number, spec in enumerate(specs or ()):
        job = spec["job"]
        if job in found:
            raise Invalid(
                f"depends_on.{number}.job", f"{job!r} is listed twice: keep one entry, with the condition you want"
            )
        found[job] = Dependency(job, Condition(spec.get("condition", Condition.SUCCEEDED)))
    if len(found) > MAX_UPSTREAMS:
        message = f"has {len(found)} jobs; the limit is {MAX_UPSTREAMS}: group some of them behind an intermediate job"
        raise Invalid("depends_on", message)
    return tuple(found.values())
