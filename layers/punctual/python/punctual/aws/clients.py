"""AWS clients: one per service and process, created on first use, with the credentials of the function."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from punctual.aws import call_meter, throttling

_CONFIG = Config(
    # all attempts together take less time than a lease lasts, so a renewal succeeds or fails before the lease expires
    retries={"mode": "standard", "max_attempts": 3},
    connect_timeout=2,
    read_timeout=5,
    tcp_keepalive=True,
    max_pool_connections=32,
)


@cache
def _session() -> boto3.Session:
    """A session that keeps the function's credentials when those of a task replace them in the environment.

    It is not boto3's default session, which the clients of tasks use.
    """
    session = boto3.Session()
    session.get_credentials()  # reads them now
    return session


@cache
def dynamodb() -> Any:
    return _create_client("dynamodb")


@cache
def sqs() -> Any:
    return _create_client("sqs")


@cache
def s3() -> Any:
    # With the Region in its host name, a presigned link also works in Regions that the global endpoint does not know.
    return _create_client("s3", Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))


@cache
def states() -> Any:
    return _create_client("stepfunctions")


@cache
def scheduler() -> Any:
    return _create_client("scheduler")


@cache
def ecs() -> Any:
    return _create_client("ecs")


@cache
def sns() -> Any:
    return _create_client("sns")


@cache
def sns_in(region: str) -> Any:
    return _create_client("sns", region=region)


@cache
def ses() -> Any:
    return _create_client("sesv2")


@cache
def sts() -> Any:
    return _create_client("sts")


@cache
def cloudwatch() -> Any:
    return _create_client("cloudwatch")


@cache
def cognito() -> Any:
    return _create_client("cognito-idp")


@cache
def best_effort_cloudwatch() -> Any:
    """CloudWatch with one attempt and short timeouts, for metrics sent while a caller waits for something else."""
    return _create_client(
        "cloudwatch", Config(retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=1, read_timeout=2)
    )


def _create_client(service: str, config: Config | None = None, region: str | None = None) -> Any:
    client = _session().client(service, region_name=region, config=_CONFIG.merge(config) if config else _CONFIG)
    call_meter.instrument(client)
    throttling.instrument(client)
    return client
