"""The kinds of steps, their arguments and their relative frequencies.

The steps are drawn here and are not rules of Hypothesis, because Hypothesis would leave whole kinds of rules out of an
example and repeat others fifty times. With a few dozen examples that would cover too little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

Act = TypeVar("Act", bound=Callable[..., None])


@dataclass(frozen=True)
class Kind:
    name: str
    often: int
    when: Callable[[Any], bool]
    said: dict[str, st.SearchStrategy[Any]]


class Step:
    def __init__(self, kind: Kind, said: dict[str, Any]) -> None:
        self.kind, self.said = kind, said

    def __repr__(self) -> str:
        return f"{self.kind.name}({', '.join(f'{name}={value!r}' for name, value in self.said.items())})"

    def take(self, story: Any) -> None:
        if self.kind.when(story):
            getattr(story, self.kind.name)(**self.said)


KINDS: list[Kind] = []


def happens(
    *, often: int = 1, when: Callable[[Any], bool] = lambda _: True, **said: st.SearchStrategy[Any]
) -> Callable[[Act], Act]:
    """Register a method as a step, with strategies for its arguments. A step is left out while ``when`` is false."""

    def register(act: Act) -> Act:
        KINDS.append(Kind(act.__name__, often, when, said))
        return act

    return register


@st.composite
def steps(draw: st.DrawFn) -> Step:
    kind = draw(st.sampled_from([kind for kind in KINDS for _ in range(kind.often)]))
    return Step(kind, draw(st.fixed_dictionaries(kind.said)))


numbers = st.integers(0, 30)
calls = st.none() | st.none() | st.integers(1, 12)
"""The AWS call before which a function is suspended. Most functions are not suspended."""
intervals = st.sampled_from([30, 60, 90, 300, 900])
recurring = st.one_of(
    st.fixed_dictionaries({"every_seconds": intervals}),
    st.fixed_dictionaries({"every_seconds": intervals, "max_runs": st.integers(1, 8)}),
    st.fixed_dictionaries({"every_seconds": st.sampled_from([60, 90]), "jitter_seconds": st.sampled_from([5, 40])}),
    st.fixed_dictionaries({"cron": st.sampled_from(["* * * * *", "*/7 * * * *"])}),
)
schedules = recurring | recurring | st.fixed_dictionaries({"in_seconds": st.sampled_from([0, 70, 600])})
overlaps = st.sampled_from(["allow", "skip", "queue_one", "queue_all", "cancel_running"])
misfires = st.fixed_dictionaries(
    {"policy": st.sampled_from(["run_latest", "run_all", "skip"]), "grace_seconds": st.sampled_from([0, 45, 300])}
)
limits = st.fixed_dictionaries({"key": st.just("k"), "limit": st.integers(1, 2)})
rates = st.fixed_dictionaries({"key": st.just("k"), "rate": st.just({"starts": 1, "per_seconds": 4})})
keys = st.none() | limits | rates | st.builds(lambda limit, rate: {**limit, **rate}, limits, rates)
retries = st.sampled_from([{"max_attempts": 1}, {"max_attempts": 3, "backoff_seconds": 5, "max_backoff_seconds": 5}])
conditions = st.sampled_from(["succeeded", "finished", "finished", "failed"])
changes = st.one_of(
    st.fixed_dictionaries({"schedule": recurring}),
    st.fixed_dictionaries({"overlap": overlaps}),
    st.fixed_dictionaries({"parameters": st.fixed_dictionaries({"n": numbers})}),
    st.fixed_dictionaries({"concurrency": keys}),
    st.fixed_dictionaries({"misfire": misfires}),
    st.fixed_dictionaries({"priority": st.sampled_from(["high", "low"])}),
    st.just({"depends_on": []}),
)
