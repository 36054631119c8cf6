"""An AWS account in memory: all modelled services, their clients, and the hooks around every request.

Deterministic: time comes from the injected clock, and choices that AWS leaves open from the injected generator.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.simulator.aws.client import DEFAULT_ATTEMPTS, Client, Hooks
from tests.simulator.aws.dynamodb import DynamoDb
from tests.simulator.aws.ecs import Ecs
from tests.simulator.aws.others import S3, CloudWatch, Cognito, Lambda, Logs, Sns
from tests.simulator.aws.scheduler import Scheduler
from tests.simulator.aws.sqs import Sqs
from tests.simulator.aws.states import StepFunctions


class Account:
    """``clock`` is the time of the services: the functions may have clocks of their own.

    Without ``rng``, messages are received in order, and batches are read in the order of their keys.
    """

    def __init__(self, clock: Callable[[], datetime], rng: random.Random | None = None) -> None:
        self.hooks = Hooks()
        self.dynamodb = DynamoDb(clock, rng)
        self.sqs = Sqs(clock, rng)
        self.states = StepFunctions(clock)
        self.scheduler = Scheduler()
        self.ecs = Ecs()
        self.s3 = S3()
        self.sns = Sns()
        self.cloudwatch = CloudWatch()
        self.logs = Logs()
        self.functions = Lambda()
        self._services: dict[str, object] = {
            "dynamodb": self.dynamodb,
            "sqs": self.sqs,
            "stepfunctions": self.states,
            "scheduler": self.scheduler,
            "ecs": self.ecs,
            "s3": self.s3,
            "sns": self.sns,
            "cloudwatch": self.cloudwatch,
            "logs": self.logs,
            "cognito-idp": Cognito(),
            "lambda": self.functions,
        }

    def client(self, service: str, config: Any = None) -> Client:
        """A new client: the replacement of ``boto3.client``. Of ``config``, it uses the number of tries."""
        return Client(service, self._services[service], self.hooks, _attempts(config))


def _attempts(config: Any) -> int:
    retries = getattr(config, "retries", None) or {}
    if "total_max_attempts" in retries:
        return int(retries["total_max_attempts"])
    return int(retries["max_attempts"]) + 1 if "max_attempts" in retries else DEFAULT_ATTEMPTS
