"""Transfer: give a job to another owner, as its next revision. The planner then replaces planned executions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict, Stale
from punctual.domain.jobs.job import Job, UniqueField
from punctual.domain.jobs.revision import revision_of
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import DryRunChanges

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.revisions import Revisions
    from punctual.stages.api.edit import Edit

REMEDIES = {
    UniqueField.NAME: ("name", "rename one of the two first"),
    UniqueField.DEDUPE_KEY: ("dedupe_key", "wait until it has ended, or delete one of the two first"),
}


@dataclass(frozen=True)
class Transfer:
    jobs: Jobs
    revisions: Revisions
    edit: Edit
    clock: Clock

    def transfer(self, job_id: str, owner: str, revision: int | None, caller: Caller) -> Job:
        """Store and return the next revision of a job, with another owner.

        Its unique keys move in the same transaction. Idempotent: a job of ``owner`` is returned unchanged. Raises
        ``NotFound``, ``Forbidden``, ``Conflict``, or ``Stale`` if the job changed meanwhile or is at another revision.
        """
        job, moved = self._decide(job_id, owner, revision, caller)
        if moved is None:
            return job
        self.jobs.register_owner(owner)  # first: so no list of all owners lacks the job
        if not self.revisions.replace(moved, job, revision_of(moved, job, caller.subject)):
            self._check_unique(moved)
            raise Stale("the job changed during this request: read it and send the transfer again", field="If-Match")
        return moved

    def preview(self, job_id: str, owner: str, revision: int | None, caller: Caller) -> DryRunChanges:
        """Dry run of ``transfer``: the executions that it would replace."""
        job, moved = self._decide(job_id, owner, revision, caller)
        return DryRunChanges() if moved is None else self.edit.foresee(job, moved)

    def _decide(self, job_id: str, owner: str, revision: int | None, caller: Caller) -> tuple[Job, Job | None]:
        """Return a job and its next revision; ``None`` if the job has the owner already."""
        job = self.edit.find_editable(job_id, revision, caller)
        caller.require_can_transfer(job, owner)
        if job.owner == owner:
            return job, None
        now = self.clock()
        moved = replace(job, owner=owner, revision=job.revision + 1, updated_at=now, revised_at=now, paused_by=None)
        self._check_unique(moved)
        return job, moved

    def _check_unique(self, moved: Job) -> None:
        """Raise ``Conflict`` if another live job of the new owner has a unique key of the job."""
        for key, holder in self.jobs.find_live(moved.unique_keys).items():
            if holder.job_id != moved.job_id:
                field, remedy = REMEDIES[key.field]
                message = f"live job {holder.job_id!r} of {moved.owner!r} has the same {field}, {key.value!r}: {remedy}"
                raise Conflict(message, field="owner")
