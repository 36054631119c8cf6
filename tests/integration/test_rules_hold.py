"""The rules of scheduling hold, whatever happens, in whatever order, and wherever a process dies.

Hypothesis mixes what people do (submit, edit, pause, resume, cancel, delete, run, retry, backfill) with what AWS does
(ticks, records of streams, messages, each late, again, and in another order) and with what goes wrong: a function
stops before any of its calls of AWS, others go on meanwhile, and then it goes on or dies; a task outlives its lease;
the clock jumps. After each step the tables are held against the rules. ``rules/story.py`` has the steps,
``rules/checks.py`` the rules.

``PUNCTUAL_RULES_EXAMPLES=500 PUNCTUAL_RULES_SEEDS="7 8" pytest -s tests/integration/test_rules_hold.py`` takes longer
and goes other ways: that many stories, from each of these seeds. A story that breaks a rule is made shorter before it
is shown, which takes minutes; with ``PUNCTUAL_RULES_AS_FOUND=1`` it is shown at once, as long as it is.
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

EXAMPLES = int(os.environ.get("PUNCTUAL_RULES_EXAMPLES", "30"))
SEEDS = [int(one) for one in os.environ.get("PUNCTUAL_RULES_SEEDS", "1 2").split()]
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
        self.story.settle()

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
def test_the_rules_hold_whatever_happens_in_whatever_order(
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
    assert stage.steps >= 30 * EXAMPLES, "the stories are too short to tell anything"
    assert stage.let_go >= EXAMPLES / 3, "hardly anything that depends on another starts"
