"""What the live executions of jobs do, from keys alone: gates, and the indexes ``running`` and ``deadlines``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.gates import gate_state, key_of_gate
from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.shards import DynamoShards
from punctual.aws.dynamodb.table import Table
from punctual.domain.executions.deadline_outlook import BY_URGENCY, DeadlineState
from punctual.domain.jobs.gate import OF_JOB

KEYS_READ = 2000
"""Keys that are read of an index and shard, with one request."""


@dataclass(frozen=True)
class DynamoJobActivity:
    executions: Table
    gates: Table
    shards: DynamoShards

    def running(self, job_ids: Sequence[str]) -> Mapping[str, int]:
        running = Counter(item["job_id"] for item in self._keys("running_shard", "running"))
        for item in self.gates.get_many(key_of_gate(f"{OF_JOB}{one}") for one in job_ids):
            running[item["entry"].removeprefix(OF_JOB)] += len(gate_state(item).holders)
        return running

    def worst_deadlines(self) -> Mapping[str, DeadlineState]:
        most_endangered_last = sorted(self._keys("deadline_shard", "deadlines"), key=lambda item: item["danger"])[::-1]
        return {item["job_id"]: BY_URGENCY[int(item["danger"][0])] for item in most_endangered_last}

    def _keys(self, shard_name: str, index: str) -> Iterator[Item]:
        for shard in range(self.shards.count()):
            condition, values = f"#{shard_name} = :shard", {"shard": str(shard)}
            yield from next(self.executions.query(condition, values, index=index, page_size=KEYS_READ))


if TYPE_CHECKING:
    from punctual.ports.jobs import JobActivity

    _job_activity: type[JobActivity] = DynamoJobActivity
