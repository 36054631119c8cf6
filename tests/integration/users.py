"""Cognito, as far as the api asks it. moto takes too long to create a pool and its users for every test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from botocore.awsrequest import AWSResponse


@dataclass
class Users:
    """The users of the pool. A user has the groups of its last token, unless the test has changed them."""

    changed: dict[str, list[str] | None] = field(default_factory=dict)
    """The groups of users who were changed after the sign-in; ``None``: the user was disabled."""
    deleted: set[str] = field(default_factory=set)
    reads: int = 0
    """The number of users that were read."""
    _signed_in: dict[str, list[str]] = field(default_factory=dict)

    def answer(self, client: Any) -> None:
        """Answer the requests of ``client`` in place of Cognito."""
        client.meta.events.register("before-call.cognito-identity-provider", self._answer)

    def sign_in(self, subject: str, groups: str) -> None:
        """Record the groups of a token."""
        self._signed_in[subject] = groups.strip("[]").split()

    def _answer(self, model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        subject = json.loads(params["body"])["Username"]
        if subject in self.deleted:
            error = {"Code": "UserNotFoundException", "Message": "User does not exist."}
            return AWSResponse("", 400, {}, None), {"Error": error, "ResponseMetadata": {}}
        groups = self.changed.get(subject, self._signed_in[subject])
        if model.name == "AdminGetUser":
            self.reads += 1
            parsed: dict[str, Any] = {"Username": subject, "Enabled": groups is not None}
        else:
            parsed = {"Groups": [{"GroupName": group} for group in groups or ()]}
        return AWSResponse("", 200, {}, None), {**parsed, "ResponseMetadata": {}}
