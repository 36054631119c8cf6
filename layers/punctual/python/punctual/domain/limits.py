"""Limits that hold wherever a value enters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from punctual.domain.errors import Invalid, TooLarge

PARAMETERS_BYTES = 64 * 1024
INLINE_RESULT_BYTES = 32 * 1024
BATCH_JOBS = 1000
USUAL_SHORT_RUN = 600
LONGEST_SHORT_RUN = 840
"""Seconds. A Lambda ends at 900: a minute is left to claim, to settle, and to stop a task in an orderly way."""

USUAL_LONG_RUN = 12 * 60 * 60
LONGEST_LONG_RUN = 7 * 24 * 60 * 60


def check_parameters(field: str, parameters: Mapping[str, Any]) -> None:
    """Raises ``TooLarge`` when the JSON text is over the limit, and ``Invalid`` for what has no JSON text."""
    try:
        size = len(json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise Invalid(field, "has half of a surrogate pair, which is no character: send whole ones") from None
    except ValueError:
        raise Invalid(field, "has NaN or Infinity, which are not JSON: send null or a text instead") from None
    except RecursionError:
        raise Invalid(field, "is nested too deeply") from None
    if size > PARAMETERS_BYTES:
        raise TooLarge(field, size, PARAMETERS_BYTES)
