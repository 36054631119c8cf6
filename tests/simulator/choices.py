"""The random decisions of a run: derived from a seed, recorded, and replaceable by their defaults.

Each decision has a stream and a number within it. Streams are independent: how many decisions one stream takes does not
change another one. The first option of a decision is the default, the one without a fault. A run with only some of the
decisions of another run (``only``) takes the default for all others: that is how a failing run is shortened.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Decision(NamedTuple):
    stream: str
    number: int


class Choices:
    def __init__(self, seed: int, only: Iterable[Decision] | None = None) -> None:
        self.seed = seed
        self.taken: dict[Decision, str] = {}
        """The decisions that were not the default, with the option in words."""
        self._only = None if only is None else frozenset(only)
        self._streams: dict[str, tuple[random.Random, list[int]]] = {}

    def pick(self, stream: str, options: Sequence[T], probability: float) -> T:
        """The first option, or with ``probability`` one of the others."""
        generator, counter = self._stream(stream)
        decision, drawn = Decision(stream, counter[0]), generator.random()
        counter[0] += 1
        if drawn >= probability or len(options) < 2 or (self._only is not None and decision not in self._only):
            return options[0]
        option = options[1 + int(drawn / probability * (len(options) - 1))]
        self.taken[decision] = str(option)
        return option

    def happens(self, stream: str, probability: float) -> bool:
        return self.pick(stream, (False, True), probability)

    def any(self, stream: str, options: Sequence[T]) -> T:
        """One of the options, each with the same probability."""
        return self.pick(stream, options, (len(options) - 1) / len(options)) if len(options) > 1 else options[0]

    def some(self, stream: str, options: Sequence[T]) -> tuple[T, ...]:
        """All options or, as likely as not, a few of them: runs with few features interleave them more."""
        size = self.any(f"{stream}/size", (len(options), 1, 2, len(options)))
        if size >= len(options):
            return tuple(options)
        return tuple(self.any(f"{stream}/{number}", options) for number in range(size))

    def _stream(self, name: str) -> tuple[random.Random, list[int]]:
        if name not in self._streams:
            self._streams[name] = random.Random(f"{self.seed}/{name}"), [0]
        return self._streams[name]
