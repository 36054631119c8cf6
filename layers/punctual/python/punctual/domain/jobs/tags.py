"""Tags: names and values that users give their jobs, to find them and their executions by."""

from __future__ import annotations

import re
from collections.abc import Mapping

from punctual.domain.errors import Invalid

MAX_TAGS = 20
MAX_TAG_KEY_LENGTH = 50
MAX_VALUE_LENGTH = 100
_KEY = re.compile(r"[A-Za-z0-9_./-]+")


def parse_tags(field: str, tags: Mapping[str, str] | None) -> dict[str, str]:
    """Check tags, sorted by key. Raises ``Invalid``, naming the tag."""
    tags = tags or {}
    if len(tags) > MAX_TAGS:
        raise Invalid(field, f"must have at most {MAX_TAGS} tags, but has {len(tags)}: remove some")
    for key, value in tags.items():
        _check_key(field, key)
        _check_value(f"{field}.{key}", value)
    return dict(sorted(tags.items()))


def parse_tag(field: str, text: str) -> tuple[str, str]:
    """Parse ``key:value``, as in a filter. Raises ``Invalid``."""
    key, colon, value = text.partition(":")
    if not colon:
        raise Invalid(field, f"{text[:64]!r} is not a tag: write key:value, such as dataset:orders")
    _check_key(field, key)
    _check_value(field, value)
    return key, value


def _check_key(field: str, key: str) -> None:
    if len(key) > MAX_TAG_KEY_LENGTH or not _KEY.fullmatch(key):
        message = f"has the key {key[:64]!r}: a key has 1 to {MAX_TAG_KEY_LENGTH} letters, digits, _, -, . or /"
        raise Invalid(field, message)


def _check_value(field: str, value: str) -> None:
    # API Gateway joins repeated query parameters with commas, so a filter could not name a value with a comma
    if not 1 <= len(value) <= MAX_VALUE_LENGTH or "," in value or not value.isprintable():
        message = f"must have 1 to {MAX_VALUE_LENGTH} printable characters, and no comma"
        raise Invalid(field, message)
