"""Attribute values with DynamoDB's type tags: ``{"S": "text"}``, ``{"N": "5"}``, ``{"BOOL": True}``, ``{"SS": [...]}``.

Values are stored in canonical form, so that equal values are equal dictionaries. They are shared between items, stream
records and responses, and never modified.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from tests.simulator.aws.errors import invalid

Value = dict[str, Any]
Item = dict[str, Value]

TYPE_NAMES = {"S": "STRING", "N": "NUMBER", "BOOL": "BOOLEAN", "SS": "STRING_SET"}


def canonical(value: Value) -> Value:
    """Validate a value and return its canonical form. Raises ``NotImplementedError`` for other types."""
    [(tag, content)] = value.items()
    if tag == "S":
        if not isinstance(content, str):
            raise TypeError(f"S needs a string: {content!r}")
        return value
    if tag == "N":
        text = number_text(content)
        return value if text == content else {"N": text}
    if tag == "BOOL":
        if not isinstance(content, bool):
            raise TypeError(f"BOOL needs a boolean: {content!r}")
        return value
    if tag == "SS":
        if not content:
            raise invalid("One or more parameter values were invalid: An string set  may not be empty")
        if len(set(content)) < len(content):
            raise invalid("One or more parameter values were invalid: Input collection contains duplicates.")
        return {"SS": sorted(content)}
    if tag == "B":
        if not isinstance(content, bytes):
            raise TypeError(f"B needs bytes: {content!r}")
        return value
    raise NotImplementedError(f"attribute type {tag}")


def canonical_item(item: Item) -> Item:
    return {name: canonical(value) for name, value in item.items()}


def number_text(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"N needs a string: {text!r}")
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
        return text
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise invalid(f"The parameter cannot be converted to a numeric value: {text}") from None
    if not number.is_finite():
        raise invalid(f"The parameter cannot be converted to a numeric value: {text}")
    return str(int(number)) if number == number.to_integral_value() else format(number.normalize(), "f")


def number(value: Value) -> int | Decimal:
    text = value["N"]
    try:
        return int(text)
    except ValueError:
        return Decimal(text)


def compare(left: Value | None, right: Value | None) -> int | None:
    """Negative, zero or positive if the operands can be ordered; ``None`` for a missing operand or unequal types."""
    if left is None or right is None:
        return None
    if "S" in left and "S" in right:
        a, b = str(left["S"]), str(right["S"])
        return (a > b) - (a < b)
    if "N" in left and "N" in right:
        m, n = number(left), number(right)
        return (m > n) - (m < n)
    return None
