"""What completion offers in prompts, templates, code and expressions of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from studio.document.lines import line, pairs
from studio.document.model import AgentNode, FunctionNode, HumanInputNode, RunnerNode, TemplateNode, Workflow
from studio.document.types import schema
from studio.ui.widgets.completion import Offer, Offers, beginning

_FIELD = re.compile(r"\{([\w.]*)\Z")
_STATE_CALL = re.compile(r"\b(?:get_state|set_state)\(\s*[\"']([\w.-]*)\Z")
_STATE_ITEM = re.compile(r"\bstate\[[\"']([\w.-]*)\Z")
_ATTRIBUTE = re.compile(r"\b(ctx|state)\.(\w*)\Z")
_WORD = re.compile(r"(?<![\w.\"'])([A-Za-z_][\w.]*)\Z")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
CTX = (
    "get_sent_messages",
    "get_source_executor_id",
    "get_state",
    "get_yielded_outputs",
    "is_streaming",
    "request_info",
    "send_message",
    "set_state",
    "source_executor_ids",
    "yield_output",
)


def fields_of(found: object, depth: int = 0) -> Iterator[str]:
    """The dotted paths of the properties of a JSON Schema, three deep."""
    properties = found.get("properties") if isinstance(found, Mapping) else None
    if isinstance(properties, Mapping) and depth < 3:
        for name, inner in properties.items():
            yield str(name)
            yield from (f"{name}.{p}" for p in fields_of(inner, depth + 1))


def value_fields(workflow: Workflow, source: str | None) -> tuple[str, ...]:
    """The paths under ``value`` of what a node sends."""
    node = workflow.node(source) if source is not None else None
    if isinstance(node, AgentNode):
        return tuple(fields_of(node.output_schema))
    if isinstance(node, FunctionNode):
        return tuple(fields_of(schema(workflow, node.sends)))
    return ()


def state_keys(workflow: Workflow) -> tuple[str, ...]:
    """The declared keys of shared state."""
    return tuple(key.key for key in workflow.state if key.key)


def _values_before(workflow: Workflow, item: str) -> tuple[str, ...]:
    """The paths under ``value`` of what may come to a node, or over a line."""
    node = workflow.node(item)
    if node is not None:
        sources = [s for s, t, _ in pairs(workflow) if t == item]
    else:
        found = line(workflow, item)
        edge = workflow.edge(found.edge) if found is not None else None
        sources = [str(getattr(edge, "source", None) or "")]
    return tuple(dict.fromkeys(f"value.{p}" for s in sources for p in value_fields(workflow, s)))


def template_offers(workflow: Callable[[], Workflow], item: str) -> Offers:
    """Fields in braces."""

    def offers(before: str) -> Offer | None:
        found = _FIELD.search(before)
        if found is None:
            return None
        now = workflow()
        words = ("text", "value", *_values_before(now, item), *(f"state.{k}" for k in state_keys(now)))
        return beginning(found[1], words, "}")

    return offers


def code_offers(workflow: Callable[[], Workflow], names: tuple[str, ...]) -> Offers:
    """State keys in their calls, what ``ctx`` has, and the names that the code is given."""

    def offers(before: str) -> Offer | None:
        for pattern in (_STATE_CALL, _STATE_ITEM):
            found = pattern.search(before)
            if found is not None:
                return beginning(found[1], state_keys(workflow()))
        found = _ATTRIBUTE.search(before)
        if found is not None:
            if found[1] not in names and found[1] != "state":
                return None
            return beginning(found[2], CTX if found[1] == "ctx" else state_keys(workflow()))
        found = _WORD.search(_STRING.sub("", before))
        if found is None or len(found[1]) < 2 or "." in found[1]:
            return None
        return beginning(found[1], (*names, "result"))

    return offers


def expression_offers(workflow: Callable[[], Workflow], item: str) -> Offers:
    """Names and paths that a condition can look at."""

    def offers(before: str) -> Offer | None:
        plain = _STRING.sub("", before)
        if plain.count('"') % 2 or plain.count("'") % 2:
            return None
        found = _WORD.search(plain)
        if found is None:
            return None
        now = workflow()
        found_line = line(now, item)
        keys = state_keys(now) if found_line is None or found_line.kind != "direct" else ()
        words = ("text", "type", "value", *_values_before(now, item), *(f"state.{k}" for k in keys))
        return beginning(found[1], words)

    return offers


def names_in(workflow: Workflow, item: str, field: str) -> tuple[str, ...]:
    """The names that code in a field is given."""
    node = workflow.node(item)
    if field == "context_filter":
        return ("messages",)
    if isinstance(node, AgentNode | RunnerNode):
        return ("context", "call_next", "messages", "session_id")
    return ("data", "ctx")


def has_fields(workflow: Workflow, item: str) -> bool:
    """Whether fields in braces are filled in the texts of a node."""
    return isinstance(workflow.node(item), TemplateNode | HumanInputNode)
