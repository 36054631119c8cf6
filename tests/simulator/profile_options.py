"""The decisions that all profiles narrow, and the options that they have in common."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.simulator.choices import Profile
from tests.simulator.faults import KINDS
from tests.simulator.operator import Operator

SHORT: Profile = {
    **{f"faults/{kind}": (0.0,) for kind in KINDS},
    "requests": (3,),
    "tail": (timedelta(),),
    "expiry/late": (False,),
    "slot/timeout": (None,),
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
    "operator/timeout": (None,),
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
