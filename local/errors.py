"""Errors of the local stack. Each message is one sentence for the user of the command.

LocalError
├── EmulatorFailed    the emulator did not start or did not stop
├── FargateFailed     the stand-in for Fargate did not start
├── PortTaken         another program listens on the port
├── DeployFailed      the CDK command line failed, or the API did not answer
└── NotRunning        no local stack is running
"""


class LocalError(Exception):
    """Printed without a traceback."""


class EmulatorFailed(LocalError):
    pass


class FargateFailed(LocalError):
    pass


class PortTaken(LocalError):
    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} is in use by another program: stop it, or choose another port with `make up PORT=…`."
        )


class DeployFailed(LocalError):
    pass


class NotRunning(LocalError):
    def __init__(self) -> None:
        super().__init__("Punctual is not running: start it with `make up`.")
