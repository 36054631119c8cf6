"""Short runs, each with a situation of its own: few jobs, the requests and faults that matter there, one lane.

A defect that needs a rare situation is found by some of a few short runs of its profile, whatever their seeds.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from punctual.domain.executions.execution import Outcome
from tests.simulator.choices import Profile
from tests.simulator.faults import KINDS
from tests.simulator.operator import LONG_BACKOFF, Operator

SHORT: Profile = {
    **{f"faults/{kind}": (0.0,) for kind in KINDS},
    "requests": (3,),
    "tail": (timedelta(),),
    "expiry/late": (False,),
    "operator/jobs": (1,),
    "operator/lanes": ("short",),
    "operator/lane": ("short",),
    "operator/varied": (False,),
    "operator/bulky": (False,),
    "operator/action": (Operator._wait,),
    "operator/gap": (15, 40),
    "operator/dependant": (False,),
    "operator/schedule": ({"every_seconds": 30},),
    "operator/misfire": ({"policy": "run_latest", "grace_seconds": 300},),
    "operator/overlap": ("allow",),
    "operator/key": (None,),
}
LONG: Profile = {
    **SHORT,
    "operator/lanes": ("long",),
    "operator/lane": ("long",),
    "operator/schedule": (None,),
    "operator/batch": ({},),
}
ANYTHING: Profile = {
    "requests": (3,),
    "operator/jobs": (1,),
    "tail": (timedelta(),),
    "expiry/late": (False,),
}
ONE_AT_A_TIME: tuple[Any, ...] = ({"key": "k", "limit": 1},)
EXHAUSTED = {"max_attempts": 1}
VARIED_LATENCY = ((0.001, 0.05), (0.005, 1.0))
RARELY, OFTEN, MOSTLY = (0.0, 0.04), (0.15,), (0.5,)
COIN = (False, True)

PROFILES: dict[str, Profile] = {
    "executions wait for a key": {
        **SHORT,
        "operator/jobs": (2,),
        "operator/key": ONE_AT_A_TIME,
        "task/seconds": (1.0, 12.0, 45.0),
        "faults/delay": OFTEN,
        "faults/latency": VARIED_LATENCY,
    },
    "processes die at a gate": {
        **SHORT,
        "operator/jobs": (3,),
        "operator/schedule": (None,),
        "operator/key": ONE_AT_A_TIME,
        "task/seconds": (12.0,),
        "task/outcome": (Outcome.SUCCEEDED,),
        "faults/kill": OFTEN,
        "kill/*": (False,),
        "kill/worker": COIN,
        "kill/after/worker": COIN,
    },
    "the schedule is edited": {
        **SHORT,
        "requests": (1,),
        "operator/schedule": ({"cron": "*/15 * * * *"}, {"cron": "*/17 * * * *"}),
        "operator/action": (Operator._edit,),
        "operator/change": ("schedule",),
        "operator/gap": (1080,),
        "tail": (timedelta(minutes=75),),
        "expiry": (timedelta(minutes=1),),
    },
    "a place is passed to the next waiter": {
        **SHORT,
        "requests": (14,),
        "operator/key": ONE_AT_A_TIME,
        "operator/gap": (40,),
        "task/seconds": (45.0,),
        "task/outcome": (Outcome.SUCCEEDED,),
        "faults/delay": (0.1,),
        "delay/*": (0.0,),
        "delay/worker": (0.0, 70.0),
    },
    "attempts fail and messages come twice": {
        **SHORT,
        "requests": (5,),
        "operator/key": ONE_AT_A_TIME,
        "operator/gap": (40,),
        "operator/retry": (LONG_BACKOFF,),
        "task/outcome": (Outcome.FAILED,),
        "task/seconds": (0.0,),
        "faults/duplicate": MOSTLY,
        "duplicate/*": (False,),
        "duplicate/queue/normal": COIN,
        "faults/delay": OFTEN,
        "delay/*": (0.0,),
        "delay/worker": (0.0, 9.0),
    },
    "workers die and responses are lost": {
        **SHORT,
        "operator/retry": (EXHAUSTED,),
        "faults/kill": RARELY,
        "faults/lost": OFTEN,
    },
    "clients repeat requests": {
        **SHORT,
        "operator/schedule": (None,),
        "operator/action": (Operator._submit,),
        "operator/dependant": COIN,
        "faults/kill": OFTEN,
        "faults/lost": OFTEN,
    },
    "executions are retried manually": {
        **SHORT,
        "requests": (8,),
        "operator/schedule": (None,),
        "operator/retry": (EXHAUSTED,),
        "operator/action": (Operator._retry,),
        "task/outcome": (Outcome.FATAL,),
        "faults/lost": OFTEN,
    },
    "limits are lowered": {
        **SHORT,
        "requests": (6,),
        "operator/jobs": (2,),
        "operator/key": ({"key": "k", "limit": 2}, {"key": "k", "limit": 1}),
        "operator/action": (Operator._edit,),
        "operator/change": ("concurrency",),
        "task/seconds": (12.0, 45.0),
        "faults/delay": OFTEN,
        "faults/duplicate": OFTEN,
        "faults/latency": VARIED_LATENCY,
    },
    "one execution waits behind another": {
        **SHORT,
        "requests": (6,),
        "operator/overlap": ("queue_one", "cancel_running"),
        "operator/schedule": ({"every_seconds": 30}, {"every_seconds": 20}, {"every_seconds": 25}),
        "operator/action": (Operator._edit,),
        "operator/change": ("schedule",),
        "operator/gap": (55, 70),
        "task/seconds": (150.0,),
        "faults/lag": MOSTLY,
        "lag/*": (0.0,),
        "lag/jobs/planner": (0.0, 30.0),
    },
    "rates": {
        **SHORT,
        "operator/key": ({"key": "k", "rate": {"starts": 1, "per_seconds": 60}},),
        "faults/delay": RARELY,
    },
    "jobs are paused and removed": {
        **SHORT,
        "requests": (6,),
        "operator/jobs": (2,),
        "operator/retry": ({"max_attempts": 3, "backoff_seconds": 60, "max_backoff_seconds": 60},),
        "operator/action": (Operator._pause, Operator._resume, Operator._delete, Operator._cancel_job),
        "task/outcome": (Outcome.FAILED,),
        "task/seconds": (1.0, 12.0),
        "faults/delay": RARELY,
    },
    "messages": {
        **SHORT,
        "operator/schedule": ({"queue": True},),
        "operator/action": (Operator._send_messages,),
        "operator/count": (3,),
        "operator/misfire": (None,),
        "faults/duplicate": OFTEN,
    },
    "leases expire": {
        **SHORT,
        "operator/overlap": ("skip",),
        "task/seconds": (45.0, 150.0),
        "faults/delay": OFTEN,
    },
    "long executions replace each other": {
        **LONG,
        "requests": (6,),
        "operator/overlap": ("cancel_running",),
        "operator/action": (Operator._run,),
        "operator/gap": (15, 3, 40),
        "faults/duplicate": MOSTLY,
        "duplicate/*": (False,),
        "duplicate/states/next_parts": COIN,
        "faults/delay": OFTEN,
        "faults/latency": VARIED_LATENCY,
    },
    "slots are requested twice": {
        **LONG,
        "operator/jobs": (3,),
        "operator/batch": ({"resources": {"vcpu": 4}},),
        "operator/action": (Operator._wait, Operator._cancel),
        "faults/duplicate": MOSTLY,
        "duplicate/*": (False,),
        "duplicate/states/request_slot": COIN,
        "faults/delay": MOSTLY,
        "delay/*": (0.0,),
        "delay/conductor": (0.0, 2.0, 9.0),
    },
    "a long execution is cancelled at its beginning": {
        **LONG,
        "requests": (2,),
        "operator/action": (Operator._cancel,),
        "operator/gap": (1, 4),
        "faults/delay": MOSTLY,
        "delay/*": (0.0,),
        "delay/conductor": (0.0, 2.0, 9.0),
    },
    "a long execution is cancelled at its end": {
        **LONG,
        "requests": (1,),
        "operator/action": (Operator._cancel,),
        "operator/grace": (30,),
        "operator/gap": (22, 28, 34, 40),
        "container/start": (4.0,),
        "container/seconds": (15.0,),
        "container/outcome": ("succeeded",),
        "faults/delay": MOSTLY,
        "delay/*": (0.0,),
        "delay/conductor": (0.0, 2.0, 9.0),
    },
    "a container starts after the end": {
        **LONG,
        "requests": (2,),
        "operator/action": (Operator._cancel,),
        "operator/grace": (0,),
        "operator/gap": (4, 15),
        "container/start": (20.0,),
        "faults/lag": MOSTLY,
        "lag/*": (0.0,),
        "lag/executions/settler": (0.0, 20.0, 90.0),
    },
    "state machine runs are stopped": {
        **LONG,
        "operator/gap": (200, 240),
        "operator/retry": (LONG_BACKOFF,),
        "container/outcome": ("failed",),
        "container/seconds": (15.0, 200.0),
        "faults/abort": (0.9,),
    },
    "containers are started twice": {
        **LONG,
        "operator/gap": (240,),
        "container/seconds": (1500.0,),
        "faults/lost": MOSTLY,
        "lost/*": (False,),
        "lost/states/run_task": COIN,
    },
    "long executions start later": {
        **LONG,
        "requests": (1,),
        "operator/jobs": (2,),
        "operator/schedule": ({"in_seconds": 600}, {"in_seconds": 70}),
        "operator/batch": ({"resources": {"vcpu": 4}},),
        "operator/action": (Operator._cancel,),
        "operator/gap": (615, 630, 660),
        "container/seconds": (200.0,),
        "faults/duplicate": MOSTLY,
        "duplicate/*": (False,),
        "duplicate/schedule": COIN,
        "faults/latency": VARIED_LATENCY,
    },
}


def profile_of(seed: int) -> Profile:
    """The profile of a short run: one of the situations, or in every third run anything."""
    if seed % 3 == 0:
        return ANYTHING
    return list(PROFILES.values())[(seed - seed // 3) % len(PROFILES)]
