"""Refusals of task parameters that do not match the task's JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.runtime.tasks.registry import Task


def refusal(schema: dict[str, Any], parameters: dict[str, Any]) -> tuple[str | None, str]:
    with pytest.raises(Invalid) as refused:
        Task("t", lambda _context, _parameters: None, schema).check(parameters)
    return refused.value.field, refused.value.message


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer", "minimum": 3}, "x", "must be a whole number, for the task 't'; for example 3"),
        ({"type": ["string", "null"]}, 1, "must be text or null, for the task 't'; for example \"text\""),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "must be more than 0, for the task 't'; for example 1.5"),
        ({"type": "integer", "maximum": 5}, 7, "must be at most 5, for the task 't'; for example 5"),
        (
            {"type": "string", "minLength": 2},
            "a",
            "must have at least 2 character(s), for the task 't'; for example \"text\"",
        ),
        (
            {"type": "string", "pattern": "^https?://"},
            "x",
            "must match the regular expression ^https?://, for the task 't'",
        ),
        (
            {
                "type": "string",
                "pattern": "^https?://",
                "description": "An address that starts with http:// or https://.",
                "examples": ["https://a.example"],
            },
            "x",
            "must match its description: An address that starts with http:// or https://, for the task 't'; for "
            'example "https://a.example"',
        ),
        (
            {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}, {"type": "object", "required": ["id"]}]},
            "x",
            "must be a whole number and must be at least 3, or must be null, or must be a JSON object and must have "
            "the field(s) id, for the task 't'; for example null",
        ),
        (
            {"oneOf": [{"type": "number"}, {"multipleOf": 5, "description": "a multiple of five."}], "default": 3},
            5,
            "must fit exactly one of these: it must be a number, or it must match its description: a multiple of five, "
            "for the task 't'; for example 3",
        ),
        (
            {
                "oneOf": [
                    {"type": "object", "properties": {"kind": {"const": one}, "value": {}}, "required": ["kind"]}
                    for one in ("day", "week")
                ]
            },
            {"kind": "year"},
            "must fit exactly one of these: it must be a JSON object and must have the field(s) kind and its kind must "
            'be "day", or it must be a JSON object and must have the field(s) kind and its kind must be "week", for '
            "the task 't'",
        ),
        (
            {"anyOf": [{"not": {"type": "integer"}}, False], "default": {}},
            7,
            'must match the schema {"not": {"type": "integer"}}, or must not be given, for the task '
            "'t'; for example {}",
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "the number of rows, or null for all"},
            "x",
            "must match its description: the number of rows, or null for all, for the task 't'; for example null",
        ),
        ({"enum": ["a", "b"]}, "c", 'must be one of "a", "b", for the task \'t\'; for example "a"'),
        (
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
            [],
            "must have at least 1 item(s), for the task 't'; for example [\"text\"]",
        ),
        (
            {"not": {"type": "string"}},
            "x",
            "must NOT match a disallowed definition, for the task 't'; for example null",
        ),
    ],
)
def test_a_wrong_value_is_refused_in_words_with_an_example(schema: dict[str, Any], value: Any, message: str) -> None:
    assert refusal({"type": "object", "properties": {"x": schema}}, {"x": value}) == ("parameters.x", message)


def test_a_missing_parameter_is_named() -> None:
    inner = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": inner}}}
    assert refusal(schema, {"rows": [{"id": 1}, {}]}) == (
        "parameters.rows.1.id",
        "is required by the task 't': add it; for example 1",
    )


def test_an_unknown_parameter_is_answered_with_the_nearest_known_one() -> None:
    schema = {"type": "object", "properties": {"seconds": {}, "b": {}}, "additionalProperties": False}
    assert refusal(schema, {"second": 1}) == (
        "parameters.second",
        "is not a parameter of the task 't': remove it, or use one of seconds, b: did you mean 'seconds'?; "
        'for example {"seconds": "text"}',
    )


def test_an_unknown_parameter_is_named_with_those_that_are_known() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False}
    assert refusal(schema, {"c": 1}) == (
        "parameters.c",
        'is not a parameter of the task \'t\': remove it, or use one of a, b; for example {"a": "text"}',
    )


def test_an_example_is_left_out_if_its_schema_refers_to_another_one() -> None:
    schema = {"type": "object", "definitions": {"n": {"type": "integer"}}, "required": ["x"]}
    schema["properties"] = {"x": {"allOf": [{"$ref": "#/definitions/n"}]}}
    assert refusal(schema, {}) == ("parameters.x", "is required by the task 't': add it")
