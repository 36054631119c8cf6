"""The cdk-nag rules that every synth must pass."""

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks


def validate(app: App) -> None:
    """Make `synth` fail on any AwsSolutions finding that is not acknowledged at its resource."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
