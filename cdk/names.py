"""Fixed resource names, so that resources can refer to each other regardless of the order of their creation."""

from aws_cdk import ArnFormat, Stack
from constructs import Construct


def state_machine_name(scope: Construct) -> str:
    return f"{Stack.of(scope).stack_name}-long"


def state_machine_arn(scope: Construct) -> str:
    """The ARN of the long lane's state machine."""
    return _states(scope, "stateMachine", state_machine_name(scope))


def runs_arn(scope: Construct) -> str:
    """The ARN pattern of all runs of the long lane's state machine."""
    return _states(scope, "execution", f"{state_machine_name(scope)}:*")


def family(scope: Construct, image: str) -> str:
    """The family of the task definition that runs `image`. The empty string stands for Punctual's own image."""
    return f"{Stack.of(scope).stack_name}-{image or 'runner'}"


def alarm_name(scope: Construct, name: str) -> str:
    return f"{Stack.of(scope).stack_name}-{name}"


def alarm_arns(scope: Construct) -> str:
    """The ARN pattern of all alarms of this stack."""
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
