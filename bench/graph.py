"""A dependency graph of 1,000 jobs in one batch: each job depends on two jobs of the previous layer."""

from __future__ import annotations

import time
from typing import Any

from bench.report import Report, console
from bench.stack import all_executions
from punctual.domain.instant import from_text
from tests.e2e.punctual import Punctual, wait_for

LAYERS, WIDTH = 10, 100
JOBS = LAYERS * WIDTH


def measure(punctual: Punctual) -> Report:
    report = Report(f"{JOBS:,} jobs in one batch, {LAYERS} layers, each job with two upstreams")
    began = time.monotonic()
    answer = punctual.request("POST", "/jobs/batch", {"jobs": [_job(layer, n) for layer, n in _places()]})
    accepted = time.monotonic()
    place_of = {job["job_id"]: place for job, place in zip(answer.json()["items"], _places(), strict=True)}
    runs = wait_for(lambda: _all_ended(punctual, place_of), 900, f"{JOBS} jobs", every=5)
    report.show("accepted after", f"{accepted - began:.1f} s")
    report.show("all ended after", f"{time.monotonic() - began:.0f} s")
    by_place = {place_of[one["job_id"]]: one for one in runs}
    early = [place for place in _places() if _began_early(place, by_place)]
    report.limit("surplus executions", len(runs) - JOBS, 0)
    report.limit("started more than once", len([one for one in runs if one["attempt"] != 1]), 0)
    report.limit("not succeeded", len([one for one in runs if one["status"] != "succeeded"]), 0)
    report.limit("started before an upstream had ended", len(early), 0)
    return report


def _places() -> list[tuple[int, int]]:
    return [(layer, n) for layer in range(LAYERS) for n in range(WIDTH)]


def _before(layer: int, n: int) -> list[tuple[int, int]]:
    return [(layer - 1, n), (layer - 1, (n + 1) % WIDTH)] if layer else []


def _job(layer: int, n: int) -> dict[str, Any]:
    depends_on = [{"job": _name(*place)} for place in _before(layer, n)]
    return {"task": "echo", "name": _name(layer, n), **({"depends_on": depends_on} if depends_on else {})}


def _name(layer: int, n: int) -> str:
    return f"graph-{layer}-{n}"


def _all_ended(punctual: Punctual, place_of: dict[str, tuple[int, int]]) -> list[dict[str, Any]] | None:
    """All executions of the graph once every one has ended, else `None`. More than one per job if a job ran twice."""
    runs = [one for one in all_executions(punctual) if one["job_id"] in place_of]
    ended = [one for one in runs if one["ended_at"]]
    console.print(f"{len(ended):,} of {JOBS:,} have ended")
    return runs if {one["job_id"] for one in ended} == place_of.keys() and len(ended) == len(runs) else None


def _began_early(place: tuple[int, int], runs: dict[tuple[int, int], dict[str, Any]]) -> bool:
    started = from_text(runs[place]["started_at"])
    return any(from_text(runs[one]["ended_at"]) > started for one in _before(*place))
