"""Names that are given, not generated: so pieces that need each other can speak of each other before they exist."""

from aws_cdk import ArnFormat, Stack
from constructs import Construct

# Of Punctual's own metrics, in CloudWatch.
NAMESPACE = "Punctual"


def state_machine_name(scope: Construct) -> str:
    return f"{Stack.of(scope).stack_name}-long"


def state_machine_arn(scope: Construct) -> str:
    """The long lane's state machine."""
    return _states(scope, "stateMachine", state_machine_name(scope))


def runs_arn(scope: Construct) -> str:
    """Every run of the long lane's state machine."""
    return _states(scope, "execution", f"{state_machine_name(scope)}:*")


def family(scope: Construct, image: str) -> str:
    """The task definition, in its latest revision, that runs `image`; Punctual's own is the empty one."""
    return f"{Stack.of(scope).stack_name}-{image or 'runner'}"


def alarm_name(scope: Construct, name: str) -> str:
    return f"{Stack.of(scope).stack_name}-{name}"


def alarm_arns(scope: Construct) -> str:
    """Every alarm of this stack."""
    return Stack.of(scope).format_arn(
        service="cloudwatch",
        resource="alarm",
        resource_name=alarm_name(scope, "*"),
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )


def _states(scope: Construct, resource: str, name: str) -> str:
    return Stack.of(scope).format_arn(
        service="states", resource=resource, resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
    )
