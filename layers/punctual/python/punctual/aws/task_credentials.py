"""The credentials of tasks in the short lane: the worker exports those of the task role to its environment."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from punctual.ports.clock import Clock

VALIDITY = timedelta(hours=1)
"""The maximum for a role that another role assumes."""
RESERVE = timedelta(minutes=31)
"""Credentials that expire earlier are replaced: an attempt takes up to 15 minutes, and boto3 wants 15 more."""

_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CREDENTIAL_EXPIRATION")


class TaskCredentials:
    """Keeps valid credentials of the task role in the environment, for the SDKs and the child processes of tasks.

    The name of the session, ``<function>@<worker>``, leads from an entry of CloudTrail to the attempts that record the
    worker. ``sts`` is a client of the engine: once one exists, its clients do not read the environment any more.
    """

    def __init__(self, role_arn: str, worker_id: str, sts: Any, clock: Clock) -> None:
        self._role_arn, self._sts, self._clock = role_arn, sts, clock
        function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "punctual")
        self._session_name = f"{function[: 63 - len(worker_id)]}@{worker_id}"
        self._expires_at = datetime.min.replace(tzinfo=UTC)

    def renew(self) -> None:
        """Replace the credentials if they might expire during an attempt.

        Raises the error of STS. Then the environment contains no credentials at all.
        """
        if self._expires_at - self._clock() > RESERVE:
            return
        for name in _VARIABLES:
            os.environ.pop(name, None)
        answer = self._sts.assume_role(
            RoleArn=self._role_arn,
            RoleSessionName=self._session_name,
            DurationSeconds=int(VALIDITY.total_seconds()),
        )
        self._export(answer["Credentials"])

    def _export(self, credentials: dict[str, Any]) -> None:
        self._expires_at = credentials["Expiration"]
        values = (
            credentials["AccessKeyId"],
            credentials["SecretAccessKey"],
            credentials["SessionToken"],
            self._expires_at.isoformat(),  # with it, boto3 reads the environment again before they expire
        )
        os.environ |= dict(zip(_VARIABLES, values, strict=True))
