from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from punctual.aws.cloudwatch.metrics import MAX_METRICS_PER_REQUEST, CloudWatchMetrics, emf
from punctual.domain.metrics import DashboardMetric, Metric

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class FakeCloudWatch:
    """Records its requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def put_metric_data(self, **request: Any) -> None:
        self.requests.append(request)


def published(values: dict[str, float]) -> list[dict[str, Any]]:
    cloudwatch = FakeCloudWatch()
    CloudWatchMetrics(lambda: cloudwatch, "prod").publish(values, NOW)
    return cloudwatch.requests


def test_values_are_sent_without_dimensions_including_zeros() -> None:
    [request] = published({Metric.DEAD_LETTERS: 0, Metric.BACKLOG_DRAIN_MINUTES: 2.5})
    assert request == {
        "Namespace": "Punctual/prod",
        "MetricData": [
            {"MetricName": "DeadLetters", "Timestamp": NOW, "Value": 0.0},
            {"MetricName": "BacklogDrainMinutes", "Timestamp": NOW, "Value": 2.5},
        ],
    }
    assert {type(datum["MetricName"]) for datum in request["MetricData"]} == {str}


def test_metrics_from_the_log_need_no_request_and_leave_out_zeros() -> None:
    cloudwatch, written = FakeCloudWatch(), list[str]()
    metrics = CloudWatchMetrics(lambda: cloudwatch, "prod", from_logs=True, write=written.append)
    metrics.publish({Metric.DEAD_LETTERS: 0, Metric.TICK_GAP_SECONDS: 60}, NOW)
    metrics.publish({Metric.DEAD_LETTERS: 0}, NOW)
    metrics.log({"QueueDepth": 3, "QueueDrainMinutes": 0}, {"queue": "high"}, NOW)
    tick, queue = map(json.loads, written)
    assert cloudwatch.requests == []
    assert (tick["TickGapSeconds"], "DeadLetters" in tick) == (60, False)
    assert (queue["queue"], queue["QueueDepth"], "QueueDrainMinutes" in queue) == ("high", 3, False)


def test_infinite_and_nan_values_are_skipped_and_no_values_send_no_request() -> None:
    odd = {"a": math.inf, "b": -math.inf, "c": math.nan}
    assert published(odd) == []
    [request] = published({**odd, "d": 1})
    assert [datum["MetricName"] for datum in request["MetricData"]] == ["d"]
    assert json.loads(emf("prod", odd, NOW))["_aws"]["CloudWatchMetrics"][0]["Metrics"] == []


def test_requests_respect_the_cloudwatch_batch_limit() -> None:
    requests = published({f"m{n}": n for n in range(2 * MAX_METRICS_PER_REQUEST + 1)})
    assert [len(request["MetricData"]) for request in requests] == [MAX_METRICS_PER_REQUEST, MAX_METRICS_PER_REQUEST, 1]


def test_a_line_in_the_embedded_metric_format_names_its_metrics_and_dimensions() -> None:
    line = emf(
        "prod", {DashboardMetric.QUEUE_DEPTH: 3, DashboardMetric.QUEUE_DRAIN_MINUTES: 0.5}, NOW, {"queue": "high"}
    )
    assert "\n" not in line
    assert json.loads(line) == {
        "_aws": {
            "Timestamp": 1_794_830_400_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Punctual/prod",
                    "Dimensions": [["queue"]],
                    "Metrics": [{"Name": "QueueDepth"}, {"Name": "QueueDrainMinutes"}],
                }
            ],
        },
        "queue": "high",
        "QueueDepth": 3,
        "QueueDrainMinutes": 0.5,
    }


def test_a_line_without_dimensions_has_one_empty_dimension_set() -> None:
    line = json.loads(emf("prod", {DashboardMetric.SLOTS_TAKEN: 4}, NOW))
    assert line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [[]]
    assert line["SlotsTaken"] == 4
