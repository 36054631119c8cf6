"""Checkpoints of long executions, in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from punctual.aws.s3.results import MISSING_OBJECT_CODES
from punctual.domain.long_lane.assignment import Assignment


@dataclass(frozen=True)
class S3Checkpoints:
    bucket: str
    s3: Callable[[], Any]

    def store(self, assignment: Assignment, state: Any) -> str:
        """Store ``state`` and return its key. Each attempt has its own key, so a superseded attempt cannot overwrite
        the checkpoint of its successor."""
        part = f"{assignment.job_id}/{assignment.execution_id}/{assignment.part}"
        key = f"checkpoints/{part}/{assignment.attempt}.json"
        body = json.dumps(state, ensure_ascii=False, allow_nan=False).encode()
        self.s3().put_object(Bucket=self.bucket, Key=key, Body=body, ContentType="application/json")
        return key

    def load(self, location: str) -> Any:
        """Return the state, or ``None`` if it has expired."""
        try:
            return json.loads(self.s3().get_object(Bucket=self.bucket, Key=location)["Body"].read())
        except ClientError as error:
            if error.response["Error"]["Code"] not in MISSING_OBJECT_CODES:
                raise
            return None


if TYPE_CHECKING:
    from punctual.ports.long_lane import Checkpoints

    _checkpoints: type[Checkpoints] = S3Checkpoints
