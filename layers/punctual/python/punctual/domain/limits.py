"""Limits that hold wherever a value enters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from punctual.domain.errors import TooLarge

PARAMETERS_BYTES = 64 * 1024
INLINE_RESULT_BYTES = 32 * 1024
BATCH_JOBS = 1000
LONGEST_SHORT_RUN = 840
"""Seconds. A Lambda ends at 900: a minute is left to claim, to settle, and to stop a task in an orderly way."""


def check_parameters_size(field: str, parameters: Mapping[str, Any]) -> None:
    """Raises ``TooLarge`` when the parameters' JSON text is over the limit."""
    size = len(json.dumps(parameters, ensure_ascii=False).encode())
    if size > PARAMETERS_BYTES:
        raise TooLarge(field, size, PARAMETERS_BYTES)
