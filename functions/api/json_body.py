"""Read the body of a request as JSON, or refuse it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent

from punctual.domain.errors import Invalid


def read_json(event: BaseProxyEvent) -> Any:
    """Return the value of the body; ``None`` for an empty body.

    Raises ``RequestUnsupportedContentType`` for another content type: validation would read a form, which is curl's
    default. Raises ``RequestValidationError`` for a body that is not JSON, and ``Invalid`` for a repeated field.
    """
    if not event.body:
        return None
    kind = event.headers.get("content-type", "").strip()
    if kind and not kind.startswith("application/json"):
        raise RequestUnsupportedContentType(kind, errors=[])
    try:
        return _loads(event.decoded_body or "")
    except json.JSONDecodeError as error:
        raise _not_json(f"is not JSON: {error.msg} at character {error.pos}") from error
    except UnicodeDecodeError as error:
        raise _not_json("is not UTF-8: encode it as UTF-8") from error
    except ValueError as error:  # Python refuses to convert such a number, because the time would be quadratic
        raise _not_json("has a number with more than 4,300 digits: send it as text") from error


def _loads(text: str) -> Any:
    """Parse JSON. Raises ``Invalid``, naming the field, for an object that has a field twice."""
    repeated: list[tuple[dict[str, Any], str]] = []

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.append((fields, next(name for name in names if names.count(name) > 1)))
        return fields

    value = json.loads(text, object_pairs_hook=build)
    if repeated:
        holder, name = repeated[-1]  # an object is built after those inside it, so the last one is part of the value
        path = next(path for path, one in _objects(value) if one is holder)
        raise Invalid(".".join((*path, name)), "is given twice: keep one of the two")
    return value


def _objects(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every object in a JSON value, with its path."""
    if isinstance(value, dict):
        yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from _objects(child, (*path, str(name)))


def _not_json(message: str) -> RequestValidationError:
    return RequestValidationError([{"type": "json_invalid", "loc": ("body",), "msg": message}])
