"""Runs seeds and reports what they found: ``python -m tests.simulator FIRST [LAST] [--seconds N] [--short]``.

A failing seed is shortened, and the trace of the shortest run that fails is printed. ``--short`` runs the profiles of
``profiles.py`` in turn, instead of runs in which anything may happen: ten of them take as long as one other run.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import inf

from tests.simulator.coverage import describe_coverage
from tests.simulator.defects import DEFECTS, put_back
from tests.simulator.faults import KINDS
from tests.simulator.outcome import Outcome
from tests.simulator.profiles import profile_of
from tests.simulator.shrink import shrink
from tests.simulator.simulation import simulate


def main() -> int:
    arguments = _arguments()
    with put_back(arguments.defect) if arguments.defect else nullcontext():
        return _run(arguments)


@dataclass
class Totals:
    """What the runs from one seed on have done so far."""

    first: int
    began: float = field(default_factory=time.monotonic)
    runs: int = 0
    executions: int = 0
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    coverage: Counter[str] = field(default_factory=Counter)
    failed: list[int] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def add(self, outcome: Outcome) -> None:
        self.runs += 1
        self.executions += outcome.executions
        self.steps += outcome.steps
        self.faults.update(outcome.faults)
        for feature, count in outcome.coverage.items():  # also those that were not reached
            self.coverage[feature] += count
        if outcome.violations:
            self.failed.append(outcome.seed)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.faults.items()))
        return (
            f"{self.runs} seeds from {self.first} on: {self.executions:,} executions, {self.steps:,} steps,"
            f" {self.faults.total():,} faults ({kinds}), {len(self.failed)} failed, {self.seconds:.0f} s"
        )


def _run(arguments: argparse.Namespace) -> int:
    totals = Totals(arguments.first)
    stop_at = totals.began + arguments.seconds
    for seed in range(arguments.first, arguments.last + 1):
        profile = profile_of(seed) if arguments.short else None
        outcome = simulate(seed, without=arguments.without, profile=profile, stop_at=stop_at)
        if not outcome.is_complete and not outcome.violations:
            break
        totals.add(outcome)
        if outcome.violations:
            print(f"seed {seed}: {outcome.violations[0]}", flush=True)
            if not arguments.keep_going:
                _show(outcome, arguments)
                break
        if totals.runs % 100 == 0:
            print(totals, flush=True)
    print(totals)
    print(describe_coverage(totals.coverage))
    return 1 if totals.failed else 0


def _show(failing: Outcome, arguments: argparse.Namespace) -> None:
    stop_at = time.monotonic() + arguments.seconds
    shortest = shrink(failing, without=arguments.without, report=print, stop_at=stop_at)
    print(f"\nThe shortest run of seed {failing.seed} that fails has {len(shortest.decisions)} decisions:")
    print("\n".join(f"  {decision.stream} #{decision.number}" for decision in shortest.decisions))
    print("\n".join(shortest.relevant_trace()))
    seeds = f'"{failing.seed} --short"' if arguments.short else failing.seed
    print(f"\n{shortest.violations[0]}\nrepeat it: make simulate SEEDS={seeds}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--seconds", type=float, default=inf, help="stop after this time; shorten as long again")
    parser.add_argument("--short", action="store_true", help="run short profiles")
    parser.add_argument("--keep-going", action="store_true", help="count failing seeds instead of shortening the first")
    parser.add_argument("--defect", choices=DEFECTS, help="put a defect of an earlier version back")
    parser.add_argument("--without", nargs="*", default=[], choices=KINDS, help="kinds of faults to leave out")
    arguments = parser.parse_args()
    arguments.last = arguments.first if arguments.last is None else arguments.last
    return arguments


if __name__ == "__main__":
    gc.set_threshold(100_000)  # runs leave few cycles behind: searching for them takes a third of the time
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets must not differ between runs
        command = [sys.executable, "-m", "tests.simulator", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"PYTHONHASHSEED": "0"})
    sys.exit(main())
