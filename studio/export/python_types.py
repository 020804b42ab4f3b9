"""Types of a document as Python annotations of exported code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from studio.document.model import TypeDecl, Workflow
from studio.document.types import WITH_TEXT, item_type, split
from studio.export.source import FRAMEWORK, SUPPORT, TURNS, Module, docstring, literal

_PLAIN = {
    "text": "str",
    "integer": "int",
    "number": "float | int",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "list": "list[Any]",
}
_MESSAGES = {
    "message": "Message",
    "messages": "list[Message]",
    "request": "AgentExecutorRequest",
    "response": "AgentExecutorResponse",
    "reply": "AgentResponse",
    "content": "Content",
}
_JSON = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}


def sent(workflow: Workflow, module: Module, written: str | None) -> str:
    """The annotation of what is sent or yielded; ``Never`` for nothing."""
    names = split(written or "")
    if not names:
        return "Never"
    return " | ".join(dict.fromkeys(_one(workflow, module, name) for name in names))


def taken(workflow: Workflow, module: Module, written: str) -> str:
    """The annotation of what a handler takes; ``text`` is everything with a text."""
    names: list[str] = []
    given = split(written)
    for name in given:
        if name == "text":
            module.need(SUPPORT, "WithText")
            names.append("WithText")
        elif not ("text" in given and name in (*WITH_TEXT, "reply")):
            names.append(_one(workflow, module, name))
    return " | ".join(dict.fromkeys(names)) or "Any"


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
        if "Any" in _PLAIN[name]:
            module.need("typing", "Any")
        return _PLAIN[name]
    if name in _MESSAGES:
        module.need(FRAMEWORK, _MESSAGES[name].removeprefix("list[").rstrip("]"))
        return _MESSAGES[name]
    if name == "turn_token":
        module.need(TURNS, "TurnToken")
        return "TurnToken"
    if any(declared.name == name for declared in workflow.types):
        module.need(".types", name)
        return name
    module.need("typing", "Any")
    return "Any"


def types_module(workflow: Workflow, depth: int = 0) -> Module | None:
    """``types.py``: a data class per declared type, registered for checkpoints; None if there are none."""
    if not workflow.types:
        return None
    module = Module("Types of the messages.", depth)
    module.need("dataclasses", "dataclass")
    module.need(FRAMEWORK, "register_checkpoint_type")
    module.blocks += [_data_class(module, declared) for declared in workflow.types]
    module.blocks.append("\n".join(f"register_checkpoint_type({declared.name})" for declared in workflow.types))
    return module


def _data_class(module: Module, declared: TypeDecl) -> str:
    properties = declared.json_schema.get("properties", {})
    required = declared.json_schema.get("required", [])
    fields: Mapping[str, JsonValue] = properties if isinstance(properties, dict) else {}
    needed: Sequence[JsonValue] = required if isinstance(required, list) else ()
    lines = [f"# type: {declared.name}", "@dataclass", f"class {declared.name}:"]
    described = declared.json_schema.get("description")
    if isinstance(described, str) and described.strip():
        lines += [docstring(described, 1), ""]
    bare = {name for name, schema in fields.items() if name in needed and "default" not in _object(schema)}
    ordered = sorted(fields.items(), key=lambda item: item[0] not in bare)
    for name, schema in ordered:
        written = _json_annotation(module, schema)
        if name in bare:
            lines.append(f"    {name}: {written}")
        else:
            optional = "" if name in needed and _object(schema).get("default") is not None else " | None"
            lines.append("    " + _default(module, schema, f"{name}: {written}{optional} = "))
    return "\n".join(lines if ordered else [*lines, "    pass"])


def _object(schema: JsonValue) -> Mapping[str, JsonValue]:
    return schema if isinstance(schema, dict) else {}


def _json_annotation(module: Module, schema: JsonValue) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    written = _JSON.get(kind, "object") if isinstance(kind, str) else "object"
    if "Any" in written:
        module.need("typing", "Any")
    return written


def _default(module: Module, schema: JsonValue, before: str) -> str:
    default = schema.get("default") if isinstance(schema, dict) else None
    if isinstance(default, list | dict):
        module.need("dataclasses", "field")
        return literal(default, 1, f"{before}field(default_factory=lambda: ", ")")
    return literal(default, 1, before)
