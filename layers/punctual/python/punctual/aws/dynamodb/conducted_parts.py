"""Parts as the conductor uses them: written only for the state machine run that is attached to their execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.part_item import part_to_item
from punctual.aws.dynamodb.parts import LANE, DynamoParts
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.identity import job_of
from punctual.domain.long_lane.laxity import admission_key
from punctual.domain.long_lane.part import Part
from punctual.domain.status import LIVE_STATUSES, Status, sources_of

PARTS_PER_TRANSACTION = 50


@dataclass(frozen=True)
class DynamoConductedParts(DynamoParts):
    executions: Table

    def add_all(self, parts: Sequence[Part], run_arn: str) -> bool:
        for start in range(0, len(parts), PARTS_PER_TRANSACTION):
            if not self._add(parts[start : start + PARTS_PER_TRANSACTION], run_arn):
                return False
        return True

    def request_slot(self, part: Part, ticket: str, run_arn: str, now: datetime) -> bool:
        if part.status is Status.STARTING:  # the slot was granted to an earlier request of the same attempt
            request = self.table.update_request(
                {"execution_id": part.execution_id, "part": part.name},
                add={"tickets": frozenset({ticket})},
                condition="#attempt = :attempt AND #status = :starting AND attribute_not_exists(#tokens)",
                values={"attempt": part.attempt, "starting": str(Status.STARTING)},
            )
        else:
            requested_at = part.requested_at or now
            request = self._transition(
                part,
                Status.WAITING,
                {
                    "requested_at": instant_text(requested_at),
                    "waiting": LANE,
                    "admission_key": admission_key(part, requested_at),
                },
                remove=["retry_at"],
                add={"tickets": frozenset({ticket})},
                sources=[*sources_of(Status.WAITING), Status.WAITING],
            )
        return all(transact(self.table.client, [{"Update": request}, self._attached_check(part.execution_id, run_arn)]))

    def _add(self, parts: Sequence[Part], run_arn: str) -> bool:
        """Store the parts that do not exist yet. ``False`` if the run may not write to its execution any more."""
        missing = [part for part in parts if self.get(part.execution_id, part.name) is None]
        if not missing:
            return True
        puts = [{"Put": self.table.put_request(self._item(part), "attribute_not_exists(#part)")} for part in missing]
        *are_free, is_attached = transact(
            self.table.client, [*puts, self._attached_check(missing[0].execution_id, run_arn)]
        )
        return is_attached and (all(are_free) or self._add(missing, run_arn))

    def _item(self, part: Part) -> Item:
        """The item of a new part. A part with a kept result has ended, so it expires."""
        expiry = {"expires_at": self._expiry(part.ended_at)} if part.ended_at else {}
        return part_to_item(part) | expiry

    def _attached_check(self, execution_id: str, run_arn: str) -> dict[str, Any]:
        """Require that the run is attached to the execution, which is live and was not asked to stop."""
        live = {str(status): str(status) for status in LIVE_STATUSES}
        condition = "#run_arn = :run_arn AND attribute_not_exists(#cancel_at)"
        condition += f" AND #status IN ({', '.join(f':{name}' for name in live)})"
        key = {"job_id": job_of(execution_id), "execution_id": execution_id}
        return {"ConditionCheck": self.executions.check_request(key, condition, {"run_arn": run_arn, **live})}


if TYPE_CHECKING:
    from punctual.ports.long_lane import ConductedParts

    _conducted_parts: type[ConductedParts] = DynamoConductedParts
