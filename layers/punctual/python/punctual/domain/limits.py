"""LaneLimits that hold wherever a value enters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from punctual.domain.errors import Invalid, TooLarge

PARAMETERS_BYTES = 64 * 1024
INLINE_RESULT_BYTES = 32 * 1024
MOST_LEVELS = 100
"""Of lists and objects within each other. What shows them has its limits, too."""
BATCH_JOBS = 1000
USUAL_SHORT_RUN = 600
LONGEST_SHORT_RUN = 840
"""Seconds. A Lambda ends at 900: a minute is left to claim, to settle, and to stop a task in an orderly way."""

USUAL_LONG_RUN = 12 * 60 * 60
LONGEST_LONG_RUN = 7 * 24 * 60 * 60


_TOO_DEEP = f"is nested too deeply: it may have {MOST_LEVELS} levels of lists and objects"


def is_deep(value: Any) -> bool:
    """Whether it has more levels than can be shown."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [one for item in level for one in _within(item)]
        if not level:
            return False
    return any(isinstance(one, Mapping | list | tuple) for one in level)


def _within(item: Any) -> Iterable[Any]:
    if isinstance(item, Mapping):
        return item.values()
    return item if isinstance(item, list | tuple) else ()


def check_parameters(field: str, parameters: Mapping[str, Any]) -> None:
    """Raises ``TooLarge`` when the JSON text is over the limit, and ``Invalid`` for what has no JSON text."""
    try:
        size = len(json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise Invalid(field, "has half of a surrogate pair, which is no character: send whole ones") from None
    except ValueError:
        raise Invalid(field, "has NaN or Infinity, which are not JSON: send null or a text instead") from None
    except RecursionError:
        raise Invalid(field, _TOO_DEEP) from None
    if size > PARAMETERS_BYTES:
        raise TooLarge(field, size, PARAMETERS_BYTES)
    if is_deep(parameters):
        raise Invalid(field, _TOO_DEEP)
