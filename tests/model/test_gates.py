"""The gate protocol keeps its invariants in every reachable state of small instances, and needs its conditions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.model.explorer import explore
from tests.model.gates import Budget, Condition, GateModel, GateSpec, Instance, Rule, describe

ONE = (GateSpec(),)
TWO = (GateSpec(kept=True), GateSpec())
"""The gate of the job, kept between attempts, and the gate of a key."""
ALL_EDITS = frozenset({"requeue", "remove", "hold"})


def _job(rule: Rule) -> tuple[GateSpec, ...]:
    return (GateSpec(kept=True, rules=(rule,)),)


INSTANCES = {
    "two executions with two attempts and a repair": Instance(2, ONE, 2, Budget(repairs=1)),
    "one execution with three attempts, a duplicate and the settler": Instance(
        1, ONE, 3, Budget(duplicates=1, settles=1)
    ),
    "an expired lease, a duplicate, a repair and the settler": Instance(
        1, ONE, 2, Budget(duplicates=1, repairs=1, expiries=1, settles=1)
    ),
    "a duplicate and a cancellation": Instance(2, ONE, 1, Budget(duplicates=1, cancels=1)),
    "an edit and a repair": Instance(2, ONE, 1, Budget(edits=1, repairs=1), edits=ALL_EDITS),
    "an edit that changes the position in the queue": Instance(2, ONE, 1, Budget(edits=1), reorders=True),
    "an edit that lowers the limit": Instance(
        2, (GateSpec(limit=2, limit_after_edit=1),), 1, Budget(edits=2, duplicates=1)
    ),
    "two edits of one execution, a duplicate and a repair": Instance(
        1, ONE, 1, Budget(edits=2, repairs=1, duplicates=1), edits=ALL_EDITS
    ),
    "two executions with two attempts and the settler": Instance(2, ONE, 2, Budget(settles=1)),
    "two gates, one execution, an expired lease, a duplicate and a repair": Instance(
        1, TWO, 2, Budget(duplicates=1, repairs=1, expiries=1)
    ),
    "two gates, two executions and a duplicate": Instance(2, TWO, 1, Budget(duplicates=1)),
    "two gates, two executions with two attempts": Instance(2, TWO, 2),
    "two gates, two executions and an edit": Instance(2, TWO, 1, Budget(edits=1), edits=ALL_EDITS, drops_gate=True),
    "two gates, two executions and an added upstream": Instance(2, TWO, 1, Budget(edits=1), edits=frozenset({"hold"})),
    "a backfill with a key and two attempts": Instance(2, (GateSpec(), GateSpec()), 2, backfill=True),
    "a backfill with a key and a duplicate": Instance(
        2, (GateSpec(), GateSpec()), 1, Budget(duplicates=1), backfill=True
    ),
    "a backfill with a key, an edit and a repair": Instance(
        2, (GateSpec(), GateSpec()), 1, Budget(edits=1, repairs=1), backfill=True
    ),
    "skip, with two attempts and a cancellation": Instance(2, (GateSpec(rules=(Rule.SKIP,)),), 2, Budget(cancels=1)),
    "skip behind waiters": Instance(3, (GateSpec(rules=(Rule.WAIT, Rule.WAIT, Rule.SKIP)),)),
    "queue one, and a cancellation": Instance(3, _job(Rule.QUEUE_ONE), 1, Budget(cancels=1)),
    "queue one, and an edit": Instance(2, _job(Rule.QUEUE_ONE), 1, Budget(edits=1)),
    "cancel running": Instance(3, _job(Rule.CANCEL_RUNNING)),
    "cancel running, behind an execution that waits under another rule": Instance(
        3, (GateSpec(kept=True, rules=(Rule.WAIT, Rule.WAIT, Rule.CANCEL_RUNNING)),)
    ),
}

NEEDED = {
    Condition.ACQUIRE_BEHIND_QUEUE: INSTANCES["skip behind waiters"],
    Condition.RAISE_ONLY: INSTANCES["one execution with three attempts, a duplicate and the settler"],
    Condition.RAISE_EXISTING: INSTANCES["one execution with three attempts, a duplicate and the settler"],
    Condition.RAISE_WITHIN_LIMIT: INSTANCES["an edit that lowers the limit"],
    Condition.ENQUEUE_WITHOUT_ENTRY: INSTANCES["a duplicate and a cancellation"],
    Condition.ENQUEUE_STATUS: INSTANCES["a duplicate and a cancellation"],
    Condition.COVERED_CHECK: INSTANCES["queue one, and a cancellation"],
    Condition.GRANT_STATUS: INSTANCES["a duplicate and a cancellation"],
    Condition.GRANT_ROOM: INSTANCES["two executions with two attempts and a repair"],
    Condition.GRANT_NEXT_ATTEMPT: INSTANCES["two executions with two attempts and the settler"],
    Condition.DROP_SAME_WAITER: INSTANCES["an edit and a repair"],
    Condition.DROP_BY_REVISION: INSTANCES["an edit that changes the position in the queue"],
    Condition.CLEAR_COMPARED: INSTANCES["two executions with two attempts and a repair"],
    Condition.CLEAR_UNIQUE: INSTANCES["two executions with two attempts and a repair"],
    Condition.RELEASE_ATTEMPT: INSTANCES["one execution with three attempts, a duplicate and the settler"],
    Condition.EVICT_CHECK: INSTANCES["two edits of one execution, a duplicate and a repair"],
    Condition.EVICT_CLEARED: INSTANCES["two edits of one execution, a duplicate and a repair"],
    Condition.EVICT_ATTEMPT: INSTANCES["an expired lease, a duplicate, a repair and the settler"],
    Condition.EVICT_AT_ALL: INSTANCES["an expired lease, a duplicate, a repair and the settler"],
    Condition.GRANT_AFTER_REPAIR: INSTANCES["a duplicate and a cancellation"],
    Condition.CLAIM_REVISION: INSTANCES["two edits of one execution, a duplicate and a repair"],
    Condition.TAKE_OVER_ACQUIRES_NOTHING: INSTANCES["an expired lease, a duplicate, a repair and the settler"],
    Condition.TAKE_OVER_NEVER_CLAIMS: INSTANCES["an expired lease, a duplicate, a repair and the settler"],
    Condition.SKIP_CHECKS_HOLDER: INSTANCES["skip, with two attempts and a cancellation"],
    Condition.SKIP_BEHIND_HOLDER: INSTANCES["skip behind waiters"],
    Condition.ASK_IN_GRANT: INSTANCES["cancel running"],
    Condition.LATER_GATES_NOT_HELD: INSTANCES["two gates, two executions and an added upstream"],
}
"""Each condition of the protocol, and an instance that violates an invariant without it."""

UNNEEDED = frozenset(Condition) - NEEDED.keys()
"""Conditions that follow from the others. Without them, all instances keep the invariants, too."""


@pytest.mark.parametrize("name", INSTANCES)
def test_the_invariants_hold_in_every_reachable_state_also_without_unneeded_conditions(name: str) -> None:
    model = GateModel(INSTANCES[name], watched=UNNEEDED)
    complete = explore(model, describe=describe)
    assert complete.violation is None, f"\n{complete.violation}"
    without = GateModel(replace(INSTANCES[name], without=UNNEEDED))
    others = explore(without, describe=describe, after=complete.reached, changed=model.dependent)
    print(f"{name}: {len(complete.reached)} states, {len(others.reached)} without unneeded conditions")
    assert others.violation is None, f"\n{others.violation}"


@pytest.mark.parametrize("condition", NEEDED, ids=lambda condition: condition.name)
def test_without_the_condition_an_invariant_is_violated(condition: Condition) -> None:
    instance = replace(NEEDED[condition], without=frozenset({condition}))
    exploration = explore(GateModel(instance), max_states=100_000)
    assert exploration.violation is not None
    print(f"without “{condition}”: {exploration.violation}")
