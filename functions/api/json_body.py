"""Read the body of a request as JSON, or refuse it."""

from __future__ import annotations

import json
from typing import Any

from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent


def read_json(event: BaseProxyEvent) -> Any:
    """Return the value of the body; ``None`` for an empty body.

    Raises ``RequestUnsupportedContentType`` for another content type: validation would read a form, which is curl's
    default. Raises ``RequestValidationError`` for a body that is not JSON.
    """
    if not event.body:
        return None
    kind = event.headers.get("content-type", "").strip()
    if kind and not kind.startswith("application/json"):
        raise RequestUnsupportedContentType(kind, errors=[])
    try:
        return json.loads(event.decoded_body or "")
    except json.JSONDecodeError as error:
        raise _not_json(f"is not JSON: {error.msg} at character {error.pos}") from error
    except UnicodeDecodeError as error:
        raise _not_json("is not UTF-8: encode it as UTF-8") from error
    except ValueError as error:  # Python refuses to convert such a number, because the time would be quadratic
        raise _not_json("has a number with more than 4,300 digits: send it as text") from error


def _not_json(message: str) -> RequestValidationError:
    return RequestValidationError([{"type": "json_invalid", "loc": ("body",), "msg": message}])
