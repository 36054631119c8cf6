"""Refusals of task parameters in plain words: what the JSON Schema of the task asks for, with an example."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fastjsonschema import JsonSchemaException, JsonSchemaValueException, compile

from punctual.domain.suggestion import closest, one_of

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a JSON object",
    "null": "null",
}
_EXAMPLES: dict[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "string": "text",
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
_RULES: dict[str, Callable[[Any], str]] = {
    "type": lambda types: "must be " + " or ".join(_TYPES[one] for one in _listed(types)),
    "minimum": lambda least: f"must be at least {least}",
    "exclusiveMinimum": lambda least: f"must be more than {least}",
    "maximum": lambda most: f"must be at most {most}",
    "exclusiveMaximum": lambda most: f"must be less than {most}",
    "multipleOf": lambda number: f"must be a multiple of {number}",
    "minLength": lambda least: f"must have at least {least} character(s)",
    "maxLength": lambda most: f"must have at most {most} character(s)",
    "pattern": lambda pattern: f"must match the regular expression {pattern}",
    "format": lambda name: f"must be in the format {name}",
    "enum": lambda values: f"must be one of {', '.join(map(_text, values))}",
    "const": lambda value: f"must be {_text(value)}",
    "minItems": lambda least: f"must have at least {least} item(s)",
    "maxItems": lambda most: f"must have at most {most} item(s)",
    "uniqueItems": lambda _: "must not have the same item twice",
    "minProperties": lambda least: f"must have at least {least} field(s)",
    "maxProperties": lambda most: f"must have at most {most} field(s)",
    "required": lambda names: f"must have the field(s) {', '.join(names)}",
    "anyOf": lambda schemas: ", or ".join(map(_demand, schemas)),
    "oneOf": lambda schemas: f"must fit exactly one of these: it {', or it '.join(map(_demand, schemas))}",
}
_UNCLEAR = {"pattern", "anyOf", "oneOf"}
"""The rules that the description of a schema explains better, if it has one."""


def explain(error: JsonSchemaValueException, task: str) -> tuple[str, str]:
    """Return the field that does not match the schema of ``task``, and what to send instead."""
    path, schema = ["parameters", *(str(part) for part in error.path[1:])], error.definition or {}
    known = schema.get("properties", {})
    match error.rule:
        case "required":
            name = next(name for name in error.rule_definition if name not in error.value)
            message = f"is required by the task {task!r}: add it{_for_example(known.get(name, {}))}"
            return ".".join([*path, name]), message
        case "additionalProperties" if error.rule_definition is False:
            name = next(name for name in error.value if name not in known)
            allowed = one_of(known, name) or "none"
            message = f"is not a parameter of the task {task!r}: remove it, or use one of {allowed}"
            return ".".join([*path, name]), f"{message}{_for_example(_with_one(schema, name))}"
        case rule:
            asked = _asked(rule, error)
            return ".".join(path), f"{asked}, for the task {task!r}{_for_example(schema)}"


def _asked(rule: str | None, error: JsonSchemaValueException) -> str:
    if rule in _UNCLEAR and "description" in error.definition:
        return _described(error.definition)
    return _RULES[rule](error.rule_definition) if rule in _RULES else _plain(error.message)


def _demand(schema: Any) -> str:
    """What an alternative demands of the value."""
    if not isinstance(schema, Mapping):
        return "may have any value" if schema else "must not be given"
    if "description" in schema:
        return _described(schema)
    own = [words(schema[rule]) for rule, words in _RULES.items() if rule in schema]
    fields = [f"its {name} {_demand(field)}" for name, field in schema.get("properties", {}).items() if field]
    return " and ".join([*own, *fields]) or f"must match the schema {_text(schema)}"


def _described(schema: Mapping[str, Any]) -> str:
    return f"must match its description: {str(schema['description']).strip().rstrip('.')}"


def _for_example(schema: Any) -> str:
    """An example that matches ``schema``; empty if none can be derived."""
    for example in (_example(schema), None):
        try:
            compile(schema)(example)
        except (JsonSchemaException, TypeError, ValueError):
            continue
        return f"; for example {_text(example)}"
    return ""


def _with_one(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of an object that has a field: the one that is closest to ``name``, if none is required."""
    known = schema.get("properties", {})
    shown = closest(name, known) or next(iter(known), None)
    return schema if schema.get("required") or shown is None else {**schema, "required": [shown]}


def _example(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return None
    given = [
        *schema.get("examples", ()),
        *([schema["default"]] if "default" in schema else ()),
        *schema.get("enum", ()),
    ]
    if given:
        return given[0]
    kind = _listed(schema.get("type", "string"))[0]
    if kind == "object":
        return {name: _example(schema.get("properties", {}).get(name, {})) for name in schema.get("required", ())}
    if kind == "array" and schema.get("minItems"):
        return [_example(schema.get("items", {}))] * schema["minItems"]
    return schema.get("minimum", schema.get("maximum", _EXAMPLES[kind]))


def _listed(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else list(types)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(message: str) -> str:
    """Strip the name ``data`` that fastjsonschema gives to the whole value: the error names the field's path."""
    return message.partition(" ")[2]
