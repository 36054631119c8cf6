"""Results: inline in the execution's item if small and not nested too deeply to display, else in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from punctual.domain.errors import Fatal
from punctual.domain.executions.execution import Result
from punctual.domain.limits import MAX_INLINE_RESULT_BYTES, is_too_deep

LINK_SECONDS = 300
MISSING_OBJECT_CODES = ("NoSuchKey", "AccessDenied")
"""S3 answers ``AccessDenied`` to a role that may not list the bucket."""


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

    def load(self, result: Result) -> Any:
        """Return the value. Raises ``Fatal`` if it has expired."""
        if not _is_only_stored(result):
            return result.value
        try:
            return json.loads(self.s3().get_object(**_place(result))["Body"].read())
        except ClientError as error:
            if error.response["Error"]["Code"] not in MISSING_OBJECT_CODES:
                raise
            raise Fatal("its result has expired") from error

    def link(self, result: Result) -> str | None:
        """A presigned URL for a stored result, valid for ``LINK_SECONDS``; ``None`` for an inline result."""
        if not _is_only_stored(result):
            return None
        link: str = self.s3().generate_presigned_url("get_object", Params=_place(result), ExpiresIn=LINK_SECONDS)
        return link


def _is_only_stored(result: Result) -> bool:
    return result.location is not None and result.value is None


def _place(result: Result) -> dict[str, str]:
    bucket, _, key = (result.location or "").removeprefix("s3://").partition("/")
    return {"Bucket": bucket, "Key": key}


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Fatal(f"the task's result cannot be written as JSON: {error}") from error


if TYPE_CHECKING:
    from punctual.ports.running import Results

    _results: type[Results] = S3Results
