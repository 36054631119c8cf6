"""browser ─▶ API Gateway ─▶ console: the files of the web console, from the origin of the API."""

from aws_cdk import Duration
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.identity import Identity
from cdk.components.layers import Layers
from cdk.settings import Settings

ROUTES = ("/console", "/console/{proxy+}")
IS_PUBLIC = "The console's files are the same for every reader and contain no data: the API checks the token."


class Console(Construct):
    """A function that has no permission beyond its log: it serves files from its own package."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, layers: Layers, api: Api, identity: Identity
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "console",
            settings=settings,
            layers=layers,
            console=True,
            timeout=Duration.seconds(10),
            environment={
                "CONSOLE_PATH": f"{settings.api_path(api.http.api_id)}/console/",
                "SIGN_IN_URL": identity.sign_in_url,
            },
        )
        integration = HttpLambdaIntegration("Files", self.function.resource, scope_permission_to_route=False)
        for path in ROUTES:
            api.add_open_route(path, integration, IS_PUBLIC)
