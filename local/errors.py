"""What can go wrong on this machine. Each error is one sentence for the person who typed the command.

LocalError
├── EmulatorFailed    it did not start, or it ended
├── FargateFailed     so did the stand-in that runs containers as processes
├── PortTaken         something else listens there
├── DeployFailed      the CDK command line ended with an error
└── NotRunning        there is no stack to talk to
"""


class LocalError(Exception):
    """Shown as it is, without a traceback."""


class EmulatorFailed(LocalError):
    pass


class FargateFailed(LocalError):
    pass


class PortTaken(LocalError):
    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} is in use by something else: stop that, or choose another with `make up PORT=…`."
        )


class DeployFailed(LocalError):
    pass


class NotRunning(LocalError):
    def __init__(self) -> None:
        super().__init__("Punctual is not running: start it with `make up`.")
