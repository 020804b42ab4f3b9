"""Types of a document as Python annotations of exported code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from studio.document.model import TypeDecl, Workflow
from studio.document.types import WITH_TEXT, item_type, split
from studio.export.source import Module, literal

FRAMEWORK = "agent_framework"
_PLAIN = {"text": "str", "integer": "int", "number": "float | int", "boolean": "bool", "object": "dict", "list": "list"}
_MESSAGES = {
    "message": "Message",
    "messages": "list[Message]",
    "request": "AgentExecutorRequest",
    "response": "AgentExecutorResponse",
    "reply": "AgentResponse",
}
_JSON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def sent(workflow: Workflow, module: Module, written: str | None) -> str:
    """The annotation of what is sent or yielded; ``Never`` for nothing."""
    names = split(written or "")
    if not names:
        module.need("typing", "Never")
        return "Never"
    return " | ".join(dict.fromkeys(_one(workflow, module, name) for name in names))


def taken(workflow: Workflow, module: Module, written: str) -> str:
    """The annotation of what a handler takes; ``text`` is everything with a text."""
    names: list[str] = []
    for name in split(written):
        names += (*WITH_TEXT, "reply") if name == "text" else (name,)
    return " | ".join(dict.fromkeys(_one(workflow, module, name) for name in names))


def named_beside_text(workflow: Workflow, module: Module, written: str) -> str:
    """A class expression of the types that a function names beside ``text``: it gets those as they are. "" for none."""
    names = [name for name in split(written) if name != "text"]
    if "any" in names:
        return "object"
    return " | ".join(dict.fromkeys(_one(workflow, module, name).partition("[")[0] for name in names))


def _one(workflow: Workflow, module: Module, name: str) -> str:
    inner = item_type(name)
    if inner is not None:
        return f"list[{_one(workflow, module, inner)}]"
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _MESSAGES:
        module.need(FRAMEWORK, _MESSAGES[name].removeprefix("list[").rstrip("]"))
        return _MESSAGES[name]
    if any(declared.name == name for declared in workflow.types):
        module.need(".types", name)
        return name
    module.need("typing", "Any")
    return "Any"


def types_module(workflow: Workflow) -> str | None:
    """``types.py``: a data class per declared type, registered for checkpoints; None if there are none."""
    if not workflow.types:
        return None
    module = Module("Types of the messages.")
    module.need("dataclasses", "dataclass")
    module.need(FRAMEWORK, "register_checkpoint_type")
    module.blocks += [_data_class(module, declared) for declared in workflow.types]
    names = ", ".join(declared.name for declared in workflow.types)
    comma = "," if len(workflow.types) == 1 else ""
    module.blocks.append(f"for _type in ({names}{comma}):\n    register_checkpoint_type(_type)")
    return module.text()


def _data_class(module: Module, declared: TypeDecl) -> str:
    properties = declared.json_schema.get("properties", {})
    required = declared.json_schema.get("required", [])
    fields: Mapping[str, JsonValue] = properties if isinstance(properties, dict) else {}
    needed: Sequence[JsonValue] = required if isinstance(required, list) else ()
    lines = [f"# type: {declared.name}", "@dataclass", f"class {declared.name}:"]
    ordered = sorted(fields.items(), key=lambda item: item[0] not in needed)
    for name, schema in ordered:
        written = _json_annotation(schema)
        default = "" if name in needed else f" | None = {_default(module, schema)}"
        lines.append(f"    {name}: {written}{default}")
    return "\n".join(lines if ordered else [*lines, "    pass"])


def _json_annotation(schema: JsonValue) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return _JSON.get(kind, "object") if isinstance(kind, str) else "object"


def _default(module: Module, schema: JsonValue) -> str:
    default = schema.get("default") if isinstance(schema, dict) else None
    if isinstance(default, list | dict):
        module.need("dataclasses", "field")
        return f"field(default_factory=lambda: {literal(default)})"
    return literal(default)
