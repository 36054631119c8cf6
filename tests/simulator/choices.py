"""The random decisions of a run: derived from a seed, recorded, and replaceable by their defaults.

Each decision has a stream and a number within it. Streams are independent: how many decisions one stream takes does not
change another one. The first option of a decision is the default, the one without a fault. A run with only some of the
decisions of another run (``only``) takes the default for all others: that is how a failing run is shortened.

A profile narrows the options of decisions. It names a decision by its stream without numbers and ids: of the stream
``operator/4/schedule`` that is ``operator/schedule``, and of ``kill/after/worker-3`` it is ``kill/after/worker``.
``kill/*`` stands for all decisions whose name begins with ``kill/``, and that the profile does not name.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Profile = Mapping[str, Sequence[Any]]
"""The options of decisions, by name. The first one is the default."""


class Decision(NamedTuple):
    stream: str
    number: int


class Choices:
    def __init__(self, seed: int, only: Iterable[Decision] | None = None, profile: Profile | None = None) -> None:
        self.seed, self.profile = seed, profile or {}
        self.taken: dict[Decision, str] = {}
        """The decisions that were not the default, with the option in words."""
        self._only = None if only is None else frozenset(only)
        self._streams: dict[str, tuple[random.Random, list[int]]] = {}

    def pick(self, stream: str, options: Sequence[T], probability: float) -> T:
        """The first option, or with ``probability`` one of the others."""
        options = self._narrowed(stream, options)
        if len(options) < 2 or not probability:
            return options[0]
        generator, counter = self._stream(stream)
        decision, drawn = Decision(stream, counter[0]), generator.random()
        counter[0] += 1
        if drawn >= probability or (self._only is not None and decision not in self._only):
            return options[0]
        option = options[1 + int(drawn / probability * (len(options) - 1))]
        self.taken[decision] = str(option)
        return option

    def happens(self, stream: str, probability: float) -> bool:
        return self.pick(stream, (False, True), probability)

    def any(self, stream: str, options: Sequence[T]) -> T:
        """One of the options, each with the same probability."""
        options = self._narrowed(stream, options)
        return self.pick(stream, options, (len(options) - 1) / len(options))

    def some(self, stream: str, options: Sequence[T]) -> tuple[T, ...]:
        """All options or, as likely as not, a few of them: runs with few features interleave them more."""
        size = self.any(f"{stream}/size", (len(options), 1, 2, len(options)))
        if size >= len(options):
            return tuple(options)
        return tuple(self.any(f"{stream}/{number}", options) for number in range(size))

    def number(self, stream: str) -> float:
        """A number from 0 to 1 that is not a decision: a shortened run keeps it."""
        return self._stream(stream)[0].random()

    def _narrowed(self, stream: str, options: Sequence[T]) -> Sequence[T]:
        for name in names_of(stream) if self.profile else ():
            if name in self.profile:
                return self.profile[name]
        return options

    def _stream(self, name: str) -> tuple[random.Random, list[int]]:
        if name not in self._streams:
            self._streams[name] = random.Random(f"{self.seed}/{name}"), [0]
        return self._streams[name]


@cache
def names_of(stream: str) -> tuple[str, str]:
    """The names by which a profile finds a decision: without the parts of its stream that begin with a digit, and
    without numbers at the end of a part."""
    parts = [re.sub(r"-\d+$", "", part) for part in stream.split("/") if not part[:1].isdigit()]
    return "/".join(parts), f"{parts[0]}/*"
