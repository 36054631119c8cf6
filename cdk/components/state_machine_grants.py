"""Permissions on the long lane's state machine, for functions that are created before it."""

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.names import runs_arn, state_machine_arn, state_machine_name


def grant_start(function: Function) -> None:
    """Allow starting runs."""
    _grant(function, "StartExecution")


def grant_list(function: Function) -> None:
    """Allow listing runs."""
    _grant(function, "ListExecutions")


def grant_callbacks(function: Function, *actions: str) -> None:
    """Allow `actions`, such as `SendTaskSuccess`, with the task tokens of runs. A task token names its own run."""
    function.allow(*(f"states:{action}" for action in actions), on=[state_machine_arn(function)])


def grant_stop(function: Function) -> None:
    """Allow stopping runs."""
    function.allow("states:StopExecution", on=[runs_arn(function)])
    acknowledge(
        function.role,
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>"
        f":execution:{state_machine_name(function)}:*]",
        "A run is named after its execution, so its ARN is not known at deployment.",
    )


def _grant(function: Function, action: str) -> None:
    arn = state_machine_arn(function)
    function.allow(f"states:{action}", on=[arn])
    function.add_environment({"STATE_MACHINE_ARN": arn})
