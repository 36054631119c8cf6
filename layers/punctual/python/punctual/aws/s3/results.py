"""Results: inline in the execution's record when small and not too deep to be shown, else in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from punctual.domain.errors import Fatal
from punctual.domain.executions.execution import Result
from punctual.domain.limits import INLINE_RESULT_BYTES, is_deep

LINK_SECONDS = 300


@dataclass(frozen=True)
class S3Results:
    bucket: str
    s3: Callable[[], Any]
    """Made only when it is needed: most results are small, and the client is slow to make."""

    def keep(self, name: str, value: Any, *, always: bool = False) -> Result:
        text = _json(value)
        small = len(text) <= INLINE_RESULT_BYTES and not is_deep(value)
        if small and not always:
            return Result(value=value)
        key = f"results/{name}.json"
        self.s3().put_object(Bucket=self.bucket, Key=key, Body=text, ContentType="application/json")
        return Result(value=value if small else None, location=f"s3://{self.bucket}/{key}")

    def link(self, result: Result) -> str | None:
        """An address from which a stored result can be fetched for a while; ``None`` for one that is inline."""
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
