"""The two Lambda layers of every function: Punctual's own package, and its dependencies."""

from pathlib import Path

from aws_cdk import RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.bundling import plain, wheels
from cdk.lock import FOR_FUNCTIONS
from cdk.settings import Settings

SOURCES = Path(__file__).parents[2] / "layers"


class Layers(Construct):
    """Two layers, because the large one changes only when a pinned version does."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self.punctual = self._layer("Punctual", plain(SOURCES / "punctual"), "Punctual's own package")
        vendor = wheels(FOR_FUNCTIONS, settings.platform)
        self.vendor = self._layer("Vendor", vendor, "The dependencies of Punctual")
        self.both = [self.punctual, self.vendor]

    def _layer(self, construct_id: str, code: lambda_.Code, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=code,
            description=description,
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[lambda_.Architecture.custom(self._settings.platform.architecture)],
            removal_policy=RemovalPolicy.DESTROY,
        )
