"""The demo users: one per role in one team, and one of another team. Their passwords stay on this machine."""

import json
import secrets
from contextlib import suppress
from typing import Any

from local.aws import client
from local.places import Places
from local.private_file import write_private

TEAM = "data-quality"
USERS = {
    "admin": ("admin", TEAM),
    "operator": ("operator", TEAM),
    "viewer": ("viewer", TEAM),
    "payments": ("operator", "payments"),
}
"""The role and the team of each user."""


class DemoUsers:
    """Creates the users and signs them in. Idempotent, except for new tokens."""

    def __init__(self, places: Places, endpoint: str, *, pool: str, client_id: str) -> None:
        self._places = places
        self._pool = pool
        self._client_id = client_id
        self._cognito: Any = client("cognito-idp", endpoint)

    def ensure(self) -> None:
        """Create the teams, the users and their group memberships, if missing."""
        passwords = self._passwords()
        for user, (role, team) in USERS.items():
            self._ensure_team(f"team:{team}")
            self._ensure_user(user, passwords[user], groups=(role, f"team:{team}"))

    def allow_sign_in_at(self, address: str, *, client_id: str) -> None:
        """Let the console's client return to its address on the emulator, which the stack does not know."""
        self._cognito.update_user_pool_client(
            UserPoolId=self._pool,
            ClientId=client_id,
            AllowedOAuthFlowsUserPoolClient=True,
            AllowedOAuthFlows=["code"],
            AllowedOAuthScopes=["openid", "profile"],
            SupportedIdentityProviders=["COGNITO"],
            CallbackURLs=[address],
            LogoutURLs=[address],
        )

    def tokens(self) -> dict[str, str]:
        """A fresh access token per user."""
        return {user: self._sign_in(user, password) for user, password in self._passwords().items()}

    def _passwords(self) -> dict[str, str]:
        stored = json.loads(self._places.passwords.read_text()) if self._places.passwords.exists() else {}
        # The suffix satisfies the pool's password policy regardless of the random part.
        passwords = {user: stored.get(user) or secrets.token_urlsafe(18) + "-aA1" for user in USERS}
        if passwords != stored:
            write_private(self._places.passwords, passwords)
        return passwords

    def _ensure_team(self, group: str) -> None:
        with suppress(self._cognito.exceptions.GroupExistsException):
            self._cognito.create_group(UserPoolId=self._pool, GroupName=group, Description="A team of demo users")

    def _ensure_user(self, name: str, password: str, groups: tuple[str, ...]) -> None:
        user = {"UserPoolId": self._pool, "Username": name}
        with suppress(self._cognito.exceptions.UsernameExistsException):
            self._cognito.admin_create_user(**user, MessageAction="SUPPRESS")
        self._cognito.admin_set_user_password(**user, Password=password, Permanent=True)
        for group in groups:
            self._cognito.admin_add_user_to_group(**user, GroupName=group)

    def _sign_in(self, name: str, password: str) -> str:
        reply = self._cognito.initiate_auth(
            ClientId=self._client_id,
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": name, "PASSWORD": password},
        )
        return str(reply["AuthenticationResult"]["AccessToken"])
