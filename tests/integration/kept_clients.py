"""Clients are slow to make. All tests have the same ones, each as it was when it was made."""

from __future__ import annotations

from copy import copy
from typing import Any

from punctual.aws import clients
from tests.integration.strict_dynamodb import refuse_overlapping_paths

KEPT = (
    clients.dynamodb,
    clients.sqs,
    clients.s3,
    clients.cloudwatch_logs,
    clients.states,
    clients.scheduler,
    clients.ecs,
    clients.sns,
    clients.cloudwatch,
    clients.hasty_cloudwatch,
)
_hooks: dict[Any, Any] = {}
"""Of each client, those that it was made with."""


def as_made() -> None:
    """Take off whatever a test before hooked into them."""
    for client in (one() for one in KEPT):
        events = client.meta.events
        if client not in _hooks:
            for operation in ("UpdateItem", "TransactWriteItems"):
                events.register(f"provide-client-params.dynamodb.{operation}", refuse_overlapping_paths)
            _hooks[client] = copy(events._emitter)
        events._emitter = copy(_hooks[client])
        vars(client).pop("_make_api_call", None)
