"""The demo users: one per role, all in one team, with passwords that are stored only on this machine."""

import json
import secrets
from contextlib import suppress
from typing import Any

from local.aws import client
from local.places import Places
from local.private_file import write_private

TEAM = "team:data-quality"
ROLES = ("admin", "operator", "viewer")


class DemoUsers:
    """Creates the users and signs them in. Idempotent, except for new tokens."""

    def __init__(self, places: Places, endpoint: str, *, pool: str, client_id: str) -> None:
        self._places = places
        self._pool = pool
        self._client_id = client_id
        self._cognito: Any = client("cognito-idp", endpoint)

    def ensure(self) -> None:
        """Create the team, the users and their group memberships, if missing."""
        passwords = self._passwords()
        self._ensure_team()
        for role in ROLES:
            self._ensure_user(role, passwords[role])

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
        return {role: self._sign_in(role, password) for role, password in self._passwords().items()}

    def _passwords(self) -> dict[str, str]:
        if self._places.passwords.exists():
            return dict(json.loads(self._places.passwords.read_text()))
        # The suffix satisfies the pool's password policy regardless of the random part.
        made = {role: secrets.token_urlsafe(18) + "-aA1" for role in ROLES}
        write_private(self._places.passwords, made)
        return made

    def _ensure_team(self) -> None:
        with suppress(self._cognito.exceptions.GroupExistsException):
            self._cognito.create_group(UserPoolId=self._pool, GroupName=TEAM, Description="The demo users' team")

    def _ensure_user(self, role: str, password: str) -> None:
        user = {"UserPoolId": self._pool, "Username": role}
        with suppress(self._cognito.exceptions.UsernameExistsException):
            self._cognito.admin_create_user(**user, MessageAction="SUPPRESS")
        self._cognito.admin_set_user_password(**user, Password=password, Permanent=True)
        for group in (role, TEAM):
            self._cognito.admin_add_user_to_group(**user, GroupName=group)

    def _sign_in(self, role: str, password: str) -> str:
        reply = self._cognito.initiate_auth(
            ClientId=self._client_id,
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": role, "PASSWORD": password},
        )
        return str(reply["AuthenticationResult"]["AccessToken"])
