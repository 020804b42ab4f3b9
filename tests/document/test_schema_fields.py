"""A schema is a list of fields and back; what a list cannot say is left as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio.document.schema_fields import SchemaField, fields_of_schema, schema_of_fields

SCORE = {
    "type": "object",
    "title": "Score",
    "properties": {
        "score": {"type": "integer", "minimum": 0, "description": "From 0 to 10."},
        "kind": {"type": "string", "enum": ["good", "bad"]},
        "words": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "all": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
        "odd": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["score", "kind"],
}


def test_every_type() -> None:
    fields = fields_of_schema(SCORE)
    assert fields is not None
    assert [(f.name, f.type, f.required) for f in fields] == [
        ("score", "integer", True),
        ("kind", "choice", True),
        ("words", "texts", False),
        ("who", "object", False),
        ("all", "objects", False),
        ("odd", "other", False),
    ]
    assert fields[0].description == "From 0 to 10."
    assert fields[1].options == ("good", "bad")
    assert [(f.name, f.required) for f in fields[3].fields] == [("name", True)]
    assert schema_of_fields(fields, SCORE) == SCORE, "what a list does not show is kept"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "object", "anyOf": []},
        {"type": "object", "properties": {}, "$defs": {}},
        {"type": "object", "properties": {}, "required": ["gone"]},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
    ],
)
def test_what_a_list_cannot_say(schema: dict[str, Any]) -> None:
    assert fields_of_schema(schema) is None


def test_another_type_drops_what_belongs_to_the_old_one() -> None:
    fields = fields_of_schema(SCORE)
    assert fields is not None
    changed = SchemaField("score", "text", raw=fields[0].raw)
    assert schema_of_fields([changed])["properties"] == {"score": {"type": "string"}}


leaves = st.sampled_from(["text", "integer", "number", "boolean", "texts", "numbers"])
names = st.text(min_size=1, max_size=6)
simple = st.builds(SchemaField, name=names, type=leaves, required=st.booleans(), description=names)
choices = st.builds(
    SchemaField,
    name=names,
    type=st.just("choice"),
    options=st.lists(names, max_size=3).map(tuple),
    required=st.booleans(),
)
nested = st.builds(
    SchemaField,
    name=names,
    type=st.sampled_from(["object", "objects"]),
    fields=st.lists(simple | choices, max_size=3, unique_by=lambda f: f.name).map(tuple),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(simple | choices | nested, max_size=4, unique_by=lambda f: f.name))
def test_there_and_back(fields: list[SchemaField]) -> None:
    schema = schema_of_fields(fields)
    back = fields_of_schema(schema)
    assert back is not None
    assert schema_of_fields(back, schema) == schema
    assert [(f.name, f.type, f.required, f.options) for f in back] == [
        (f.name, f.type, f.required, f.options) for f in fields
    ]
