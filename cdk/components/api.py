"""client ─▶ API Gateway ─▶ api: everything behind a token, but for health and the API's description."""

import json

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.components.identity import Identity
from cdk.components.layers import Layers
from cdk.components.results import Results
from cdk.components.runner import Runner
from cdk.components.tables import GATES, Tables
from cdk.components.worker import Worker
from cdk.settings import Settings

OPEN_ROUTES = {
    "/": "Tells what this is and where its description lies; holds nothing of any user.",
    "/health": "Load balancers and monitors ask without a token; it says whether the API answers.",
    "/swagger": "The page that describes the API; calls made from it carry the reader's own token.",
    "/openapi.json": "The description of the API, which is the same for everybody.",
}

# One JSON line per request: who asked for what, and how it went.
ACCESS_LOG = {
    "time": "$context.requestTime",
    "request_id": "$context.requestId",
    "ip": "$context.identity.sourceIp",
    "user": "$context.authorizer.claims.username",
    "route": "$context.routeKey",
    "path": "$context.path",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "error": "$context.error.message",
}


class Api(Construct):
    """The HTTP API and the one function behind it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        identity: Identity,
        results: Results,
        worker: Worker,
        runner: Runner,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = self._function(settings, layers, tables, results, worker, runner)
        self.http = http.HttpApi(self, "Http", api_name="punctual", create_default_stage=False)
        self._stage(settings)
        self._routes(identity)

    def _function(
        self,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        results: Results,
        worker: Worker,
        runner: Runner,
    ) -> Function:
        worker_logs = worker.function.log_group
        function = Function(
            self,
            "api",
            settings=settings,
            layers=layers,
            tasks=True,
            timeout=Duration.seconds(29),
            memory_mb=512,
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "GATES_TABLE": tables.gates.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "SIGNALS_TABLE": tables.signals.table_name,
                "IDEMPOTENCY_TABLE": tables.idempotency.table_name,
                "RESULTS_BUCKET": results.bucket.bucket_name,
                "WORKER_LOG_GROUP": worker_logs.log_group_name,
                "RUNNER_LOG_GROUP": runner.log_group.log_group_name,
                "LONG_IMAGES": ",".join(settings.long.images),
                "LONG_VCPUS": str(settings.long.vcpus),
                "LONG_TASKS": str(settings.long.tasks),
                "CONCURRENCY": settings.concurrency.as_json,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        function.allow(*GATES, "dynamodb:BatchWriteItem", on=[tables.gates.table_arn])
        function.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",  # also in a transaction: a job and the marker of its key
            "dynamodb:UpdateItem",
            "dynamodb:BatchWriteItem",
            on=[tables.jobs.table_arn],
        )
        function.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            on=[tables.executions.table_arn],
        )
        function.allow("dynamodb:GetItem", on=[tables.signals.table_arn])
        function.allow("dynamodb:GetItem", on=[tables.parts.table_arn])
        function.allow(
            "dynamodb:Query",
            on=[*tables.jobs_and_indexes, *tables.executions_and_indexes, tables.parts.table_arn],
        )
        function.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=[tables.idempotency.table_arn],
        )
        results.allow(function, "s3:GetObject")
        function.allow("logs:FilterLogEvents", on=[worker_logs.log_group_arn, runner.log_group.log_group_arn])
        return function

    def _stage(self, settings: Settings) -> None:
        access_logs = logs.LogGroup(
            self, "AccessLogs", retention=settings.log_retention, removal_policy=RemovalPolicy.DESTROY
        )
        http.CfnStage(
            self,
            "Stage",
            api_id=self.http.api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=http.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=settings.requests_per_second,
                throttling_burst_limit=settings.request_burst,
            ),
            access_log_settings=http.CfnStage.AccessLogSettingsProperty(
                destination_arn=access_logs.log_group_arn, format=json.dumps(ACCESS_LOG)
            ),
        )

    def _routes(self, identity: Identity) -> None:
        integration = HttpLambdaIntegration("Function", self.function.resource, scope_permission_to_route=False)
        tokens = HttpJwtAuthorizer("Tokens", identity.issuer, jwt_audience=[identity.client.user_pool_client_id])
        self.http.add_routes(
            path="/{proxy+}", methods=[http.HttpMethod.ANY], integration=integration, authorizer=tokens
        )
        for path, reason in OPEN_ROUTES.items():
            (route,) = self.http.add_routes(path=path, methods=[http.HttpMethod.GET], integration=integration)
            acknowledge(route, "AwsSolutions-APIG4", reason)
