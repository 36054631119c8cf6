"""Suggestions for misspelt names in errors."""

from __future__ import annotations

from collections.abc import Iterable

MAX_SHOWN = 64
"""Of a name in an error."""
CUTOFF = 0.6


def closest(name: str, known: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The known name that is most similar to ``name``; ``None`` if none is similar."""
    from difflib import get_close_matches  # only needed for error messages

    close = get_close_matches(name[:MAX_SHOWN], list(map(str, known)), n=1, cutoff=cutoff)
    return close[0] if close else None


def hint_at(given: object, known: Iterable[str]) -> str:
    """The end of an error: a question with the known name that is closest to ``given``; empty if none is close."""
    close = closest(str(given), known)
    return f": did you mean {close!r}?" if close else ""


def one_of(known: Iterable[str], given: object) -> str:
    """The end of an error: the known names, and the name that is closest to ``given``."""
    names = list(map(str, known))
    return ", ".join(names) + hint_at(given, names)
