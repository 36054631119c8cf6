"""An ECS task with its definition: image, command, environment and log of its container."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

STOP_SECONDS = 30
"""ECS's default stop timeout."""
RUNNER_IMAGE = "punctual-runner:local"
KNOWN_IMAGE = re.compile(r"punctual-(?!.*unknown)[a-z0-9-]+:local")


class LogTarget(NamedTuple):
    group: str
    stream: str


@dataclass(frozen=True)
class EcsTask:
    """The results of `describe_tasks` and `describe_task_definition`. Uses only the first container."""

    described: dict[str, Any]
    definition: dict[str, Any]

    @property
    def arn(self) -> str:
        return str(self.described["taskArn"])

    @property
    def id(self) -> str:
        return task_id(self.arn)

    @property
    def image(self) -> str:
        return str(self._container["image"])

    @property
    def image_exists(self) -> bool:
        """Whether it is one of the images that this machine simulates."""
        return KNOWN_IMAGE.fullmatch(self.image) is not None

    @property
    def is_runner(self) -> bool:
        """Whether the image is Punctual's own, which contains the engine, the tasks and their packages."""
        return self.image == RUNNER_IMAGE

    @property
    def command(self) -> list[str]:
        command = self._override.get("command") or self._container.get("command") or []
        return [*(self._container.get("entryPoint") or []), *command]

    @property
    def environment(self) -> dict[str, str]:
        entries = [*self._container.get("environment", []), *self._override.get("environment", [])]
        return {entry["name"]: entry["value"] for entry in entries}

    @property
    def stop_seconds(self) -> float:
        """The time between SIGTERM and SIGKILL."""
        return float(self._container.get("stopTimeout") or STOP_SECONDS)

    @property
    def log(self) -> LogTarget | None:
        """The log group and the log stream, named as AWS names it."""
        configuration = self._container.get("logConfiguration") or {}
        options = configuration.get("options") or {}
        if configuration.get("logDriver") != "awslogs" or "awslogs-group" not in options:
            return None
        prefix = options.get("awslogs-stream-prefix")
        stream = f"{prefix}/{self._container['name']}/{self.id}" if prefix else self.id
        return LogTarget(options["awslogs-group"], stream)

    @property
    def _container(self) -> dict[str, Any]:
        return dict(self.definition["containerDefinitions"][0])

    @property
    def _override(self) -> dict[str, Any]:
        overrides = self.described.get("overrides", {}).get("containerOverrides", [])
        return next((dict(one) for one in overrides if one.get("name") == self._container["name"]), {})


def task_id(arn: str) -> str:
    return arn.rsplit("/", 1)[-1]
