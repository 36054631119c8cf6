"""A task that ECS was asked to run, with its definition: what a container of it would be given."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

STOP_SECONDS = 30
"""How long ECS lets a container leave when its definition does not say."""
KNOWN_IMAGE = re.compile(r"punctual-(?!.*unknown)[a-z0-9-]+:local")


class LogTarget(NamedTuple):
    group: str
    stream: str


@dataclass(frozen=True)
class EcsTask:
    """As `describe_tasks` and `describe_task_definition` show them. Only the first container counts."""

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
        """Whether it is one of those that this machine stands in for."""
        return KNOWN_IMAGE.fullmatch(self.image) is not None

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
        """How long after SIGTERM it is killed."""
        return float(self._container.get("stopTimeout") or STOP_SECONDS)

    @property
    def log(self) -> LogTarget | None:
        """Where its lines go, in the stream that AWS would choose."""
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
