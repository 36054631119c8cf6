"""Limits on values that enter the system."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from punctual.domain.errors import Invalid, TooLarge

MAX_PARAMETERS_BYTES = 64 * 1024
MAX_INLINE_RESULT_BYTES = 32 * 1024
MAX_NESTING_DEPTH = 100
"""Levels of nested lists and objects. JSON viewers and encoders have recursion limits of their own."""
MAX_BATCH_JOBS = 1000
DEFAULT_SHORT_TIMEOUT_SECONDS = 600
MAX_SHORT_TIMEOUT_SECONDS = 840
"""Lambda ends a function after 900 seconds. The remaining minute is for the claim, a graceful stop and the result."""

DEFAULT_LONG_TIMEOUT_SECONDS = 12 * 60 * 60
MAX_LONG_TIMEOUT_SECONDS = 7 * 24 * 60 * 60


_TOO_DEEP = f"is nested too deeply: the limit is {MAX_NESTING_DEPTH} levels of lists and objects"


def is_too_deep(value: Any) -> bool:
    """Whether ``value`` has more than ``MAX_NESTING_DEPTH`` levels of lists and objects."""
    level = [value]
    for _ in range(MAX_NESTING_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return any(isinstance(item, Mapping | list | tuple) for item in level)


def _children(item: Any) -> Iterable[Any]:
    if isinstance(item, Mapping):
        return item.values()
    return item if isinstance(item, list | tuple) else ()


def check_parameters(field: str, parameters: Mapping[str, Any]) -> None:
    """Raise ``TooLarge`` if the JSON text is over the limit.

    Raises ``Invalid`` if the value has no JSON text or is nested too deeply.
    """
    try:
        size = len(json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise Invalid(field, "has an unpaired surrogate, which is not a character: send valid Unicode text") from None
    except ValueError:
        raise Invalid(field, "has NaN or Infinity, which are not JSON: send null or text instead") from None
    except RecursionError:
        raise Invalid(field, _TOO_DEEP) from None
    if size > MAX_PARAMETERS_BYTES:
        raise TooLarge(field, size, MAX_PARAMETERS_BYTES)
    if is_too_deep(parameters):
        raise Invalid(field, _TOO_DEEP)
