"""The rules that most jobs do not have, read from items.

Imported on first use: a function that meets no job with one of these rules starts without their modules.
"""

from __future__ import annotations

from typing import Any

from punctual.aws.dynamodb.items import Item, from_json
from punctual.domain.jobs.backlog_rule import parse_backlog
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.concurrency import parse_concurrency
from punctual.domain.jobs.deadline import parse_deadline
from punctual.domain.jobs.notify_rule import parse_notify
from punctual.domain.jobs.partitions import parse_partitions
from punctual.domain.jobs.resources import parse_resources


def rules_of(item: Item) -> dict[str, Any]:
    """The optional rules of a job, by the name of the field. Raises ``Invalid`` and ``KeyError``."""
    return {
        "deadline": parse_deadline(from_json(item.get("deadline"))),
        "concurrency": parse_concurrency(from_json(item.get("concurrency"))),
        "backlog": parse_backlog(from_json(item.get("backlog"))),
        "notify": parse_notify(from_json(item.get("notify"))),
        "batch": batch_of_text(item["batch"]) if "batch" in item else None,
    }


def batch_of_text(text: str) -> Batch:
    fields = from_json(text)
    return Batch(
        resources=parse_resources(fields["resources"]),
        image=fields["image"],
        command=tuple(fields["command"]),
        partitions=parse_partitions(fields["partitions"]),
        preemptible=fields["preemptible"],
        collects=fields["collects"],
    )
