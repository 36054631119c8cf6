"""Defects that earlier versions of Punctual had, put back one at a time: the simulator must find each.

Each defect removes the part of the engine that prevents it. ``python -m tests.simulator.defects`` prints the first
violation of each in the short runs of its profile, and ``python -m tests.simulator 1 1000 --defect NAME`` searches in
runs in which anything may happen.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from inspect import isgeneratorfunction
from typing import Any

from tests.simulator import defects_long_lane, defects_short_lane
from tests.simulator.outcome import Outcome
from tests.simulator.profiles import PROFILES
from tests.simulator.simulation import simulate

SEEDS = 60
"""How many short runs are tried for a defect. Most defects are found by one of the first ten."""
DEFECTS: dict[str, Callable[[], Iterator[Any]]] = {
    name: defect
    for module in (defects_short_lane, defects_long_lane)
    for name, defect in vars(module).items()
    if isgeneratorfunction(defect) and not name.startswith("_")
}
FOUND_IN = {
    "two_at_once": "executions wait for a key",
    "order_reversed": "executions of all priorities wait for a key",
    "waiting_does_not_raise_the_priority": "executions of all priorities wait for a key",
    "alone_behind_all_others": "the overlap rule changes while executions wait",
    "stale_read_of_the_queue": "executions of all priorities wait for a key",
    "place_handed_on": "a place is passed to the next waiter",
    "edit_plans_the_past": "the schedule is edited",
    "place_kept_while_retrying": "attempts fail and messages come twice",
    "waiter_never_woken": "processes die at a gate",
    "own_claim_not_recognised": "workers die and responses are lost",
    "two_jobs_for_one_key": "clients repeat requests",
    "retry_stored_and_refused": "executions are retried manually",
    "limit_of_an_earlier_revision": "limits are lowered",
    "covered_by_nothing": "one execution waits behind another",
    "two_runs_of_one_execution": "long executions replace each other at a full lane",
    "slot_request_replaced": "slots are requested twice",
    "cancellation_left_to_the_run": "a long execution is cancelled between attempts",
    "waiting_execution_restarted": "long executions wait while the reconciler reads",
    "success_lost_to_a_cancellation": "a long execution is cancelled at its end",
    "backoff_cut_short": "state machine runs are stopped",
    "token_of_the_second_container_lost": "containers are started twice",
    "parts_added_during_a_cancellation": "a long execution is cancelled at its beginning",
    "rate_ignored": "rates",
    "long_execution_without_places": "long executions replace each other",
    "long_execution_started_early": "long executions start later",
    "taken_over_before_the_lease_expired": "leases expire",
    "paused_job_continues": "jobs are paused and removed",
    "due_execution_of_a_paused_job_starts": "jobs are paused while executions wait",
    "late_decision_accepted": "workers are frozen",
    "late_report_accepted": "containers are frozen",
    "removed_job_retries": "jobs are paused and removed",
    "message_of_a_batch_lost": "messages",
    "shards_not_stored": "the number of shards changes",
    "former_shards_not_swept": "the number of shards changes",
    "dead_worker_not_noticed": "workers die before the claim",
    "start_without_check": "workers die before the claim",
    "full_gate_without_rule": "executions wait for a key",
    "container_of_an_ended_execution": "a container starts after the end",
}
"""The profile in which each defect is found."""


@contextmanager
def put_back(name: str) -> Iterator[None]:
    """Put a defect back for the duration of the block."""
    with ExitStack() as stack:
        for patch in DEFECTS[name]():
            stack.enter_context(patch)
        yield


def search(name: str, profile: str) -> Outcome | None:
    """The first short run of a profile that finds a defect."""
    with put_back(name):
        outcomes = (simulate(seed, profile=PROFILES[profile]) for seed in range(SEEDS))
        return next((one for one in outcomes if one.violations), None)


def main() -> None:
    """Print, as JSON, the first violation of each defect that has a profile."""
    gc.set_threshold(100_000)
    for name, profile in FOUND_IN.items():
        found = search(name, profile)
        print(json.dumps({"defect": name, "seed": found and found.seed, "violation": found and found.violations[0]}))


if __name__ == "__main__":
    main()
