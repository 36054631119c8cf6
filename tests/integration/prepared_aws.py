"""The tables and queues of a world: its first one in a process creates them by requests, the others get copies.

The forty requests take longer than most tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.backends import get_backend

from tests.integration.fast_moto import copy_of_table

ACCOUNT, REGION = "123456789012", "us-east-1"

_tables: dict[str, Any] = {}
_queues: list[str] = []


def prepare(create: Callable[[], None]) -> None:
    """Create the tables and queues, or restore those that an earlier call created. The mock must be new."""
    dynamodb, sqs = (get_backend(service)[ACCOUNT][REGION] for service in ("dynamodb", "sqs"))
    if not _tables:
        create()
        _tables.update({name: copy_of_table(one) for name, one in dynamodb.tables.items()})
        _queues.extend(sqs.queues)
        return
    dynamodb.tables.update({name: copy_of_table(one) for name, one in _tables.items()})
    for name in _queues:
        sqs.create_queue(name)
