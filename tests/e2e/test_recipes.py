"""What the pages of ``docs/recipes`` show is what one sees: their commands, run as they stand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.punctual import Punctual
from tests.recipes import PAGES, ROOT, printed_by, recipes_of, script_of

Run = Future[subprocess.CompletedProcess[str]]
AT_ONCE = 3
SECONDS = 180


@pytest.fixture(scope="module")
def runs(punctual: Punctual) -> Iterator[dict[Path, Run]]:
    """A few pages at once: they wait more than they work."""
    for job in [punctual.submit(task="sleep", parameters={"seconds": 1}) for _ in range(6)]:
        punctual.ended(job)  # so that workers are warm, as on a stack that is in use
    with ThreadPoolExecutor(AT_ONCE) as pool:
        longest_first = sorted(PAGES, key=lambda page: -len(recipes_of(page)))
        yield {page: pool.submit(run, page, punctual) for page in longest_first}


def run(page: Path, punctual: Punctual) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script_of(page)],
        cwd=ROOT,
        env={**os.environ, "API": punctual.stack["api_url"], "TOKEN": punctual.stack["tokens"]["operator"]},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, runs: dict[Path, Run]) -> None:
    ended = runs[page].result()
    printed = printed_by(page, ended.stdout)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert [(one.name, printed[one.name]) for one in recipes_of(page) if not one.prints(printed[one.name])] == []
