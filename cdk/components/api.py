"""client ─▶ API Gateway ─▶ api: every route requires a token, except health and the API's description."""

import json

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.components.identity import Identity
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.results import Results
from cdk.components.tables import (
    BY_LISTING_INDEX,
    BY_NAME_INDEX,
    BY_OWNER_INDEX,
    DEADLINES_INDEX,
    HOLDING_INDEX,
    LONG_INDEX,
    RUNNING_INDEX,
    WAITING_INDEX,
    Tables,
)
from cdk.names import alarm_name
from cdk.settings import Settings

OPEN_ROUTES = {
    "/": "Names the service and links to its description; contains no user data.",
    "/health": "Load balancers and monitoring call it without a token; it only reports that the API responds.",
    "/swagger": "The Swagger UI page; requests made from it carry the reader's own token.",
    "/config": "What a client needs to sign in: no secret, and the same for every caller.",
    "/openapi.json": "The OpenAPI description, which is the same for every caller.",
}

# Of each route that needs no token: anonymous callers cannot use up the concurrency of the functions.
OPEN_ROUTE_LIMITS = {"ThrottlingRateLimit": 50, "ThrottlingBurstLimit": 100}

# One JSON line per request.
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
    """The HTTP API and its single function."""

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
        queues: Queues,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = self._function(settings, layers, tables, results, queues)
        self.http = http.HttpApi(self, "Http", api_name=Stack.of(self).stack_name, create_default_stage=False)
        # Before a change, the api reads whether the user still has the permissions that the token names.
        self.function.allow(
            "cognito-idp:AdminGetUser", "cognito-idp:AdminListGroupsForUser", on=[identity.pool.user_pool_arn]
        )
        self.console_client = identity.add_console_client(f"{self.http.api_endpoint}/console")
        self.function.add_environment(
            {
                "ISSUER": identity.issuer,
                "USER_POOL_ID": identity.pool.user_pool_id,
                "SIGN_IN_CLIENT_ID": self.console_client.user_pool_client_id,
                "SIGN_IN_URL": identity.sign_in_url,
                "CONSOLE_PATH": f"{settings.api_path(self.http.api_id)}/console/",
            }
        )
        self._stage_resource = self._stage(settings)
        self._open_routes: list[str] = []
        self._routes(identity)

    def _function(
        self,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        results: Results,
        queues: Queues,
    ) -> Function:
        function = Function(
            self,
            "api",
            settings=settings,
            layers=layers,
            tasks=True,
            timeout=Duration.seconds(29),
            memory_mb=512,
            provisioned=settings.provisioned.api,
            environment={
                "LONG_IMAGES": ",".join(settings.long.images),
                "ALARM_PREFIX": alarm_name(self, ""),
                **settings.alerts.backlog_limits,
                **settings.of_email,
                **settings.long.limits,
                **settings.concurrency.limits,
            },
        )
        # PutItem and DeleteItem serve transactions: a job and the markers of its name and dedupe key.
        tables.jobs.grant(
            function, "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "Query"
        )
        tables.jobs.grant_query(function, BY_LISTING_INDEX, BY_NAME_INDEX)
        tables.revisions.grant(function, "PutItem", "Query")
        tables.executions.grant(function, "PutItem", "Query")
        tables.executions.grant_query(function, BY_OWNER_INDEX, RUNNING_INDEX, DEADLINES_INDEX, LONG_INDEX)
        # UpdateItem asks a part to release its slot.
        tables.parts.grant(function, "GetItem", "BatchGetItem", "UpdateItem", "Query")
        tables.parts.grant_query(function, WAITING_INDEX, HOLDING_INDEX)
        tables.grant_gates(function)
        tables.gates.grant(function, "BatchGetItem")
        # Acknowledgements of attention items.
        tables.signals.grant(function, "GetItem", "BatchGetItem", "PutItem", "DeleteItem")
        tables.logs.grant(function, "Query")
        tables.statistics.grant(function, "BatchGetItem", "Query")
        tables.idempotency.grant(function, "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")
        results.grant(function, "GetObject")
        tables.operations.grant(function, "GetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem")
        queues.bulk.queue.grant(function, "SendMessage")
        queues.grant_backlog(function)
        queues.intake.queue.grant(function, "SendMessage")
        self._allow_alarms(function)
        return function

    @staticmethod
    def _allow_alarms(function: Function) -> None:
        """Allow reading the states of alarms, which the overview shows."""
        arn = Stack.of(function).format_arn(
            service="cloudwatch", resource="alarm", resource_name="*", arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
        function.allow("cloudwatch:DescribeAlarms", on=[arn])
        acknowledge(
            function.role,
            "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:*]",
            "A request for the alarms with a prefix is authorized on all alarms.",
        )

    def _stage(self, settings: Settings) -> http.CfnStage:
        access_logs = logs.LogGroup(
            self, "AccessLogs", retention=settings.log_retention, removal_policy=RemovalPolicy.DESTROY
        )
        return http.CfnStage(
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
        integration = HttpLambdaIntegration("Function", self.function.invoked, scope_permission_to_route=False)
        clients = [identity.client.user_pool_client_id, self.console_client.user_pool_client_id]
        tokens = HttpJwtAuthorizer("Tokens", identity.issuer, jwt_audience=clients)
        self.http.add_routes(
            path="/{proxy+}", methods=[http.HttpMethod.ANY], integration=integration, authorizer=tokens
        )
        for path, reason in OPEN_ROUTES.items():
            self.add_open_route(path, integration, reason)

    def add_open_route(self, path: str, integration: http.HttpRouteIntegration, reason: str) -> None:
        """Add a route that needs no token, with limits of its own."""
        (route,) = self.http.add_routes(path=path, methods=[http.HttpMethod.GET], integration=integration)
        acknowledge(route, "AwsSolutions-APIG4", reason)
        self._open_routes.append(f"GET {path}")
        self._stage_resource.route_settings = dict.fromkeys(self._open_routes, OPEN_ROUTE_LIMITS)
        # API Gateway accepts settings only of routes that exist.
        self._stage_resource.node.add_dependency(route)
