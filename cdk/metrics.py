"""The metrics, each named once: what alarms watch, and what the dashboard shows.

Those of Punctual itself are named in punctual/domain/metrics.py, which is not at hand when the stack is synthesised:
a test holds that both know the same names.
"""

from enum import StrEnum

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_cloudwatch as cloudwatch

from cdk.components.function import Function
from cdk.names import NAMESPACE

MINUTE = Duration.minutes(1)


class Published(StrEnum):
    """What alarms watch wherever Punctual runs: published with zeros every minute, without dimensions."""

    DEADLINES_AT_RISK = "DeadlinesAtRisk"
    DEADLINES_MISSED = "DeadlinesMissed"
    BACKLOG_DRAIN_MINUTES = "BacklogDrainMinutes"
    BACKLOG_MESSAGES = "BacklogMessages"
    OLDEST_MESSAGE_SECONDS = "OldestMessageSeconds"
    DISPATCH_LATENESS_P99 = "DispatchLatenessP99"
    DEAD_LETTERS = "DeadLetters"
    TICK_GAP_SECONDS = "TickGapSeconds"
    SWEEP_LAG_SECONDS = "SweepLagSeconds"
    WORKER_FAILURE_RATE = "WorkerFailureRate"
    STATE_MACHINE_FAILURES = "StateMachineFailures"
    STREAM_LAG_SECONDS = "StreamLagSeconds"
    API_FAULTS = "ApiFaults"
    THROTTLES = "Throttles"


class Logged(StrEnum):
    """What the monitor writes to its log, from where CloudWatch takes it: some by lane, outcome or queue."""

    STARTED = "Started"
    ENDED = "Ended"
    RUNNING_NOW = "RunningNow"
    QUEUE_DEPTH = "QueueDepth"
    QUEUE_DRAIN_MINUTES = "QueueDrainMinutes"
    SLOTS_TAKEN = "SlotsTaken"
    SLOTS_WAITING = "SlotsWaiting"
    ESTIMATED_DOLLARS = "EstimatedDollars"


class OfFunction(StrEnum):
    """What Lambda says of a function."""

    ERRORS = "Errors"
    THROTTLES = "Throttles"
    ITERATOR_AGE = "IteratorAge"


# What happened since the minute before is added up; of what is so at the moment, the worst counts.
ADDED_UP = {
    Published.STATE_MACHINE_FAILURES,
    Published.API_FAULTS,
    Published.THROTTLES,
    Logged.STARTED,
    Logged.ENDED,
    Logged.ESTIMATED_DOLLARS,
    OfFunction.ERRORS,
    OfFunction.THROTTLES,
}


def measured(metric: Published | Logged, **dimensions: str) -> cloudwatch.Metric:
    """What Punctual itself measures."""
    return _metric(NAMESPACE, metric, dimensions)


def of_function(metric: OfFunction, function: Function) -> cloudwatch.Metric:
    return _metric("AWS/Lambda", metric, {"FunctionName": function.resource.function_name})


def server_errors(api: http.HttpApi) -> cloudwatch.Metric:
    """Requests that the API answered with a status of 500 or above."""
    return cloudwatch.Metric(
        namespace="AWS/ApiGateway",
        metric_name="5xx",
        dimensions_map={"ApiId": api.api_id},
        statistic=cloudwatch.Stats.SUM,
        period=MINUTE,
    )


def _metric(namespace: str, metric: Published | Logged | OfFunction, dimensions: dict[str, str]) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=metric.value,
        dimensions_map=dimensions,
        statistic=cloudwatch.Stats.SUM if metric in ADDED_UP else cloudwatch.Stats.MAXIMUM,
        period=MINUTE,
    )
