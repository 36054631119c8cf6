from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from punctual.aws.cloudwatch.metrics import MOST_AT_ONCE, CloudWatchMetrics, emf
from punctual.domain.metrics import Detail, Metric

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class CloudWatch:
    """Remembers what it was sent."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def put_metric_data(self, **request: Any) -> None:
        self.requests.append(request)


def published(values: dict[str, float]) -> list[dict[str, Any]]:
    cloudwatch = CloudWatch()
    CloudWatchMetrics(lambda: cloudwatch).publish(values, NOW)
    return cloudwatch.requests


def test_figures_are_sent_without_dimensions_and_zeros_too() -> None:
    [request] = published({Metric.DEAD_LETTERS: 0, Metric.BACKLOG_DRAIN_MINUTES: 2.5})
    assert request == {
        "Namespace": "Punctual",
        "MetricData": [
            {"MetricName": "DeadLetters", "Timestamp": NOW, "Value": 0.0},
            {"MetricName": "BacklogDrainMinutes", "Timestamp": NOW, "Value": 2.5},
        ],
    }
    assert {type(one["MetricName"]) for one in request["MetricData"]} == {str}


def test_what_is_not_a_number_is_left_out_and_nothing_is_no_request() -> None:
    odd = {"a": math.inf, "b": -math.inf, "c": math.nan}
    assert published(odd) == []
    [request] = published({**odd, "d": 1})
    assert [one["MetricName"] for one in request["MetricData"]] == ["d"]
    assert json.loads(emf(odd, NOW))["_aws"]["CloudWatchMetrics"][0]["Metrics"] == []


def test_no_request_is_larger_than_cloudwatch_takes() -> None:
    requests = published({f"m{n}": n for n in range(2 * MOST_AT_ONCE + 1)})
    assert [len(request["MetricData"]) for request in requests] == [MOST_AT_ONCE, MOST_AT_ONCE, 1]


def test_a_line_in_the_embedded_metric_format_names_its_metrics_and_dimensions() -> None:
    line = emf({Detail.QUEUE_DEPTH: 3, Detail.QUEUE_DRAIN_MINUTES: 0.5}, NOW, {"queue": "high"})
    assert "\n" not in line
    assert json.loads(line) == {
        "_aws": {
            "Timestamp": 1_794_830_400_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Punctual",
                    "Dimensions": [["queue"]],
                    "Metrics": [{"Name": "QueueDepth"}, {"Name": "QueueDrainMinutes"}],
                }
            ],
        },
        "queue": "high",
        "QueueDepth": 3,
        "QueueDrainMinutes": 0.5,
    }


def test_a_line_without_dimensions_has_one_empty_set_of_them() -> None:
    line = json.loads(emf({Detail.SLOTS_TAKEN: 4}, NOW))
    assert line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [[]]
    assert line["SlotsTaken"] == 4
