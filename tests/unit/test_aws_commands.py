"""The `aws` commands of the documentation: each operation exists, with these options and all that it requires."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("deployment.md",)
# Options of the command line itself.
GENERAL = {"query", "output", "region"}


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command in the code blocks of a page, after `aws`."""
    for block in re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(), flags=re.DOTALL):
        for found in re.findall(r"\baws ([a-z-]+ [a-z-]+[^\n;|]*)", block.replace("\\\n", " ")):
            yield shlex.split(found.removesuffix(")"), comments=True)


@pytest.mark.parametrize("page", PAGES)
def test_a_command_calls_an_operation_with_its_parameters(page: str) -> None:
    session, checked = botocore.session.Session(), 0
    for service, operation, *words in commands(page):
        model = session.get_service_model(service)
        [name] = [one for one in model.operation_names if xform_name(one, "-") == operation]
        shape = model.operation_model(name).input_shape
        known = {xform_name(member, "-"): member for member in shape.members}
        options = {word.removeprefix("--") for word in words if word.startswith("--")} - GENERAL
        assert options <= known.keys(), f"{service} {operation}"
        assert set(shape.required_members) <= {known[one] for one in options}, f"{service} {operation}"
        checked += 1
    assert checked
