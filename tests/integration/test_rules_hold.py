"""Property tests: the invariants of scheduling hold for random sequences of requests, deliveries and crashes.

Hypothesis mixes requests (submit, edit, pause, resume, cancel, delete, run, retry, backfill) with the deliveries of
AWS (ticks, stream records and messages, each delayed, duplicated or reordered) and with faults: a function is suspended
before any of its AWS calls while other functions run, and then resumes or crashes; a task outlives its lease; the clock
jumps. After each step the tables are checked against the invariants. ``rules/story.py`` has the steps,
``rules/checks.py`` the invariants.

``PUNCTUAL_RULES_EXAMPLES=500 PUNCTUAL_RULES_SEEDS="7 8" pytest -s tests/integration/test_rules_hold.py`` runs this many
examples for each of these seeds. Hypothesis shrinks a failing example before it reports it, which takes minutes; with
``PUNCTUAL_RULES_AS_FOUND=1`` it reports the example without shrinking.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.integration.rules.stage import Stage
from tests.integration.rules.steps import Step, conditions, intervals, overlaps, steps
from tests.integration.rules.story import Story
from tests.integration.world import World

EXAMPLES = int(os.environ.get("PUNCTUAL_RULES_EXAMPLES", "12"))
SEEDS = [int(one) for one in os.environ.get("PUNCTUAL_RULES_SEEDS", "1 6").split()]
STEPS = 50
STAGE: list[Stage] = []


class Rules(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.story = Story(STAGE[0])

    @initialize(every=intervals, overlap=overlaps, condition=conditions)
    def it_begins(self, every: int, overlap: str, condition: str) -> None:
        misfire, often = {"policy": "run_latest", "grace_seconds": 300}, {"every_seconds": min(every, 60)}
        self.story.submit({"every_seconds": every}, overlap, misfire, None, {"max_attempts": 3}, None)
        self.story.submit_one_and_who_waits_for_it(often, overlap, {"max_attempts": 1}, condition, None)
        self.story.run_until_idle()

    @rule(step=steps())
    def it_goes_on(self, step: Step) -> None:
        step.take(self.story)

    @invariant()
    def the_rules_hold(self) -> None:
        self.story.the_rules_hold()

    def teardown(self) -> None:
        try:
            if self.story.jobs and not self.story.broken:
                self.story.come_to_an_end()
        finally:
            self.story.break_off()


@pytest.mark.parametrize("first", SEEDS)
def test_the_scheduling_invariants_hold_for_random_sequences_of_events(
    world: World, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    STAGE[:] = [Stage(world, monkeypatch)]
    run_state_machine_as_test(
        seed(first)(Rules),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate] if "PUNCTUAL_RULES_AS_FOUND" in os.environ else settings.default.phases,
        ),
    )
    stage = STAGE[0]
    print(stage)
    assert stage.steps >= 30 * EXAMPLES, "the examples are too short to be meaningful"
    assert stage.let_go >= EXAMPLES / 3, "too few dependants started"
