"""The work that a manual retry keeps: finished parts with their results, and the checkpoints of the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status


def keep_work(part: Part, earlier: Part | None, now: datetime) -> Part:
    """Return a new part with the result or the checkpoint of the ``earlier`` part of the same name.

    Returns it unchanged if there is nothing to keep, or if the parts stand for different pieces of the work. A part
    with a kept result has ended, without an attempt of its own.
    """
    if earlier is None or _piece(part) != _piece(earlier):
        return part
    if earlier.status is Status.SUCCEEDED:
        return replace(
            part,
            status=Status.SUCCEEDED,
            kept_from=earlier.kept_from or earlier.execution_id,
            result=earlier.result,
            progress=earlier.progress,
            ended_at=now,
        )
    if earlier.checkpoint is not None:
        return replace(part, kept_from=earlier.execution_id, checkpoint=earlier.checkpoint)
    return part


def _piece(part: Part) -> tuple[object, ...]:
    return part.name, part.number, part.count, part.value, part.window
