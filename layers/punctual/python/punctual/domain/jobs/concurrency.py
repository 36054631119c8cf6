"""Concurrency and rate limits per key, shared by all jobs of an owner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.jobs.gate import OF_KEY, Gate, Rate

MAX_CONCURRENCY_KEY_LENGTH = 200
MAX_CONCURRENCY = 100
MAX_STARTS_PER_SECOND = 100
"""Per key. Each start writes the same DynamoDB item, which limits the throughput."""
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    """A limit on concurrent executions (``limit``), on starts per time (``rate``), or both, for one key."""

    key: str
    """A template: ``{name}`` is replaced with the parameter of that name."""
    limit: int | None = None
    rate: Rate | None = None

    def gate(self, owner: str, parameters: Mapping[str, Any]) -> Gate:
        """Return the gate of the key for these parameters.

        Raises ``Invalid`` if the key names a parameter that is missing, or that is neither text nor a whole number.
        """
        return Gate(f"{OF_KEY}{owner}#{self._resolved_key(parameters)}", self.limit, rate=self.rate)

    def to_spec(self) -> dict[str, Any]:
        rate = {"starts": self.rate.starts, "per_seconds": self.rate.per_seconds} if self.rate else None
        spec = {"key": self.key, "limit": self.limit, "rate": rate}
        return {name: value for name, value in spec.items() if value is not None}

    def _resolved_key(self, parameters: Mapping[str, Any]) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = parameters.get(match[1])
            if isinstance(value, bool) or not isinstance(value, str | int):
                problem = "is not text or a whole number" if match[1] in parameters else "is missing"
                raise Invalid("concurrency.key", f"names the parameter {match[1]!r}, which {problem}")
            return str(value)

        key = _NAME.sub(value_of, self.key)
        if len(key) > MAX_CONCURRENCY_KEY_LENGTH:
            raise Invalid(
                "concurrency.key",
                f"is longer than {MAX_CONCURRENCY_KEY_LENGTH} characters once its parameters are filled in",
            )
        return key


def parse_concurrency(spec: Mapping[str, Any] | None) -> Concurrency | None:
    """Parse the API's representation. Raises ``Invalid``, naming the field."""
    if spec is None:
        return None
    if "{" in _NAME.sub("", spec["key"]) or "}" in _NAME.sub("", spec["key"]):
        raise Invalid("concurrency.key", "has a brace without a parameter name: write {name}")
    limit, rate = spec.get("limit"), spec.get("rate")
    if limit is None and rate is None:
        raise Invalid("concurrency", "needs a limit, a rate, or both")
    return Concurrency(key=spec["key"], limit=limit, rate=_parse_rate(rate) if rate else None)


def _parse_rate(spec: Mapping[str, Any]) -> Rate:
    rate = Rate(**spec)
    if rate.starts > MAX_STARTS_PER_SECOND * rate.per_seconds:
        limit = f"the limit of a key is {MAX_STARTS_PER_SECOND} starts per second"
        remedy = f"give at most {MAX_STARTS_PER_SECOND * rate.per_seconds:,} with per_seconds {rate.per_seconds}"
        raise Invalid("concurrency.rate.starts", f"{rate.starts:,} is too many: {limit}; {remedy}")
    return rate
