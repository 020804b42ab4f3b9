"""Every text of a document, with the way to it: what finding, replacing and renaming look at.

A path begins at the workflow (``("nodes", 3, "instructions")``); a :class:`Key` at its end is the name of an entry of a
JSON object, which is a text too (a property of a schema).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from studio.document.conditions import Condition, Rule
from studio.document.edits import Batch, Edit, SetFields, SetWorkflow
from studio.document.lines import default_id, leg_id
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanOutEdge,
    FunctionNode,
    HandoffEdge,
    HumanInputNode,
    JoinNode,
    Node,
    SubWorkflowNode,
    SwitchEdge,
    TemplateNode,
    Workflow,
)

Scope = Literal["names", "prompts", "code", "conditions", "texts"]
TYPE_VALUE = "Type in a condition"
"""Title of a text in a rule that is the name of a type."""
SCOPES: tuple[Scope, ...] = ("names", "prompts", "code", "conditions", "texts")


@dataclass(frozen=True, slots=True)
class Key:
    """The last step of a path: the name of an entry, not its value."""

    name: str


Step = str | int | Key
Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class TextSlot:
    """One text. ``place`` and ``field`` are what a selection and the inspector call it ("" for the workflow);
    ``inside``: names of the sub-workflows around it, outermost first; ``title`` is what a person calls it."""

    path: Path
    scope: Scope
    text: str
    place: str
    field: str
    title: str
    inside: tuple[str, ...] = ()


class CannotHold(ValueError):
    """A text does not fit where it should go; the message is a sentence."""


def text_slots(workflow: Workflow) -> Iterator[TextSlot]:
    """All texts in reading order: the workflow, its nodes, lines, notes, groups, declarations; embedded workflows at
    their node."""
    yield TextSlot(("name",), "names", workflow.name, "", "name", "Name of the workflow")
    yield TextSlot(("description",), "texts", workflow.description, "", "description", "Description")
    for index, node in enumerate(workflow.nodes):
        yield from _node(node, ("nodes", index))
    for index, edge in enumerate(workflow.edges):
        yield from _edge(edge, ("edges", index))
    for index, note in enumerate(workflow.notes):
        yield TextSlot(("notes", index, "text"), "texts", note.text, note.id, "text", "Note")
    for index, group in enumerate(workflow.groups):
        yield TextSlot(("groups", index, "name"), "names", group.name, group.id, "name", "Name")
    yield from _declarations(workflow)
    yield TextSlot(("sample_input",), "texts", workflow.sample_input, "", "sample_input", "Sample input")


def _node(node: Node, path: Path) -> Iterator[TextSlot]:
    def slot(field: str, scope: Scope, title: str) -> TextSlot:
        return TextSlot((*path, field), scope, getattr(node, field) or "", node.id, field, title)

    yield slot("name", "names", "Name")
    match node:
        case AgentNode():
            yield slot("instructions", "prompts", "Instructions")
            yield slot("model", "texts", "Model")
            yield slot("context_filter", "code", "Filter")
            yield slot("session", "texts", "Session")
            yield from _list(node.tools, (*path, "tools"), node.id, "tools", "Tool")
            if node.output_schema is not None:
                yield from _json(node.output_schema, (*path, "output_schema"), node.id, "output_schema", "Reply schema")
        case FunctionNode():
            yield slot("body", "code", "Code")
            yield slot("call", "code", "Function")
            for field, title in (("accepts", "Accepts"), ("sends", "Sends"), ("yields", "Yields")):
                yield slot(field, "texts", title)
        case HumanInputNode():
            yield slot("question", "prompts", "Question")
            yield slot("answer_type", "texts", "Answer type")
            yield from _list(node.choices, (*path, "choices"), node.id, "choices", "Choice")
        case TemplateNode():
            yield slot("text", "prompts", "Text")
        case JoinNode():
            yield slot("body", "code", "Code")
            yield slot("separator", "texts", "Between the texts")
        case SubWorkflowNode(embedded=Workflow() as inner):
            yield from _inside(node, inner, path)
        case _:
            pass
    yield from _others(node, path, node.id)
    yield slot("description", "texts", "Note")


_SEEN = {
    *("id", "kind", "name", "description", "instructions", "model", "context_filter", "session", "tools"),
    *("output_schema", "body", "call", "accepts", "sends", "yields", "question", "answer_type", "choices", "text"),
    *("separator", "embedded"),
}
"""Fields of nodes that have a title of their own above."""
_SCOPES_OF: Mapping[str, Scope] = {
    "instructions": "prompts",
    "description": "prompts",
    "prompt": "prompts",
    "name": "names",
    "body": "code",
    "call": "code",
}


def _others(model: BaseModel, path: Path, place: str) -> Iterator[TextSlot]:
    """Free texts in the remaining fields of a node, at any depth; words of a fixed list are none."""
    for name in type(model).model_fields:
        if len(path) > 2 or name not in _SEEN:
            field = str(path[2]) if len(path) > 2 else name
            yield from _value(getattr(model, name), (*path, name), place, field, type(model).model_fields[name])


def _value(value: object, path: Path, place: str, field: str, info: FieldInfo) -> Iterator[TextSlot]:
    name = next(str(step) for step in reversed(path) if isinstance(step, str))
    title = f"{field.replace('_', ' ').capitalize()}"
    if isinstance(value, BaseModel):
        yield from _others(value, path, place)
    elif isinstance(value, tuple):
        for index, inner in enumerate(value):
            yield from _value(inner, (*path, index), place, field, info)
    elif isinstance(value, str) and name not in ("id", "kind") and "Literal[" not in str(info.annotation):
        yield TextSlot(path, _SCOPES_OF.get(name, "texts"), value, place, field, title)
    elif isinstance(value, Mapping):
        yield from _json(value, path, place, field, title)


def _inside(node: SubWorkflowNode, inner: Workflow, path: Path) -> Iterator[TextSlot]:
    for found in text_slots(inner):
        way = (*path, "embedded", *found.path)
        yield replace(found, path=way, place=node.id, field="", inside=(node.name, *found.inside))


def _edge(edge: Edge, path: Path) -> Iterator[TextSlot]:
    match edge:
        case DirectEdge():
            yield from _condition(edge.condition, (*path, "condition"), edge.id)
            yield TextSlot((*path, "label"), "texts", edge.label, edge.id, "label", "Label")
        case SwitchEdge():
            yield TextSlot((*path, "name"), "names", edge.name, edge.id, "name", "Name")
            for index, case in enumerate(edge.cases):
                yield from _condition(case.condition, (*path, "cases", index, "condition"), case.id)
                yield TextSlot((*path, "cases", index, "label"), "texts", case.label, case.id, "label", "Label")
            place = default_id(edge.id)
            yield TextSlot((*path, "default_label"), "texts", edge.default_label, place, "default_label", "Label")
        case FanOutEdge():
            yield TextSlot((*path, "name"), "names", edge.name, edge.id, "name", "Name")
            for target, condition in (edge.selection or {}).items():
                yield from _condition(condition, (*path, "selection", target), leg_id(edge.id, target))
        case HandoffEdge():
            yield TextSlot((*path, "reason"), "prompts", edge.reason, edge.id, "reason", "Reason")
        case _:
            pass


def _condition(condition: Condition | None, path: Path, place: str) -> Iterator[TextSlot]:
    if condition is None:
        return
    if condition.kind == "rules" and condition.rule is not None:
        yield from _rule(condition.rule, (*path, "rule"), place)
    elif condition.kind == "expression":
        yield TextSlot((*path, "expression"), "conditions", condition.expression, place, "condition", "Condition")
    elif condition.kind == "python":
        yield TextSlot((*path, "body"), "conditions", condition.body, place, "condition", "Condition")


def _rule(rule: Rule, path: Path, place: str) -> Iterator[TextSlot]:
    for index, inner in enumerate(rule.rules):
        yield from _rule(inner, (*path, "rules", index), place)
    if not rule.rules and rule.op not in ("always", "and", "or", "not"):
        if rule.op != "type_is":
            yield TextSlot((*path, "path"), "conditions", rule.path, place, "condition", "Condition")
        title = TYPE_VALUE if rule.op == "type_is" else "Condition"
        values = rule.value if isinstance(rule.value, list) else [rule.value]
        for index, value in enumerate(values):
            if isinstance(value, str):
                at: Path = (*path, "value", index) if isinstance(rule.value, list) else (*path, "value")
                yield TextSlot(at, "conditions", value, place, "condition", title)


def _list(values: tuple[str, ...], path: Path, place: str, field: str, title: str) -> Iterator[TextSlot]:
    for index, value in enumerate(values):
        yield TextSlot((*path, index), "texts", value, place, field, title)


def _declarations(workflow: Workflow) -> Iterator[TextSlot]:
    for index, declared in enumerate(workflow.types):
        path: Path = ("types", index)
        yield TextSlot((*path, "name"), "names", declared.name, "", "types", "Type")
        yield from _json(declared.json_schema, (*path, "json_schema"), "", "types", "Type")
    for index, key in enumerate(workflow.state):
        yield TextSlot(("state", index, "key"), "names", key.key, "", "state", "State key")
        yield TextSlot(("state", index, "type"), "texts", key.type, "", "state", "Type of a state key")
        yield from _json(key.initial, ("state", index, "initial"), "", "state", "First value")
    for index, tool in enumerate(workflow.tools):
        path = ("tools", index)
        yield TextSlot((*path, "name"), "names", tool.name, "", "tools", "Tool")
        yield TextSlot((*path, "description"), "prompts", tool.description, "", "tools", "What a tool does")
        yield TextSlot((*path, "call"), "code", tool.call, "", "tools", "Function of a tool")
        yield TextSlot((*path, "source"), "code", tool.source, "", "tools", "Code of a tool")
        yield from _json(tool.parameters, (*path, "parameters"), "", "tools", "Parameters of a tool")
        yield from _json(tool.result_schema, (*path, "result_schema"), "", "tools", "Result of a tool")
    for index, server in enumerate(workflow.mcp_servers):
        for field, title in (("command", "Program"), ("url", "Address")):
            text = getattr(server, field)
            yield TextSlot(("mcp_servers", index, field), "texts", text, "", "mcp_servers", f"{title} of an MCP server")
    for index, module in enumerate(workflow.modules):
        yield TextSlot(("modules", index, "name"), "names", module.name, "", "modules", "Module")
        yield TextSlot(("modules", index, "source"), "code", module.source, "", "modules", "Module")
    for node_id, script in workflow.offline.nodes.items():
        yield from _json(script, ("offline", "nodes", node_id), "", "offline", "Offline script")


_WORDS_OF_A_SCHEMA = frozenset({"type", "format", "$schema", "$ref"})
"""Entries whose value is a word of JSON Schema, not of a person."""


def _json(value: object, path: Path, place: str, field: str, title: str) -> Iterator[TextSlot]:
    """Texts inside plain JSON; of a schema, the names of properties too."""
    if isinstance(value, str):
        yield TextSlot(path, "texts", value, place, field, title)
    elif isinstance(value, Mapping):
        named = bool(path) and path[-1] == "properties"
        for name, inner in value.items():
            if named:
                yield TextSlot((*path, Key(str(name))), "names", str(name), place, field, title)
            if name not in _WORDS_OF_A_SCHEMA or named:
                yield from _json(inner, (*path, str(name)), place, field, title)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _json(inner, (*path, index), place, field, title)


# ------------------------------------------------------------------------------------------------- other texts


def put_texts(workflow: Workflow, texts: Mapping[Path, str]) -> Edit:
    """The edit that puts texts where their paths lead. Raises :class:`CannotHold` for an entry whose name is taken."""
    grown: dict[tuple[str, int | None], Any] = {}
    fields: dict[tuple[str, int | None], set[str]] = {}
    # Names of entries last, and deepest first: until then every path leads where it led.
    for path in sorted(texts, key=lambda p: (isinstance(p[-1], Key), -len(p))):
        head = str(path[0])
        index = path[1] if head in _ITEMS and isinstance(path[1], int) else None
        at = (head, index)
        now = grown.get(at, workflow if index is None else getattr(workflow, head)[index])
        grown[at] = _put(now, path if index is None else path[2:], texts[path])
        fields.setdefault(at, set()).add(head if index is None else str(path[2]))
    edits: list[Edit] = []
    for at, item in grown.items():
        values = {name: getattr(item, name) for name in fields[at]}
        edits.append(SetWorkflow(values) if at[1] is None else SetFields(at[0], item.id, values))
    return edits[0] if len(edits) == 1 else Batch(tuple(edits))


_ITEMS = ("nodes", "edges", "notes", "groups")


def _put(holder: Any, path: Path, text: str) -> Any:
    """A copy of a frozen thing with another text in it."""
    step, rest = path[0], path[1:]
    if isinstance(step, Key):
        return _renamed(holder, step.name, text)
    if isinstance(holder, BaseModel):
        inner = getattr(holder, str(step))
        made: Any = _put(inner, rest, text) if rest else text
        if made == "" and not rest and _may_be_none(holder, str(step)):
            made = None
        return holder.model_copy(update={str(step): made})
    if isinstance(holder, Mapping):
        return {name: (_put(v, rest, text) if rest else text) if name == step else v for name, v in holder.items()}
    items = [(_put(v, rest, text) if rest else text) if i == step else v for i, v in enumerate(holder)]
    return tuple(items) if isinstance(holder, tuple) else items


def _may_be_none(model: BaseModel, field: str) -> bool:
    found = type(model).model_fields.get(field)
    return found is not None and found.annotation == str | None


def _renamed(entries: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    if new == old:
        return dict(entries)
    if not new or new in entries:
        raise CannotHold(f"“{new}” cannot be the new name of “{old}”: it is taken." if new else "A name is needed.")
    return {new if name == old else name: value for name, value in entries.items()}
