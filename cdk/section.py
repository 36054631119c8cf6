"""A group of settings of a stage."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar


def between(least: int, most: int, default: int) -> Any:
    """A number with its bounds."""
    return field(default=default, metadata={"bounds": (least, most)})


@dataclass(frozen=True, kw_only=True)
class Section:
    """A group of settings. Raises `ValueError`, which names the setting, for a number outside its bounds."""

    path: ClassVar[str] = ""
    """The prefix of the settings in messages."""

    def __post_init__(self) -> None:
        for one in fields(self):
            least, most = one.metadata.get("bounds", (None, None))
            value = getattr(self, one.name)
            if least is not None and not least <= value <= most:
                raise ValueError(f"{self.path}{one.name}: {value:,} is not between {least:,} and {most:,}")
