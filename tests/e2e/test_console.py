"""The web console in headless Chromium, on the deployed stack."""

from __future__ import annotations

import pytest

from local.stack import Stack
from tests.e2e.browser import play
from tests.e2e.large_tables import large_tables
from tests.e2e.punctual import Punctual


@pytest.mark.usefixtures("punctual")
def test_the_console_works_in_a_browser(stack: Stack) -> None:
    """Runs `console/browser`."""
    play(stack)


def test_the_console_lists_ten_thousand_jobs_and_a_hundred_thousand_executions(
    punctual: Punctual, stack: Stack
) -> None:
    with large_tables(punctual):
        play(stack, "large", LARGE="1")
