"""The users of a Cognito user pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError


@dataclass(frozen=True)
class CognitoUsers:
    """Implements ``Users``."""

    pool_id: str
    cognito: Callable[[], Any]

    def groups_of(self, subject: str) -> list[str] | None:
        user = {"UserPoolId": self.pool_id, "Username": subject}
        try:
            if not self.cognito().admin_get_user(**user)["Enabled"]:
                return None
            pages = self.cognito().get_paginator("admin_list_groups_for_user").paginate(**user)
            return [group["GroupName"] for page in pages for group in page["Groups"]]
        except ClientError as error:
            if error.response["Error"]["Code"] == "UserNotFoundException":
                return None
            raise


if TYPE_CHECKING:
    from punctual.ports.users import Users

    _users: type[Users] = CognitoUsers
