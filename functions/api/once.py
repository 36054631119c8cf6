"""The ``Idempotency-Key`` header: a repeated POST returns the first response and does nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)

from punctual.aws.clients import dynamodb
from punctual.domain.errors import Invalid

RETENTION_SECONDS = 24 * 60 * 60


class IdempotencyKeys:
    """Stores responses for a day, by caller, route and key. An error is not stored: the request may be repeated.

    A key that is reused with another body raises ``IdempotencyValidationError``, and a key whose first request is still
    in progress ``IdempotencyAlreadyInProgressError``.
    """

    def __init__(self, table: str) -> None:
        self._config = IdempotencyConfig(
            event_key_jmespath="[caller, route, key]",
            payload_validation_jmespath="body",
            expires_after_seconds=RETENTION_SECONDS,
            raise_on_no_idempotency_key=True,
        )
        store = DynamoDBPersistenceLayer(table_name=table, boto3_client=dynamodb())
        self._act = idempotent_function(
            _act, data_keyword_argument="request", config=self._config, persistence_store=store
        )

    def run(
        self,
        act: Callable[[], dict[str, Any]],
        *,
        key: str | None,
        caller: str,
        route: str,
        body: str | None,
        context: Any,
    ) -> dict[str, Any]:
        """Return the response of ``act``, or the stored one. Without a key, always calls ``act``."""
        if key is None:
            return act()
        if not 1 <= len(key) <= 200:
            raise Invalid("Idempotency-Key", "must have between 1 and 200 characters: use a UUID, for example")
        self._config.register_lambda_context(context)
        request = {"caller": caller, "route": route, "key": key, "body": body}
        response: dict[str, Any] = self._act(request=request, act=act)
        return response


def _act(*, request: dict[str, Any], act: Callable[[], dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG001
    return act()
