"""The CDK application: `cdk deploy` puts Punctual into the account and Region of your credentials."""

from aws_cdk import App

from cdk.settings import for_stage
from cdk.stack import PunctualStack
from cdk.validation import validate

app = App()
settings = for_stage(app.node.try_get_context("stage") or "prod")
PunctualStack(app, "Punctual", settings=settings)
if app.node.try_get_context("validate") != "no":
    validate(app)
app.synth()
