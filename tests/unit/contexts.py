"""A task context with default values for tests."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from punctual import Context


def context(**changes: Any) -> Context:
    defaults: dict[str, Any] = {
        "job_id": "j",
        "execution_id": "e",
        "owner": "o",
        "attempt": 1,
        "due": datetime(2026, 11, 16, tzinfo=UTC),
        "window": None,
        "deadline": None,
        "logger": logging.getLogger(),
        "seconds_left": lambda: 60.0,
        "_report": lambda _progress: None,
        "_cancelled": lambda: False,
    }
    return Context(**{**defaults, **changes})
