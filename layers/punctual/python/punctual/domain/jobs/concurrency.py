"""How many executions of a key run at once, or start in a span of time, across all jobs of an owner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.jobs.gate import OF_KEY, Gate, Rate

LONGEST_KEY = 200
MOST_AT_ONCE = 100
MOST_A_SECOND = 100
"""Starts of one key: each is a write of one item that all of them share."""
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    key: str
    """Text in which ``{name}`` stands for the parameter of that name."""
    limit: int | None = None
    rate: Rate | None = None

    def gate(self, owner: str, parameters: Mapping[str, Any]) -> Gate:
        """Raises ``Invalid`` when the key names a parameter that is not there, or is no plain value."""
        return Gate(f"{OF_KEY}{owner}#{self._filled(parameters)}", self.limit, rate=self.rate)

    def to_spec(self) -> dict[str, Any]:
        rate = {"starts": self.rate.starts, "per_seconds": self.rate.per_seconds} if self.rate else None
        said = {"key": self.key, "limit": self.limit, "rate": rate}
        return {name: value for name, value in said.items() if value is not None}

    def _filled(self, parameters: Mapping[str, Any]) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = parameters.get(match[1])
            if isinstance(value, bool) or not isinstance(value, str | int):
                what = "is not text or a whole number" if match[1] in parameters else "is not there"
                raise Invalid("concurrency.key", f"names the parameter {match[1]!r}, which {what}")
            return str(value)

        key = _NAME.sub(value_of, self.key)
        if len(key) > LONGEST_KEY:
            raise Invalid("concurrency.key", f"is longer than {LONGEST_KEY} characters with its parameters filled in")
        return key


def parse_concurrency(spec: Mapping[str, Any] | None) -> Concurrency | None:
    """From the API's form. Raises ``Invalid``."""
    if spec is None:
        return None
    if "{" in _NAME.sub("", spec["key"]) or "}" in _NAME.sub("", spec["key"]):
        raise Invalid("concurrency.key", "has a brace that belongs to no parameter: write {name}")
    limit, rate = spec.get("limit"), spec.get("rate")
    if limit is None and rate is None:
        raise Invalid("concurrency", "needs a limit, a rate, or both")
    return Concurrency(key=spec["key"], limit=limit, rate=_parse_rate(rate) if rate else None)


def _parse_rate(spec: Mapping[str, Any]) -> Rate:
    rate = Rate(**spec)
    if rate.starts > MOST_A_SECOND * rate.per_seconds:
        most = f"one key starts at most {MOST_A_SECOND} a second"
        remedy = f"give up to {MOST_A_SECOND * rate.per_seconds:,} with per_seconds {rate.per_seconds}"
        raise Invalid("concurrency.rate.starts", f"{rate.starts:,} are too many: {most}; {remedy}")
    return rate
