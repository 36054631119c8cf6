"""Results: inline in the execution's item if small and not nested too deeply to display, else in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Fatal
from punctual.domain.executions.execution import Result
from punctual.domain.limits import MAX_INLINE_RESULT_BYTES, is_too_deep

LINK_SECONDS = 300


@dataclass(frozen=True)
class S3Results:
    bucket: str
    s3: Callable[[], Any]
    """Called only when needed: most results are inline, and creating the client is slow."""

    def store(self, name: str, value: Any, *, always: bool = False) -> Result:
        text = _json(value)
        small = len(text) <= MAX_INLINE_RESULT_BYTES and not is_too_deep(value)
        if small and not always:
            return Result(value=value)
        key = f"results/{name}.json"
        self.s3().put_object(Bucket=self.bucket, Key=key, Body=text, ContentType="application/json")
        return Result(value=value if small else None, location=f"s3://{self.bucket}/{key}")

    def link(self, result: Result) -> str | None:
        """A presigned URL for a stored result, valid for ``LINK_SECONDS``; ``None`` for an inline result."""
        if result.location is None or result.value is not None:
            return None
        bucket, _, key = result.location.removeprefix("s3://").partition("/")
        link: str = self.s3().generate_presigned_url(
            "get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=LINK_SECONDS
        )
        return link


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Fatal(f"the task's result cannot be written as JSON: {error}") from error


if TYPE_CHECKING:
    from punctual.ports.running import Results

    _results: type[Results] = S3Results
