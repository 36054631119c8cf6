"""The CloudWatch metrics of alarms and dashboard. punctual/domain/metrics.py names Punctual's own metrics."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_cloudwatch as cloudwatch

from cdk.components.function import Function
from punctual.domain.metrics import DashboardMetric, Metric, namespace

MINUTE = Duration.minutes(1)


class OfFunction(StrEnum):
    """Metrics that Lambda publishes for each function."""

    ERRORS = "Errors"
    THROTTLES = "Throttles"
    ITERATOR_AGE = "IteratorAge"


# Counts of events are summed. Of all other metrics, which describe a state, CloudWatch takes the maximum.
SUMMED = {
    Metric.STATE_MACHINE_FAILURES,
    Metric.API_FAULTS,
    Metric.THROTTLES,
    DashboardMetric.STARTED,
    DashboardMetric.ENDED,
    DashboardMetric.ESTIMATED_DOLLARS,
    OfFunction.ERRORS,
    OfFunction.THROTTLES,
}


@dataclass(frozen=True)
class OwnMetrics:
    """The metrics that the functions of a stage publish."""

    stage: str

    def __call__(self, metric: Metric | DashboardMetric, **dimensions: str) -> cloudwatch.Metric:
        return _metric(namespace(self.stage), metric, dimensions)


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


def _metric(
    source: str, metric: Metric | DashboardMetric | OfFunction, dimensions: dict[str, str]
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=source,
        metric_name=metric.value,
        dimensions_map=dimensions,
        statistic=cloudwatch.Stats.SUM if metric in SUMMED else cloudwatch.Stats.MAXIMUM,
        period=MINUTE,
    )
