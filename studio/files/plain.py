"""Documents as plain JSON values in the order of the file: what the format, the journal and the schema share.

Defaults are left out, a text with line breaks is a list of lines, geometry is a section of its own. Fields and kinds
that this version does not know come out as they came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

from studio.document.model import OfflineScript, Workflow

Plain = dict[str, Any]

FIRST = ("id", "kind", "key", "name", "description", "source", "target")
"""What stands first in an object, in this order; the rest in the order of the model."""

LAST = ("notes", "groups", "sample_input", "geometry")
ALWAYS = ("id", "kind", "name", "op")
"""What is written even if it is the default, because an object is unreadable without it."""

SINGLE_LINE = frozenset({"id", "kind", "key", "name", "op", "path", "source", "target", "call"})
"""Texts that are never written as lines."""

_TEXT = (str, str | None)
"""Only what must be a text may be written as lines: in a field of any JSON value a list would stay a list."""

GEOMETRY = "geometry"
_NEVER = object()
_SCRIPT_TEXTS = ("text", "echo", "when", "when_seen", "error")


def plain_workflow(workflow: Workflow) -> Plain:
    """A document as the file has it, without format and version."""
    data = plain_model(workflow, leave_out=("places",))
    data["id"], data["name"] = workflow.id, workflow.name
    unknown = data.pop(GEOMETRY, {})
    places = {i: plain_model(place) for i, place in sorted(workflow.places.items())}
    kept = unknown if isinstance(unknown, Mapping) else {}
    if places or kept:
        data[GEOMETRY] = {**({"places": places} if places else {}), **kept}
    return _in_order(data)


def plain_model(model: BaseModel, leave_out: tuple[str, ...] = ()) -> Plain:
    """One part of a document."""
    if isinstance(model, OfflineScript):
        return _plain_offline(model)
    data: Plain = {}
    values = model.__dict__
    for name, key, default, as_lines in _fields(type(model)):
        value = values[name]
        if value is default or name in leave_out or value == default:
            continue
        data[key] = lines_of(value) if as_lines and isinstance(value, str) else plain_value(value)
    data.update(model.__pydantic_extra__ or {})
    return _in_order(data)


@cache
def _fields(kind: type[BaseModel]) -> tuple[tuple[str, str, Any, bool], ...]:
    """Name, name in the file, default (or something that no value is, where it is always written), and whether a text
    is written as lines."""
    found = []
    for name, field in kind.model_fields.items():
        needed = field.is_required() or name in ALWAYS
        default = _NEVER if needed else field.get_default(call_default_factory=True)
        as_lines = name not in SINGLE_LINE and field.annotation in _TEXT
        found.append((name, field.alias or name, default, as_lines))
    return tuple(found)


def plain_value(value: Any) -> Any:
    """A value of a field; plain JSON values are passed through as they are."""
    if isinstance(value, Workflow):
        return plain_workflow(value)
    if isinstance(value, BaseModel):
        return plain_model(value)
    if isinstance(value, tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {key: plain_value(item) if isinstance(item, BaseModel) else item for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def lines_of(text: str) -> str | list[str]:
    """A text with line breaks as its lines."""
    return text.split("\n") if "\n" in text else text


def _in_order(data: Plain) -> Plain:
    first = [name for name in FIRST if name in data]
    last = [name for name in LAST if name in data]
    middle = [name for name in data if name not in FIRST and name not in LAST]
    return {name: data[name] for name in (*first, *middle, *last)}


def _plain_offline(script: OfflineScript) -> Plain:
    nodes = {node_id: _map_replies(entry, lines_of) for node_id, entry in script.nodes.items()}
    data: Plain = {"nodes": nodes} if nodes else {}
    if script.delay_ms:
        data["delay_ms"] = plain_value(script.delay_ms)
    return {**data, **(script.__pydantic_extra__ or {})}


def _map_replies(entry: Mapping[str, JsonValue], change: Any) -> Plain:
    replies = entry.get("replies")
    if not isinstance(replies, list):
        return dict(entry)
    return {**entry, "replies": [_map_reply(reply, change) for reply in replies]}


def _map_reply(reply: JsonValue, change: Any) -> JsonValue:
    if not isinstance(reply, dict):
        return reply
    return {key: change(value) if key in _SCRIPT_TEXTS else value for key, value in reply.items()}


def _joined(value: JsonValue) -> JsonValue:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(str(line) for line in value)
    return value


def document_data(data: Mapping[str, Any]) -> Plain:
    """The values that :class:`Workflow` validates, from those of the file; inner workflows too."""
    found = {name: value for name, value in data.items() if name != GEOMETRY}
    geometry = data.get(GEOMETRY)
    if isinstance(geometry, Mapping):
        if "places" in geometry:
            found["places"] = geometry["places"]
        unknown = {name: value for name, value in geometry.items() if name != "places"}
        if unknown:
            found[GEOMETRY] = unknown
    elif geometry is not None:
        found["places"] = geometry  # not an object: validation says so
    offline = found.get("offline")
    if isinstance(offline, Mapping) and isinstance(offline.get("nodes"), Mapping):
        nodes = {k: _map_replies(v, _joined) if isinstance(v, Mapping) else v for k, v in offline["nodes"].items()}
        found["offline"] = {**offline, "nodes": nodes}
    if isinstance(found.get("nodes"), list):
        found["nodes"] = [_node_data(node) for node in found["nodes"]]
    return found


def _node_data(node: Any) -> Any:
    if isinstance(node, Mapping) and node.get("kind") == "sub_workflow" and isinstance(node.get("embedded"), Mapping):
        return {**node, "embedded": document_data(node["embedded"])}
    return node
