"""Laws of the pages' types: each kind of schema has one, and what has none is said, not let through."""

from __future__ import annotations

from typing import Any

import pytest

from bench.page_types import UnknownSchema, declared, typed, types

WORDS = {"type": "string", "enum": ["new", ""]}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "title": "Id", "default": "", "maxLength": 3}, "string"),
        ({"type": "integer"}, "number"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "null"}, "null"),
        ({"type": "string", "const": 'a "b"'}, '"a \\"b\\""'),
        (WORDS, '"new" | ""'),
        ({"$ref": "#/components/schemas/Goal"}, "Goal"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "number | null"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Goal"}}, "Goal[]"),
        ({"type": "array", "items": WORDS}, '("new" | "")[]'),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "Record<string, number>"),
        ({"type": "object", "additionalProperties": True}, "Record<string, unknown>"),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"enum": ["7", "all"]}},
            'Partial<Record<"7" | "all", string>>',
        ),
        ({"title": "Whatever a model has said"}, "unknown"),
    ],
)
def test_each_kind_of_schema_has_its_type(schema: dict[str, Any], expected: str) -> None:
    assert typed(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "file"},
        {"type": ["string", "null"]},
        {"type": "object"},
        {"type": "object", "additionalProperties": False},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "string", "format": "date-time"},
        {"type": "string", "enum": ["a"], "not": {"const": "a"}},
        {"allOf": [{"type": "string"}]},
        {"oneOf": [{"type": "string"}]},
        {"anyOf": [{"type": "string"}], "discriminator": {"propertyName": "kind"}},
        {"$ref": "#/components/schemas/Goal", "nullable": True},
    ],
)
def test_a_kind_that_nobody_knows_becomes_no_any(schema: dict[str, Any]) -> None:
    for one in (schema, {"type": "array", "items": schema}, {"anyOf": [{"type": "null"}, schema]}):
        with pytest.raises(UnknownSchema):
            typed(one)


def test_what_an_answer_may_leave_out_is_optional() -> None:
    keys = {"id": {"type": "string"}, "week": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    schema = {"type": "object", "properties": keys, "required": ["id"]}
    assert declared("Goal", schema) == "export interface Goal {\n  id: string;\n  week?: string | null;\n}\n"
    assert declared("Change", WORDS) == 'export type Change = "new" | "";\n'


def test_only_what_answers_are_made_of_is_there_and_each_once() -> None:
    def ref(name: str) -> dict[str, str]:
        return {"$ref": f"#/components/schemas/{name}"}

    told = {"content": {"application/json": {"schema": ref("Tree")}}}
    asked = {"content": {"application/json": {"schema": ref("Body")}}}
    tree = {"type": "object", "properties": {"word": ref("Word"), "parts": {"type": "array", "items": ref("Tree")}}}
    schemas = {"Word": WORDS, "Tree": tree, "Body": {"type": "object", "properties": {}}}
    operation = {"requestBody": asked, "responses": {"200": told, "4XX": {"description": "no"}}}
    found = types({"components": {"schemas": schemas}, "paths": {"/a": {"get": operation, "post": operation}}})
    assert [line for line in found.splitlines() if line.startswith("export")] == [
        "export interface Tree {",
        'export type Word = "new" | "";',
    ]
