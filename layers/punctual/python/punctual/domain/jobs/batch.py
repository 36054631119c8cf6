"""The container settings of a long-lane job: image, size and partitions."""

from __future__ import annotations

from dataclasses import dataclass, field

from punctual.domain.jobs.partitions import Partitions
from punctual.domain.jobs.resources import Resources

LONG_LANE_FIELDS = ("resources", "container", "partitions", "preemptible")
"""Fields of a submission that only long-lane jobs accept."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """How a long-lane job runs."""

    resources: Resources = field(default_factory=Resources)
    image: str = ""
    """The name of an image declared in the stack's settings; empty for Punctual's own runner."""
    command: tuple[str, ...] = ()
    """The command with which a custom image is started."""
    partitions: Partitions | None = None
    preemptible: bool = False
    """Whether it may be stopped at a checkpoint to free capacity for an execution that would miss its deadline."""
    collects: bool = False
    """Whether the task has a final step that receives the results of all partitions."""
