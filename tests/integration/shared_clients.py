"""boto3 clients shared by all tests, because creating one is slow. Each test starts with the original hooks."""

from __future__ import annotations

from copy import copy
from typing import Any

from punctual.aws import clients
from tests.integration.strict_dynamodb import refuse_overlapping_paths

SHARED_CLIENTS = (
    clients.dynamodb,
    clients.sqs,
    clients.s3,
    clients.states,
    clients.scheduler,
    clients.ecs,
    clients.sns,
    clients.sts,
    clients.cloudwatch,
    clients.cognito,
    clients.best_effort_cloudwatch,
)
_original_hooks: dict[Any, Any] = {}
"""Per client, the event hooks registered when it was created."""


def reset_clients() -> None:
    """Remove the hooks that an earlier test registered."""
    for client in (one() for one in SHARED_CLIENTS):
        events = client.meta.events
        if client not in _original_hooks:
            for operation in ("UpdateItem", "TransactWriteItems"):
                events.register(f"provide-client-params.dynamodb.{operation}", refuse_overlapping_paths)
            _original_hooks[client] = copy(events._emitter)
        events._emitter = copy(_original_hooks[client])
        vars(client).pop("_make_api_call", None)
