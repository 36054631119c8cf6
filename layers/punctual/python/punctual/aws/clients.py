"""One client per service and process, made when first used."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from punctual.aws import call_meter, throttling

_CONFIG = Config(
    # all attempts together stay below a lease: whoever cannot renew in that time has lost it
    retries={"mode": "standard", "max_attempts": 3},
    connect_timeout=2,
    read_timeout=5,
    tcp_keepalive=True,
    max_pool_connections=32,
)


@cache
def dynamodb() -> Any:
    return _made("dynamodb")


@cache
def sqs() -> Any:
    return _made("sqs")


@cache
def s3() -> Any:
    return _made("s3", Config(signature_version="s3v4"))


@cache
def cloudwatch_logs() -> Any:
    return _made("logs")


@cache
def states() -> Any:
    return _made("stepfunctions")


@cache
def scheduler() -> Any:
    return _made("scheduler")


@cache
def ecs() -> Any:
    return _made("ecs")


@cache
def sns() -> Any:
    return _made("sns")


@cache
def cloudwatch() -> Any:
    return _made("cloudwatch")


@cache
def hasty_cloudwatch() -> Any:
    """For what is told in passing, while somebody waits for something else: tried once, and not for long."""
    return _made(
        "cloudwatch", Config(retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=1, read_timeout=2)
    )


def _made(service: str, config: Config | None = None) -> Any:
    client = boto3.client(service, config=_CONFIG.merge(config) if config else _CONFIG)
    call_meter.watch(client)
    throttling.watch(client)
    return client
