"""The JSON Schema of workflow files, made from the models."""

from __future__ import annotations

from typing import Any

from studio.document.model import KNOWN_EDGES, KNOWN_NODES, Workflow
from studio.files.migrations import FORMAT, VERSION
from studio.files.plain import SINGLE_LINE

_TEXT: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def json_schema() -> dict[str, Any]:
    """Draft 2020-12. Fields and kinds that it does not name are allowed; texts may be lists of lines."""
    schema: dict[str, Any] = _adapted(Workflow.model_json_schema(by_alias=True))
    inner = schema["$defs"]["Workflow"]
    places = inner["properties"].pop("places")
    inner["properties"]["geometry"] = {"type": "object", "properties": {"places": places}}
    _only_unknown(schema["$defs"]["UnknownNode"], list(KNOWN_NODES))
    _only_unknown(schema["$defs"]["UnknownEdge"], list(KNOWN_EDGES))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Superstep Studio workflow",
        "type": "object",
        "required": ["format", "version"],
        "properties": {"format": {"const": FORMAT}, "version": {"const": VERSION}},
        "allOf": [{"$ref": "#/$defs/Workflow"}],
        "$defs": schema["$defs"],
    }


def _only_unknown(definition: dict[str, Any], known: list[str]) -> None:
    definition["properties"]["kind"] = {"type": "string", "not": {"enum": known}}


def _adapted(value: Any, name: str = "") -> Any:
    """Alternatives by kind as ``anyOf``, and a list of lines beside each text."""
    if isinstance(value, list):
        return [_adapted(item) for item in value]
    if not isinstance(value, dict):
        return value
    adapted = {("anyOf" if key == "oneOf" else key): _adapted(item, key) for key, item in value.items()}
    if name == "properties":
        return {key: _with_lines(key, item) for key, item in adapted.items()}
    return adapted


def _with_lines(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    if {"type": "string"} in schema.get("anyOf", ()) and name not in SINGLE_LINE:
        return {**schema, "anyOf": [*schema["anyOf"], _TEXT["anyOf"][1]]}
    if schema.get("type") != "string" or name in SINGLE_LINE or "enum" in schema or "const" in schema:
        return schema
    return {**{key: item for key, item in schema.items() if key != "type"}, **_TEXT}
