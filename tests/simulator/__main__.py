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

from tests.simulator.coverage import describe_coverage
from tests.simulator.defects import DEFECTS, put_back
from tests.simulator.faults import KINDS
from tests.simulator.profiles import profile_of
from tests.simulator.shrink import shrink
from tests.simulator.simulation import Outcome, simulate


def main() -> int:
    arguments = _arguments()
    with put_back(arguments.defect) if arguments.defect else nullcontext():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    began, faults, steps, executions, runs = time.monotonic(), Counter[str](), 0, 0, 0
    coverage = Counter[str]()
    failed: list[int] = []
    for seed in range(arguments.first, arguments.last + 1):
        if arguments.seconds and time.monotonic() - began > arguments.seconds and runs >= arguments.at_least:
            break
        outcome = simulate(seed, without=arguments.without, profile=profile_of(seed) if arguments.short else None)
        runs, steps, executions = runs + 1, steps + outcome.steps, executions + outcome.executions
        faults.update(outcome.faults)
        for feature, count in outcome.coverage.items():
            coverage[feature] += count
        if outcome.violations:
            failed.append(seed)
            print(f"seed {seed}: {outcome.violations[0]}", flush=True)
            if not arguments.keep_going:
                _show(outcome, arguments)
                break
        if runs % 100 == 0:
            print(f"{runs} seeds, {steps:,} steps, {time.monotonic() - began:.0f} s, {len(failed)} failed", flush=True)
    print(
        f"{runs} seeds from {arguments.first} on: {executions:,} executions, {steps:,} steps,"
        f" {sum(faults.values()):,} faults ({', '.join(f'{kind} {n:,}' for kind, n in sorted(faults.items()))}),"
        f" {len(failed)} failed, {time.monotonic() - began:.0f} s"
    )
    print(describe_coverage(coverage))
    return 1 if failed else 0


def _show(failing: Outcome, arguments: argparse.Namespace) -> None:
    shortest = shrink(failing, without=arguments.without, report=print)
    print(f"\nThe shortest run of seed {failing.seed} that fails has {len(shortest.decisions)} decisions:")
    print("\n".join(f"  {decision.stream} #{decision.number}" for decision in shortest.decisions))
    print("\n".join(shortest.relevant_trace()))
    seeds = f'"{failing.seed} --short"' if arguments.short else failing.seed
    print(f"\n{shortest.violations[0]}\nrepeat it: make simulate SEEDS={seeds}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--seconds", type=float, help="start no further seed after this time")
    parser.add_argument("--at-least", type=int, default=0, help="start so many seeds in any case")
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
