"""One client per service and process, made when first used."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from punctual.aws import meter

_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 4},
    connect_timeout=2,
    read_timeout=10,
    tcp_keepalive=True,
    max_pool_connections=32,
)


@cache
def client(service: str) -> Any:
    made = boto3.client(service, config=_CONFIG)
    meter.watch(made)
    return made
