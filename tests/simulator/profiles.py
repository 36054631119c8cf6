"""Short runs, each with a situation of its own: few jobs, the requests and faults that matter there, one lane.

A defect that needs a rare situation is found by some of a few short runs of its profile, whatever their seeds.
"""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.executions.execution import Outcome
from tests.simulator.choices import Profile
from tests.simulator.operator import LONG_BACKOFF, Operator
from tests.simulator.profile_options import (
    ANYTHING,
    COIN,
    EXHAUSTED,
    MOSTLY,
    OFTEN,
    ONE_AT_A_TIME,
    RARELY,
    SHORT,
    VARIED_LATENCY,
)
from tests.simulator.profiles_long_lane import LONG_LANE

PROFILES: dict[str, Profile] = {
    "executions wait for a key": {
        **SHORT,
        "operator/jobs": (2,),
        "operator/key": ONE_AT_A_TIME,
        "task/seconds": (1.0, 12.0, 45.0),
        "faults/delay": OFTEN,
        "faults/latency": VARIED_LATENCY,
        "faults/reorder": OFTEN,
    },
    "executions of all priorities wait for a key": {
        **SHORT,
        "requests": (5,),
        "operator/jobs": (3,),
        "operator/schedule": ({"every_seconds": 90}, {"every_seconds": 60}, {"every_seconds": 300}),
        "operator/priority": ("low", "normal", "high"),
        "operator/key": ONE_AT_A_TIME,
        "operator/gap": (240,),
        "operator/overlap": ("allow", "queue_all"),
        "operator/retry": (EXHAUSTED, {"max_attempts": 2, "backoff_seconds": 5, "max_backoff_seconds": 5}),
        "task/seconds": (45.0, 150.0),
        "faults/delay": RARELY,
        "faults/reorder": OFTEN,
        "faults/latency": VARIED_LATENCY,
        "faults/stale": OFTEN,
    },
    "the overlap rule changes while executions wait": {
        **SHORT,
        "requests": (6,),
        "operator/overlap": ("queue_one", "queue_all", "cancel_running"),
        "operator/action": (Operator._run, Operator._edit),
        "operator/change": ("overlap",),
        "operator/gap": (15, 40),
        "task/seconds": (45.0, 150.0),
        "faults/delay": RARELY,
        "faults/reorder": OFTEN,
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
    "timers are removed hours late": {
        **SHORT,
        "requests": (2,),
        "operator/schedule": ({"cron": "*/45 * * * *"}, {"cron": "*/50 * * * *"}),
        "operator/action": (Operator._edit, Operator._pause, Operator._resume),
        "operator/change": ("schedule",),
        "operator/gap": (600, 2400),
        "expiry/late": (True,),
        "faults/kill": RARELY,
        "faults/lag": RARELY,
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
        "faults/reorder": OFTEN,
    },
    "workers die and responses are lost": {
        **SHORT,
        "operator/retry": (EXHAUSTED,),
        "faults/kill": RARELY,
        "faults/lost": OFTEN,
        "faults/reorder": OFTEN,
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
        "faults/reorder": OFTEN,
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
        "faults/reorder": RARELY,
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
        "faults/reorder": OFTEN,
    },
    "leases expire": {
        **SHORT,
        "operator/overlap": ("skip",),
        "task/seconds": (45.0, 150.0),
        "faults/delay": OFTEN,
        "faults/reorder": RARELY,
        "operator/timeout": (None, 60),
    },
    **LONG_LANE,
}


def profile_of(seed: int) -> Profile:
    """The profile of a short run: one of the situations, or in every third run anything."""
    if seed % 3 == 0:
        return ANYTHING
    return list(PROFILES.values())[(seed - seed // 3) % len(PROFILES)]
