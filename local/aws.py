"""Clients of the emulator, with dummy credentials: it listens on loopback and verifies none."""

from typing import Any

import boto3
from botocore.config import Config

from local.places import REGION

DUMMY_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def client(service: str, endpoint: str, config: Config | None = None) -> Any:
    """A boto3 client that sends requests only to `endpoint`."""
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=DUMMY_CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=DUMMY_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=config,
    )
