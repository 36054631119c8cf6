"""Reads `stages/<stage>.toml`, the file in which a team changes the settings of a stage."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from cdk.section import Section
from cdk.settings import LOCAL, PROD, Settings

STAGES = Path(__file__).parents[1] / "stages"
EXAMPLE = STAGES / "prod.toml.example"
FIXED = {"stage", "is_emulated", "is_protected", "reserved"}

S = TypeVar("S", bound=Section)


def for_stage(name: str, folder: Path = STAGES) -> Settings:
    """The settings of the stage called `name`. Raises `ValueError`, which names the setting and the fix."""
    if name == LOCAL.stage:
        return LOCAL
    settings, file = replace(PROD, stage=name), folder / f"{name}.toml"
    if file.is_file():
        return _read(settings, file)
    if name == PROD.stage:
        return settings
    known = sorted({LOCAL.stage, PROD.stage, *(one.stem for one in folder.glob("*.toml"))})
    raise ValueError(f"no stage {name!r}: choose one of {', '.join(known)}, or create stages/{name}.toml")


def with_long_lane(settings: Settings, switch: str | None) -> Settings:
    """The settings with the long lane `on` or `off`, or as they are. Raises `ValueError` for any other switch."""
    if switch not in {None, "on", "off"}:
        raise ValueError(f"long_lane: must be on or off, but is {switch!r}")
    return settings if switch is None else replace(settings, long=replace(settings.long, enabled=switch == "on"))


def is_on_this_machine(endpoint: str) -> bool:
    """Whether the address of an AWS endpoint is that of an emulator on loopback."""
    return urlsplit(endpoint).hostname in {"localhost", "127.0.0.1", "::1"}


def _read(settings: Settings, file: Path) -> Settings:
    try:
        return _changed(settings, tomllib.loads(file.read_text()))
    except ValueError as error:
        raise ValueError(f"stages/{file.name}: {error}") from error


def _changed(section: S, values: Mapping[str, Any]) -> S:
    """`section` with the `values` of a table of the file."""
    known = {one.name: one for one in fields(section) if one.name not in FIXED}
    for name in values:
        if name not in known:
            (nearest,) = get_close_matches(name, known, n=1, cutoff=0.0)
            raise ValueError(f"{section.path}{name}: is not a setting; did you mean `{nearest}`? See {EXAMPLE.name}")
    changes = {}
    for name, value in values.items():
        setting, read = f"{section.path}{name}", known[name].metadata.get("read")
        changes[name] = read(setting, value) if read else _value(setting, value, getattr(section, name))
    return replace(section, **changes)


def _value(setting: str, value: Any, default: Any) -> Any:
    if isinstance(default, Section) and isinstance(value, dict):
        return _changed(default, value)
    if isinstance(default, tuple) and isinstance(value, list) and _are_texts(value):
        return tuple(value)
    if isinstance(default, Mapping) and isinstance(value, dict) and _are_texts(value.values()):
        return value
    wanted = str if default is None else type(default)
    if wanted in {bool, int, str} and type(value) is wanted:
        return value
    raise ValueError(f"{setting}: must be {_kind(default)}, but is {value!r}")


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def _kind(default: Any) -> str:
    if isinstance(default, tuple):
        return "a list of texts"
    if isinstance(default, Section):
        return "a table"
    if isinstance(default, Mapping):
        return "a table of texts"
    return {bool: "true or false", int: "a whole number"}.get(type(default), "a text")
