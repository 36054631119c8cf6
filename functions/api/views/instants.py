"""Convert instants."""

from __future__ import annotations

from datetime import datetime

from punctual.domain.instant import to_text


def text_of(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)
