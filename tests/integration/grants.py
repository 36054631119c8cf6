"""After the whole suite: reports each grant of a role that no test used and that has no reason in ``UNUSED``.

Each process of the suite reports the permissions that its tests used. A run of single tests checks nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.world import USED_PERMISSIONS
from tests.permissions import PERMISSIONS, UNUSED, grants

SUITE = Path(__file__).parent
REPORT = "used_permissions"


class GrantCheck:
    """A plugin of pytest: reports the grants that no test of the suite needed."""

    def __init__(self) -> None:
        self._used: set[tuple[str, str, str]] = set()
        self.findings: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._used |= {tuple(one) for one in getattr(node, "workeroutput", {}).get(REPORT, ())}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[REPORT] = sorted(USED_PERMISSIONS)
        elif session.exitstatus == pytest.ExitCode.OK and is_whole_suite(session.config):
            self.findings = findings(self._used | USED_PERMISSIONS)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for finding in self.findings:
            terminalreporter.write_line(f"tests/permissions.py: {finding}")


def findings(used: set[tuple[str, str, str]]) -> list[str]:
    """The grants that are neither used nor explained, and the explanations that explain nothing."""
    unused = {(function, *grant) for function in PERMISSIONS for grant in grants(function)} - used
    unexplained = {one for one in unused if not any(reason.covers(*one) for reason in UNUSED)}
    stale = [reason.reason for reason in UNUSED if not any(reason.covers(*one) for one in unused)]
    return [
        *(f"no test needs that {function} may {action} on {resource}" for function, action, resource in unexplained),
        *(f"remove from UNUSED: {reason}" for reason in stale),
    ]


def is_whole_suite(config: pytest.Config) -> bool:
    paths = [Path(one).resolve() for one in config.args]
    option = config.option
    return paths == [SUITE] and not (option.keyword or option.markexpr or option.deselect or option.collectonly)
