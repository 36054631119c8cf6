"""The operators and functions of DynamoDB's expressions, as closures over their operands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from tests.simulator.aws.errors import invalid
from tests.simulator.aws.values import Item, Value, compare, number, number_text

Names = Mapping[str, str]
Values = Mapping[str, Value]
Operand = Callable[[Item, Names, Values], Value | None]
Predicate = Callable[[Item, Names, Values], bool]

ORDERINGS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def attribute(path: str) -> Operand:
    """The value of an attribute, named directly or by a placeholder."""

    if path.startswith("#"):
        return lambda item, names, _values: item.get(names[path])
    return lambda item, _names, _values: item.get(path)


def size(value: Value | None) -> Value | None:
    """The length of a string in bytes, or the number of members of a set."""

    if value is None or not value.keys() & {"S", "SS"}:
        return None
    [(tag, content)] = value.items()
    return {"N": str(len(content.encode()) if tag == "S" else len(content))}


def any_of(parts: list[Predicate]) -> Predicate:
    def run(item: Item, names: Names, values: Values) -> bool:
        for part in parts:  # noqa: SIM110 - faster than any()
            if part(item, names, values):
                return True
        return False

    return run


def all_of(parts: list[Predicate]) -> Predicate:
    def run(item: Item, names: Names, values: Values) -> bool:
        for part in parts:  # noqa: SIM110 - faster than all()
            if not part(item, names, values):
                return False
        return True

    return run


def equal(left: Operand, right: Operand, wanted: bool) -> Predicate:
    """Compare for equality, or inequality if not ``wanted``. A missing attribute is unequal to everything."""

    def run(item: Item, names: Names, values: Values) -> bool:
        a, b = left(item, names, values), right(item, names, values)
        return (a is not None and a == b) is wanted

    return run


def ordered(left: Operand, right: Operand, holds: Callable[[int, int], bool]) -> Predicate:
    """Compare two strings or two numbers. Values of unequal types have no order."""

    def run(item: Item, names: Names, values: Values) -> bool:
        order = compare(left(item, names, values), right(item, names, values))
        return order is not None and holds(order, 0)

    return run


def between(operand: Operand, low: Operand, high: Operand) -> Predicate:
    return all_of([ordered(low, operand, operator.le), ordered(operand, high, operator.le)])


def is_in(operand: Operand, choices: list[Operand]) -> Predicate:
    def run(item: Item, names: Names, values: Values) -> bool:
        value = operand(item, names, values)
        if value is None:
            return False
        for choice in choices:  # noqa: SIM110 - faster than any()
            if value == choice(item, names, values):
                return True
        return False

    return run


def begins_with(operand: Operand, prefix: Operand) -> Predicate:
    def run(item: Item, names: Names, values: Values) -> bool:
        value, start = operand(item, names, values) or {}, prefix(item, names, values) or {}
        return "S" in value and "S" in start and str(value["S"]).startswith(start["S"])

    return run


def contains(operand: Operand, wanted: Operand) -> Predicate:
    def run(item: Item, names: Names, values: Values) -> bool:
        value, part = operand(item, names, values) or {}, wanted(item, names, values) or {}
        return "S" in part and part["S"] in (value.get("S") or value.get("SS") or ())

    return run


def key_bounds(sign: str, bound: str) -> tuple[str, str | None]:
    """The lowest sort key that fits a comparison, and the first key after the fitting ones."""

    after = bound + "\0"  # the next string in the order of sort keys
    return {
        "=": (bound, after),
        "<": ("", bound),
        "<=": ("", after),
        ">": (after, None),
        ">=": (bound, None),
    }[sign]


def total(left: Operand, right: Operand, sign: int) -> Operand:
    """The sum of two operands, or their difference if ``sign`` is -1."""

    def run(item: Item, names: Names, values: Values) -> Value | None:
        a, b = left(item, names, values), right(item, names, values)
        return None if a is None or b is None else add_numbers(a, b, sign)

    return run


def join(old: Value, value: Value) -> Value:
    """The result of ADD: a sum, or a union of sets."""

    if "SS" in value:
        return {"SS": sorted({*members(old), *value["SS"]})}
    return add_numbers(old, value, 1)


def add_numbers(left: Value, right: Value, sign: int) -> Value:
    if "N" not in left or "N" not in right:
        raise invalid("An operand in the update expression has an incorrect data type")
    return {"N": number_text(str(number(left) + sign * number(right)))}


def members(value: Value) -> list[str]:
    if "SS" not in value:
        raise invalid("An operand in the update expression has an incorrect data type")
    members: list[str] = value["SS"]
    return members
