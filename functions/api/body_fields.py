"""The fields of request bodies, to suggest one for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel


def fields_at(kind: Any, path: Sequence[str]) -> dict[str, str]:
    """Return the fields that a body of the type ``kind`` may have at ``path``, by name, each as to be written.

    Includes the fields of its objects, because a field is often written one level too high, but not those of the items
    of its lists: they have no single place.
    """
    for step in path:
        inner = [child for model in _models(kind) for name, child in _fields(model) if name == step]
        kind = inner[0] if inner else kind  # an index of a list is no field
    own = {name: child for model in _models(kind) for name, child in _fields(model)}
    nested = {
        name: f"{outer}.{name}"
        for outer, child in own.items()
        for model in _models(child, in_lists=False)
        for name, _ in _fields(model)
    }
    return nested | {name: name for name in own}


def _fields(model: type[BaseModel]) -> Iterable[tuple[str, Any]]:
    return ((field.alias or name, field.annotation) for name, field in model.model_fields.items())


def _models(kind: Any, *, in_lists: bool = True) -> Iterator[type[BaseModel]]:
    """The models in a type such as ``list[Submission]`` or ``Schedule | None``."""
    if get_origin(kind) is list and not in_lists:
        return
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for argument in get_args(kind):
        yield from _models(argument, in_lists=in_lists)
