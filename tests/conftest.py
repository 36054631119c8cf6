"""What all suites share: a failure is printed last, with the command that runs only that test."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    broken = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
    for report in broken:
        terminalreporter.write_line(f"run it alone: .venv/bin/python -m pytest '{report.nodeid}'")
