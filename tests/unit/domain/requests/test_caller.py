from __future__ import annotations

import re
from typing import Any

import pytest

from punctual.domain.errors import Forbidden
from punctual.domain.requests.caller import TEAM, Role, caller_in, caller_of

TOKEN = {"token_use": "access", "username": "ann"}


@pytest.mark.parametrize(
    ("groups", "role", "teams"),
    [
        ("[viewer]", Role.VIEWER, ()),
        ("[viewer operator team:quality]", Role.OPERATOR, ("quality",)),
        ("[admin viewer team:b team:a]", Role.ADMIN, ("a", "b")),
        ("[team:quality]", None, ("quality",)),
        ("[developers eu-west-1_AbC_Okta Größe]", None, ()),
        ("[]", None, ()),
        (None, None, ()),
    ],
)
def test_a_caller_has_the_highest_role_and_all_teams_of_its_groups(
    groups: str | None, role: Role | None, teams: tuple[str, ...]
) -> None:
    caller = caller_in({**TOKEN, "cognito:groups": groups})
    assert (caller.subject, caller.role, caller.teams) == ("ann", role, teams)


@pytest.mark.parametrize(
    "claims",
    [
        {"token_use": "id", "cognito:username": "ann"},
        {"username": ""},
        {"username": None, "sub": "0a1b"},
        *(
            {"cognito:groups": claim}
            for claim in ("admin", "[admin", "admin]", "[admin ]", "[admin\tviewer]", ["admin"])
        ),
        *({"cognito:groups": f"[{one}]"} for one in ("[admin]", "x,admin", '"admin"', "team:", "team:a:b", "team:a#b")),
        *({"cognito:groups": f"[admin {one}]"} for one in ("team:-a", "team:tëam", f"team:{'a' * 65}")),
    ],
)
def test_a_token_that_is_not_clear_names_no_caller(claims: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        caller_in({**TOKEN, **claims})


@pytest.mark.parametrize("separator", ["#", ":", "/", " ", ",", "\0"])
def test_the_name_of_a_team_has_no_character_that_separates_it_in_a_key(separator: str) -> None:
    assert not re.search(TEAM, separator)
    assert not re.fullmatch(TEAM, f"a{separator}b")


def test_each_role_includes_the_permissions_of_lower_roles() -> None:
    for rank, role in enumerate(Role):
        caller = caller_of("ann", [role])
        for other_rank, least in enumerate(Role):
            if other_rank <= rank:
                caller.require_role(least)
            else:
                with pytest.raises(Forbidden, match=f"requires the role {least}; yours is {role}"):
                    caller.require_role(least)
