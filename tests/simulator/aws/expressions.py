"""DynamoDB's expressions, compiled to closures and cached by text.

Only what items without nested attributes need: a path is one attribute. Anything else raises ``NotImplementedError``,
and a text that DynamoDB rejects raises ``ValidationException``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NoReturn, TypeVar

from tests.simulator.aws import operators
from tests.simulator.aws.errors import invalid
from tests.simulator.aws.operators import ORDERINGS, Names, Operand, Predicate, Values
from tests.simulator.aws.values import TYPE_NAMES, Item, Value, compare

T = TypeVar("T")
Update = Callable[[Item, Names, Values], Item]
Action = Callable[[Item, Item, Names, Values], None]
"""Reads the item before the update (first), and changes the item after it (second)."""
Check = Callable[[Values], None]

_TOKEN = re.compile(r"\s*(?:([#:]?\w+)|(<>|<=|>=|[=<>(),+\-.\[\]]))")
_FUNCTIONS = {"attribute_exists", "attribute_not_exists", "begins_with", "contains"}
_SECTIONS = ("SET", "REMOVE", "ADD", "DELETE")
_KEYWORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", *_SECTIONS}
_RESERVED = frozenset(
    (
        *(
            "at",
            "batch",
            "before",
            "count",
            "end",
            "error",
            "group",
            "key",
            "preempt_reason",
            "long",
            "name",
            "none",
            "number",
        ),
        *("other", "owner", "parameters", "partitions", "position", "result", "sample", "shard", "state", "status"),
        *("token", "unique", "until", "value", "window"),
    )
)
"""Those of DynamoDB's 573 reserved words that occur as names in Punctual's adapters."""


@dataclass(frozen=True)
class Expression(Generic[T]):
    """A compiled expression, and the placeholders that it uses."""

    kind: str
    run: T
    names: frozenset[str]
    values: frozenset[str]
    paths: tuple[str, ...]
    """Every path as written; for an update only the changed paths."""
    checks: tuple[Check, ...]
    """Checks of the types of bound values, which DynamoDB makes before it reads the item."""

    def attributes(self, names: Names) -> list[str]:
        """The attributes named by ``paths``."""
        return [names.get(path, path) for path in self.paths]


@dataclass(frozen=True)
class KeyRange:
    """A key condition: the partition, and the half-open range of the sort key."""

    hash_path: str
    hash_value: str
    range_path: str | None
    bounds: Callable[[Values], tuple[str, str | None]]
    """Returns the lowest sort key, and the sort key after the highest (``None``: no limit)."""


def bind(names: Names | None, values: Values | None, *expressions: Expression[Any]) -> None:
    """Validate the placeholders of a request: each is defined and used, and its value fits its operators."""
    if not expressions:
        if names is not None or values is not None:
            raise invalid("ExpressionAttributeNames can only be specified when using expressions")
        return
    if names is not None and not names:
        raise invalid("ExpressionAttributeNames must not be empty")
    if values is not None and not values:
        raise invalid("ExpressionAttributeValues must not be empty")
    used_names, used_values = expressions[0].names, expressions[0].values
    for expression in expressions[1:]:
        used_names, used_values = used_names | expression.names, used_values | expression.values
    _match("Names", names, used_names)
    _match("Values", values, used_values)
    for expression in expressions:
        for check in expression.checks:
            check(values or {})


def _match(what: str, given: Mapping[str, object] | None, used: frozenset[str]) -> None:
    have = (given or {}).keys()
    if have == used:
        return
    if missing := used - have:
        kind = "name used in the document path" if what == "Names" else "value used in expression"
        raise invalid(f"An expression attribute {kind} is not defined: {', '.join(sorted(missing))}")
    unused = ", ".join(sorted(have - used))
    raise invalid(f"Value provided in ExpressionAttribute{what} unused in expressions: keys: {{{unused}}}")


@cache
def condition(text: str, kind: str = "ConditionExpression") -> Expression[Predicate]:
    parser = _Parser(text, kind)
    predicate, _ = parser.disjunction()
    return parser.finish(predicate, parser.paths)


@cache
def update(text: str) -> Expression[Update]:
    parser = _Parser(text, "UpdateExpression")
    actions, targets = parser.sections()

    def run(old: Item, names: Names, values: Values) -> Item:
        new = dict(old)
        for action in actions:
            action(old, new, names, values)
        return new

    return parser.finish(run, targets)


@cache
def projection(text: str) -> Expression[None]:
    parser = _Parser(text, "ProjectionExpression")
    paths = [parser.path()]
    while parser.take(","):
        paths.append(parser.path())
    return parser.finish(None, paths)


@cache
def key_condition(text: str) -> Expression[KeyRange]:
    parser = _Parser(text, "KeyConditionExpression")
    found = parser.key_range()
    return parser.finish(found, parser.paths)


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str, kind: str) -> None:
        self.kind, self.text = kind, text
        self.tokens = self._tokens(text)
        self.at = 0
        self.names: set[str] = set()
        self.values: set[str] = set()
        self.paths: list[str] = []
        self.checks: list[Check] = []

    def finish(self, run: T, paths: list[str]) -> Expression[T]:
        if self.at < len(self.tokens):
            self.fail(f"Syntax error; token: {self.tokens[self.at]}")
        names, values = frozenset(self.names), frozenset(self.values)
        return Expression(self.kind, run, names, values, tuple(paths), tuple(self.checks))

    def fail(self, message: str) -> NoReturn:
        raise invalid(f"Invalid {self.kind}: {message}, in: {self.text}")

    def _tokens(self, text: str) -> list[str]:
        tokens, at, text = [], 0, text.rstrip()
        if not text:
            self.fail("The expression can not be empty;")
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self.fail(f"Syntax error; token: {text[at:].strip()[:1]}")
            tokens.append(match[1] or match[2])
            at = match.end()
        return tokens

    # tokens

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else self.fail("Syntax error; token: <EOF>")

    def take(self, *wanted: str) -> str:
        """Consume the next token and return it in upper case if it is one of ``wanted``; otherwise return ``""``."""
        token = self.peek().upper()
        if token not in wanted:
            return ""
        self.at += 1
        return token

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            self.fail(f"Syntax error; token: {self.peek() or '<EOF>'}, expected: {wanted}")

    # operands

    def path(self) -> str:
        token = self.next()
        if token.startswith("#"):
            self.names.add(token)
        elif token.startswith(":") or not re.match(r"[A-Za-z_]", token) or token.upper() in _KEYWORDS:
            self.fail(f"Syntax error; token: {token}")
        elif token.lower() in _RESERVED:
            self.fail(f"Attribute name is a reserved keyword; reserved keyword: {token}")
        if self.peek() in (".", "["):
            raise NotImplementedError(f"nested path in {self.text}")
        self.paths.append(token)
        return token

    def value(self) -> str:
        token = self.next()
        if not token.startswith(":"):
            self.fail(f"Syntax error; token: {token}")
        self.values.add(token)
        return token

    def operand(self) -> tuple[Operand, str | None]:
        """An operand of a condition, and its placeholder if it is a value."""
        if self.peek().startswith(":"):
            name = self.value()
            return lambda _item, _names, values: values[name], name
        if self.peek().lower() == "size" and self.peek(1) == "(":
            self.next()
            self.expect("(")
            path = self.path()
            self.expect(")")
            return lambda item, names, _values: operators.size(item.get(names.get(path, path))), None
        return operators.attribute(self.path()), None

    def require(self, function: str, placeholder: str | None, *tags: str) -> None:
        """Check the type of a value before the item is read."""
        if placeholder is None:
            return
        kind, text = self.kind, self.text

        def check(values: Values) -> None:
            [tag] = values[placeholder]
            if tag not in tags:
                raise invalid(
                    f"Invalid {kind}: Incorrect operand type for operator or function; operator or function: "
                    f"{function}, operand type: {TYPE_NAMES[tag]}, in: {text}"
                )

        self.checks.append(check)

    def require_order(self, low: str | None, high: str | None) -> None:
        """Check that the bounds of BETWEEN are of one type and in order."""
        if low is None or high is None:
            return
        kind = self.kind

        def check(values: Values) -> None:
            order = compare(values[low], values[high])
            if order is None or order > 0:
                raise invalid(
                    f"Invalid {kind}: The BETWEEN operator requires upper bound to be greater than or equal to lower "
                    f"bound; lower bound operand: {values[low]}, upper bound operand: {values[high]}"
                )

        self.checks.append(check)

    # conditions: each method returns a predicate, and whether it is parenthesized as a whole

    def disjunction(self) -> tuple[Predicate, bool]:
        first, parenthesized = self.conjunction()
        parts = [first]
        while self.take("OR"):
            parts.append(self.conjunction()[0])
        return (first, parenthesized) if len(parts) == 1 else (operators.any_of(parts), False)

    def conjunction(self) -> tuple[Predicate, bool]:
        first, parenthesized = self.negation()
        parts = [first]
        while self.take("AND"):
            parts.append(self.negation()[0])
        return (first, parenthesized) if len(parts) == 1 else (operators.all_of(parts), False)

    def negation(self) -> tuple[Predicate, bool]:
        if self.take("NOT"):
            inner, _ = self.negation()
            return lambda item, names, values: not inner(item, names, values), False
        if self.take("("):
            inner, parenthesized = self.disjunction()
            if parenthesized:
                self.fail("The expression has redundant parentheses;")
            self.expect(")")
            return inner, True
        return self.comparison(), False

    def comparison(self) -> Predicate:
        name = self.peek()
        if self.peek(1) == "(" and name != "size":
            if name == "attribute_type":
                raise NotImplementedError(f"function {name} in {self.text}")
            if name not in _FUNCTIONS:
                self.fail(f"Invalid function name; function: {name}")
            self.at += 2
            return self.function(name)
        left, left_value = self.operand()
        if self.take("BETWEEN"):
            low, low_value = self.operand()
            self.expect("AND")
            high, high_value = self.operand()
            for placeholder in (left_value, low_value, high_value):
                self.require("BETWEEN", placeholder, "S", "N")
            self.require_order(low_value, high_value)
            return operators.between(left, low, high)
        if self.take("IN"):
            self.expect("(")
            choices = [self.operand()[0]]
            while self.take(","):
                choices.append(self.operand()[0])
            self.expect(")")
            if len(choices) > 100:
                self.fail("Invalid number of operands for operator or function; operator or function: IN")
            return operators.is_in(left, choices)
        sign = self.take("=", "<>", *ORDERINGS)
        if not sign:
            self.fail(f"Syntax error; token: {self.peek() or '<EOF>'}")
        right, right_value = self.operand()
        if sign in ("=", "<>"):
            return operators.equal(left, right, sign == "=")
        self.require(sign, left_value, "S", "N")
        self.require(sign, right_value, "S", "N")
        return operators.ordered(left, right, ORDERINGS[sign])

    def function(self, name: str) -> Predicate:
        path = self.path()
        if name in ("attribute_exists", "attribute_not_exists"):
            self.expect(")")
            if name == "attribute_exists":
                return lambda item, names, _values: names.get(path, path) in item
            return lambda item, names, _values: names.get(path, path) not in item
        self.expect(",")
        argument, placeholder = self.operand()
        self.expect(")")
        self.require(name, placeholder, *("S",) if name == "begins_with" else ("S", "N", "BOOL"))
        return (operators.begins_with if name == "begins_with" else operators.contains)(
            operators.attribute(path), argument
        )

    # key conditions

    def key_range(self) -> KeyRange:
        hash_path = self.path()
        self.expect("=")
        hash_value = self.value()
        self.require("=", hash_value, "S")
        if not self.take("AND"):
            return KeyRange(hash_path, hash_value, None, lambda _: ("", None))
        if self.peek() == "begins_with":
            self.next()
            self.expect("(")
            path = self.path()
            self.expect(",")
            prefix = self.value()
            self.expect(")")
            self.require("begins_with", prefix, "S")
            return KeyRange(
                hash_path, hash_value, path, lambda values: (values[prefix]["S"], values[prefix]["S"] + "\U0010ffff")
            )
        path = self.path()
        if self.take("BETWEEN"):
            low = self.value()
            self.expect("AND")
            high = self.value()
            self.require("BETWEEN", low, "S")
            self.require("BETWEEN", high, "S")
            self.require_order(low, high)
            return KeyRange(hash_path, hash_value, path, lambda values: (values[low]["S"], values[high]["S"] + "\0"))
        sign = self.take("=", *ORDERINGS) or self.fail(f"Syntax error; token: {self.peek() or '<EOF>'}")
        bound = self.value()
        self.require(sign, bound, "S")
        return KeyRange(hash_path, hash_value, path, lambda values: operators.key_bounds(sign, values[bound]["S"]))

    # updates

    def sections(self) -> tuple[list[Action], list[str]]:
        actions: list[Action] = []
        targets: list[str] = []
        parse = {"SET": self.set, "REMOVE": self.remove, "ADD": self.add, "DELETE": self.delete}
        seen = set()
        while self.peek():
            section = self.take(*_SECTIONS)
            if not section:
                self.fail(f"Syntax error; token: {self.peek()}")
            if section in seen:
                self.fail(f'The "{section}" section can only be used once in an update expression;')
            seen.add(section)
            while True:
                target = self.path()
                targets.append(target)
                actions.append(parse[section](target))
                if not self.take(","):
                    break
        return actions, targets

    def set(self, target: str) -> Action:
        self.expect("=")
        result = self.term()
        if sign := self.take("+", "-"):
            result = operators.total(result, self.term(), 1 if sign == "+" else -1)

        def act(old: Item, new: Item, names: Names, values: Values) -> None:
            value = result(old, names, values)
            if value is None:
                raise invalid("The provided expression refers to an attribute that does not exist in the item")
            new[names.get(target, target)] = value

        return act

    def term(self) -> Operand:
        if self.peek() == "if_not_exists":
            self.next()
            self.expect("(")
            path = self.path()
            self.expect(",")
            default = self.term()
            self.expect(")")

            def choose(item: Item, names: Names, values: Values) -> Value | None:
                return item.get(names.get(path, path)) or default(item, names, values)

            return choose
        if self.peek(1) == "(":
            raise NotImplementedError(f"function {self.peek()} in {self.text}")
        return self.operand()[0]

    def remove(self, target: str) -> Action:
        def act(_old: Item, new: Item, names: Names, _values: Values) -> None:
            new.pop(names.get(target, target), None)

        return act

    def add(self, target: str) -> Action:
        placeholder = self.value()
        self.require("ADD", placeholder, "N", "SS")

        def act(old: Item, new: Item, names: Names, values: Values) -> None:
            name, value = names.get(target, target), values[placeholder]
            if name in old:
                value = operators.join(old[name], value)
            new[name] = value

        return act

    def delete(self, target: str) -> Action:
        placeholder = self.value()
        self.require("DELETE", placeholder, "SS")

        def act(old: Item, new: Item, names: Names, values: Values) -> None:
            name, removed = names.get(target, target), values[placeholder]["SS"]
            if name not in old:
                return
            kept = [one for one in operators.members(old[name]) if one not in removed]
            if kept:
                new[name] = {"SS": kept}
            else:
                del new[name]

        return act
