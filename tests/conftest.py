"""Settings of all suites: property tests have no deadline, and a failure is printed with the command to repeat it."""

from __future__ import annotations

import shlex
from typing import Any

from hypothesis import settings

import cdk  # noqa: F401 - before the tests import the library of the CDK, which would warn of Node 20

settings.register_profile("busy", deadline=None)  # a slow machine must not fail a property test
settings.load_profile("busy")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]:
        terminalreporter.write_line(f"run it alone: .venv/bin/python -m pytest {shlex.quote(report.nodeid)}")
