from __future__ import annotations

import pytest

from punctual.domain.errors import Forbidden
from punctual.domain.requests.caller import Role, caller_of


@pytest.mark.parametrize(
    ("groups", "role", "owners"),
    [
        (["viewer"], Role.VIEWER, ("ann",)),
        (["viewer", "operator", "team:quality"], Role.OPERATOR, ("quality",)),
        (["admin", "viewer", "team:b", "team:a"], Role.ADMIN, ("a", "b")),
        (["team:quality"], None, ("quality",)),
        (["operator", "team:"], Role.OPERATOR, ("ann",)),
        ([], None, ("ann",)),
    ],
)
def test_a_caller_has_the_highest_role_and_all_teams_of_its_groups(
    groups: list[str], role: Role | None, owners: tuple[str, ...]
) -> None:
    caller = caller_of("ann", groups)
    assert (caller.role, caller.owners) == (role, owners)


def test_each_role_includes_the_permissions_of_lower_roles() -> None:
    for rank, role in enumerate(Role):
        caller = caller_of("ann", [role])
        for other_rank, least in enumerate(Role):
            if other_rank <= rank:
                caller.require_role(least)
            else:
                with pytest.raises(Forbidden, match=f"requires the role {least}; yours is {role}"):
                    caller.require_role(least)
