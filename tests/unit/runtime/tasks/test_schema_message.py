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
        ({"type": "string", "pattern": "^https?://"}, "x", "must match the pattern ^https?://, for the task 't'"),
        (
            {"type": "string", "pattern": "^https?://", "examples": ["https://a.example"]},
            "x",
            "must match the pattern ^https?://, for the task 't'; for example \"https://a.example\"",
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
