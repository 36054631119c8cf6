"""How a job of the long lane runs: in what container, how large, and in how many parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from punctual.domain.jobs.partitions import Partitions
from punctual.domain.jobs.resources import Resources

OF_BATCHES = ("resources", "container", "partitions", "preemptible")
"""What only a submission for the long lane says."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    resources: Resources = field(default_factory=Resources)
    image: str = ""
    """The name of one of the images in the stack's settings; empty for Punctual's own runner."""
    command: tuple[str, ...] = ()
    """What an own image is started with."""
    partitions: Partitions | None = None
    preemptible: bool = False
    """Whether it may be stopped at a checkpoint for one that would otherwise miss its deadline."""
    collects: bool = False
    """Whether the task has a last step that sees the results of all partitions."""
