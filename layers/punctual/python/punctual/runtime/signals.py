"""The adapters around the signals table, made from a function's settings."""

from __future__ import annotations

from typing import Protocol

from punctual.aws.clients import dynamodb
from punctual.aws.lane_outlooks import DynamoLaneOutlooks
from punctual.aws.samples import DynamoSamples
from punctual.aws.table import Table


class _WithSignals(Protocol):
    signals_table: str


def samples(settings: _WithSignals) -> DynamoSamples:
    return DynamoSamples(Table(settings.signals_table, dynamodb()))


def lane_outlooks(settings: _WithSignals) -> DynamoLaneOutlooks:
    return DynamoLaneOutlooks(Table(settings.signals_table, dynamodb()))
