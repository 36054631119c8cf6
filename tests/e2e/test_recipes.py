"""The commands of the pages in ``docs/recipes`` print what the pages show."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.punctual import Punctual
from tests.recipes import PAGES, ROOT, recipes_of, script_of, split_output

Run = Future[subprocess.CompletedProcess[str]]
PARALLEL_PAGES = 3
TIMEOUT_SECONDS = 1200


@pytest.fixture(scope="module")
def runs(punctual: Punctual) -> Iterator[dict[Path, Run]]:
    """The run of each page. Several run in parallel: their commands mostly wait."""
    for job in [punctual.submit(task="sleep", parameters={"seconds": 1}) for _ in range(6)]:
        punctual.wait_for_end(job)  # warms the workers, as in a stack that is in use
    with ThreadPoolExecutor(PARALLEL_PAGES) as pool:
        longest_first = sorted(PAGES, key=lambda page: -len(recipes_of(page)))
        yield {page: pool.submit(run, page, punctual) for page in longest_first}


def run(page: Path, punctual: Punctual) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script_of(page)],
        cwd=ROOT,
        env={**os.environ, "API": punctual.stack["api_url"], "TOKEN": punctual.stack["tokens"]["operator"]},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, runs: dict[Path, Run]) -> None:
    ended = runs[page].result()
    outputs = split_output(page, ended.stdout)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert [(one.name, outputs[one.name]) for one in recipes_of(page) if not one.matches(outputs[one.name])] == []
