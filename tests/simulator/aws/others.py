"""S3, Cognito, SNS, CloudWatch, CloudWatch Logs and Lambda, as far as Punctual uses them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError


class S3:
    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], bytes] = {}
        """By bucket and key."""

    @operation
    def put_object(self, *, Bucket: str, Key: str, Body: bytes, ContentType: str = "") -> Response:  # noqa: ARG002
        self.objects[Bucket, Key] = bytes(Body)
        return {}

    @operation
    def get_object(self, *, Bucket: str, Key: str) -> Response:
        if (Bucket, Key) not in self.objects:
            raise ServiceError("NoSuchKey", "The specified key does not exist.")
        return {"Body": io.BytesIO(self.objects[Bucket, Key])}


class Sts:
    """Answers at once: a request that fails leaves what a worker leaves that dies before its claim."""

    def assume_role(self, **_: Any) -> Response:
        names = ("AccessKeyId", "SecretAccessKey", "SessionToken")
        return {"Credentials": {**dict.fromkeys(names, "task"), "Expiration": datetime.max.replace(tzinfo=UTC)}}


class Cognito:
    """A pool whose users are named after their role, such as ``operator@team``, and are enabled."""

    @operation
    def admin_get_user(self, *, UserPoolId: str, Username: str) -> Response:  # noqa: ARG002
        return {"Username": Username, "Enabled": True}

    @operation
    def admin_list_groups_for_user(self, *, UserPoolId: str, Username: str) -> Response:  # noqa: ARG002
        return {"Groups": [{"GroupName": Username.partition("@")[0]}, {"GroupName": "team:team"}]}


class Sns:
    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []
        """The parameters of every publication."""

    @operation
    def publish(self, *, TopicArn: str, **message: Any) -> Response:
        self.published.append({"TopicArn": TopicArn, **message})
        return {"MessageId": f"notification-{len(self.published)}"}


class CloudWatch:
    def __init__(self) -> None:
        self.data: list[tuple[str, dict[str, Any]]] = []
        """Namespace and data point of every metric value."""

    @operation
    def put_metric_data(self, *, Namespace: str, MetricData: list[dict[str, Any]]) -> Response:
        self.data += [(Namespace, one) for one in MetricData]
        return {}

    @operation
    def describe_alarms(self, **_: Any) -> Response:
        return {"MetricAlarms": []}


class Logs:
    """Keeps no log lines."""

    @operation
    def filter_log_events(self, *, logGroupName: str, **_: Any) -> Response:  # noqa: ARG002
        return {"events": []}


class Lambda:
    """Synchronous invocations, which the simulator carries out."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[[Any], Any]] = {}
        """By name. A function receives the event; an exception becomes a function error."""

    @operation
    def invoke(self, *, FunctionName: str, Payload: bytes) -> Response:
        if FunctionName not in self.functions:
            raise ServiceError("ResourceNotFoundException", f"Function not found: {FunctionName}")
        try:
            answer = self.functions[FunctionName](json.loads(Payload))
        except Exception as error:
            fault = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return {"Payload": io.BytesIO(json.dumps(fault).encode()), "FunctionError": "Unhandled"}
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}
