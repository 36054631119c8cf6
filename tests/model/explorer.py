"""A breadth-first explorer of finite models. It finds the shortest trace to a state that violates an invariant."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)


class Model(Protocol[S]):
    """A transition system. States are immutable and hashable."""

    def initial(self) -> S: ...

    def actions(self, state: S) -> Iterable[tuple[str, S]]:
        """The possible steps: what happens, in words, and the state afterwards."""
        ...

    def violation(self, state: S) -> str | None:
        """The invariant that this state violates."""
        ...

    def at_rest(self, state: S) -> S:
        """The state after all processes stopped here, and one repair ran to its end."""
        ...

    def violation_at_rest(self, state: S) -> str | None:
        """The invariant that this state, returned by ``at_rest``, violates."""
        ...


@dataclass(frozen=True)
class Violation:
    rule: str
    trace: tuple[str, ...]
    """The steps from the initial state, the shortest possible number of them."""

    def __str__(self) -> str:
        steps = "\n".join(f"{number:3}. {step}" for number, step in enumerate(self.trace, 1))
        return f"{self.rule}\n{steps}"


@dataclass(frozen=True)
class Exploration(Generic[S]):
    reached: Mapping[S, tuple[S, str] | None]
    """Each state, with the step that led to it first."""
    violation: Violation | None


class TooLarge(RuntimeError):
    """The model has more states than the caller allowed."""


def explore(
    model: Model[S],
    *,
    max_states: int = 10_000_000,
    describe: Callable[[S], str] | None = None,
    after: Mapping[S, tuple[S, str] | None] | None = None,
    changed: Iterable[S] = (),
) -> Exploration[S]:
    """Visit every reachable state, or stop at the first violation. ``describe`` adds the state to each step.

    ``after``: continue an exploration of another model that has the same steps, except in the states ``changed``.
    """
    start = model.initial()
    reached: dict[S, tuple[S, str] | None] = {start: None} if after is None else dict(after)
    level = [start] if after is None else list(changed)
    while level:
        following: list[S] = []
        for state in level:
            rule = model.violation(state)
            if rule is None and (rule := model.violation_at_rest(model.at_rest(state))) is not None:
                rule = f"at rest: {rule}"
            if rule is not None:
                return Exploration(reached, Violation(rule, _trace(reached, state, describe)))
            for label, successor in model.actions(state):
                if successor not in reached:
                    reached[successor] = (state, label)
                    following.append(successor)
        if len(reached) > max_states:
            raise TooLarge(f"more than {max_states} states")
        level = following
    return Exploration(reached, None)


def _trace(reached: dict[S, tuple[S, str] | None], state: S, describe: Callable[[S], str] | None) -> tuple[str, ...]:
    steps: list[str] = []
    step = reached[state]
    while step is not None:
        steps.append(step[1] if describe is None else f"{step[1]:70} {describe(state)}")
        state = step[0]
        step = reached[state]
    return tuple(reversed(steps))
