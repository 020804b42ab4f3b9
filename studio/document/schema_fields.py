"""A JSON Schema of an object as a list of fields, and back. What a list cannot say is kept as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import JsonValue

FieldType = Literal["text", "integer", "number", "boolean", "choice", "texts", "numbers", "object", "objects", "other"]
"""``object`` has fields of its own, ``objects`` is a list of such; ``other``: only JSON can say it."""

_PLAIN: Mapping[str, FieldType] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_WORDS = {kind: word for word, kind in _PLAIN.items()}
_KNOWN = frozenset(("type", "properties", "required", "description", "title", "additionalProperties"))


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One property. ``options`` of a choice; ``fields`` of an object or of the objects of a list; ``raw``: the schema
    that it was made from, whose other entries are kept."""

    name: str
    type: FieldType = "text"
    required: bool = True
    description: str = ""
    options: tuple[str, ...] = ()
    fields: tuple[SchemaField, ...] = ()
    raw: Mapping[str, Any] | None = None


def fields_of_schema(schema: Mapping[str, Any]) -> tuple[SchemaField, ...] | None:
    """The properties in order; None if the schema says more than a list of fields can."""
    properties = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not set(schema) <= _KNOWN or not isinstance(properties, Mapping):
        return None
    if not isinstance(schema.get("additionalProperties", False), bool):
        return None
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(map(str, required)) <= set(properties):
        return None
    return tuple(_field(str(name), inner, name in required) for name, inner in properties.items())


def _field(name: str, inner: object, required: bool) -> SchemaField:
    if not isinstance(inner, Mapping):
        return SchemaField(name, "other", required, raw={})
    described = str(inner.get("description", ""))
    kind, options, fields = _type_of(inner)
    return SchemaField(name, kind, required, described, options, fields, dict(inner))


def _type_of(inner: Mapping[str, Any]) -> tuple[FieldType, tuple[str, ...], tuple[SchemaField, ...]]:
    kind, options = inner.get("type"), inner.get("enum")
    if kind == "string" and isinstance(options, list) and all(isinstance(o, str) for o in options):
        return "choice", tuple(options), ()
    if isinstance(kind, str) and kind in _PLAIN:
        return _PLAIN[kind], (), ()
    if kind == "object" and (fields := fields_of_schema(inner)) is not None:
        return "object", (), fields
    items = inner.get("items")
    if kind == "array" and isinstance(items, Mapping):
        if items == {"type": "string"}:
            return "texts", (), ()
        if items == {"type": "number"}:
            return "numbers", (), ()
        if items.get("type") == "object" and (fields := fields_of_schema(items)) is not None:
            return "objects", (), fields
    return "other", (), ()


def schema_of_fields(fields: Iterable[SchemaField], kept: Mapping[str, Any] | None = None) -> dict[str, JsonValue]:
    """The schema of an object with these fields; title, description and the like of ``kept`` stay. Of two fields with
    one name the last counts."""
    made: dict[str, Any] = {k: v for k, v in (kept or {}).items() if k not in ("properties", "required")}
    made = {"type": "object", **made}
    listed = list(fields)
    made["properties"] = {field.name: _schema(field) for field in listed}
    required = [name for name in made["properties"] if any(f.name == name and f.required for f in listed)]
    if required:
        made["required"] = required
    return cast("dict[str, JsonValue]", made)


def _schema(field: SchemaField) -> dict[str, Any]:
    raw = dict(field.raw or {})
    if field.type == "other":
        return raw
    same = bool(field.raw) and _type_of(raw)[0] == field.type
    made = raw if same else {}
    made.pop("description", None)
    match field.type:
        case "choice":
            made |= {"type": "string", "enum": list(field.options)}
        case "texts" | "numbers":
            made |= {"type": "array", "items": {"type": "string" if field.type == "texts" else "number"}}
        case "object":
            made = schema_of_fields(field.fields, made)
        case "objects":
            made |= {"type": "array", "items": schema_of_fields(field.fields, made.get("items"))}
        case _:
            made |= {"type": _WORDS[field.type]}
    if field.description:
        made["description"] = field.description
    return made
