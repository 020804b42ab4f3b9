"""Names of types in a document, and what each node takes, sends and yields.

A type is written as a name: one of :data:`BUILT_IN`, a name of ``workflow.types``, ``list[name]``, or several of these
joined by ``|``. Handlers take things apart by these names:

=========== ======================================================================================
``text``    a text. **As something that a function, template, join or human input accepts** it means
            *anything with a text*: a text, a message, an agent's response; ``data`` is then that text.
``number``  a float, an ``integer`` too
``object``  a plain JSON object
``message`` one chat message; ``messages`` a list of them
``request`` messages for an agent with or without a turn (AgentExecutorRequest)
``response`` the reply of an agent node with its conversation (AgentExecutorResponse)
``reply``    the reply alone (AgentResponse): what an agent yields, so what a sub-workflow sends that ends with one
``turn_token`` lets an agent with the turn-token host take its turn
``content``  one part of a message: an approval or a call, where such an agent sends them on, and their answers
``any``     everything; types are then not checked
``nothing`` no value: a function that sends nothing
=========== ======================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from studio.document.model import (
    AgentNode,
    FunctionNode,
    GenericNode,
    HumanInputNode,
    JoinNode,
    Node,
    RunnerNode,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)

Schema = Mapping[str, JsonValue]

BUILT_IN: Mapping[str, Schema] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "message": {"type": "object", "title": "Message"},
    "messages": {"type": "array", "items": {"type": "object", "title": "Message"}},
    "request": {"type": "object", "title": "Agent request"},
    "response": {"type": "object", "title": "Agent response"},
    "turn_token": {"type": "object", "title": "Turn token"},
    "content": {"type": "object", "title": "Content"},
    "any": {},
}
NOTHING = "nothing"
CHOICE = "choice"
"""As the answer type of a human input: one of the offered texts."""
WITH_TEXT = ("text", "message", "messages", "response", "reply")
"""What a node that accepts ``text`` takes."""

RUNNABLE = frozenset({"agent", "runner", "function", "human_input", "template", "sub_workflow", "join", "pass"})
"""Node kinds that this version can run; the others are shown, checked lightly and saved back."""

_LIST = re.compile(r"list\[(.+)\]\Z")


def split(written: str) -> tuple[str, ...]:
    """The alternatives of a written type: ``"text | list[Score]"`` -> ``("text", "list[Score]")``. Nothing: empty."""
    names = tuple(n for n in (part.strip() for part in written.split("|")) if n)
    return tuple(n for n in names if n != NOTHING)


def item_type(name: str) -> str | None:
    """The type of the items of ``list[name]``, else None."""
    found = _LIST.match(name)
    return found.group(1).strip() if found else None


def type_names(workflow: Workflow) -> tuple[str, ...]:
    """Every name that can be chosen as a type, built-in ones first."""
    return (*BUILT_IN, *(t.name for t in workflow.types))


def unknown_types(workflow: Workflow, written: str) -> tuple[str, ...]:
    """The names in a written type that neither this program nor the document declares."""
    known = set(type_names(workflow))
    return tuple(n for n in (_innermost(part) for part in split(written)) if n not in known)


def _innermost(name: str) -> str:
    inner = item_type(name)
    return name if inner is None else _innermost(inner)


def schema(workflow: Workflow, written: str) -> dict[str, JsonValue]:
    """The JSON Schema of a written type. Unknown names allow everything."""
    found = [_schema_of(workflow, name) for name in split(written)]
    if len(found) == 1:
        return found[0]
    alternatives: list[JsonValue] = [*found]
    return {"anyOf": alternatives} if found else {}


def _schema_of(workflow: Workflow, name: str) -> dict[str, JsonValue]:
    inner = item_type(name)
    if inner is not None:
        return {"type": "array", "items": _schema_of(workflow, inner)}
    declared = next((t.json_schema for t in workflow.types if t.name == name), None)
    return dict(declared if declared is not None else BUILT_IN.get(name, {}))


def _taken(written: str) -> tuple[str, ...]:
    """What a node with this setting takes: ``text`` stands for everything with a text."""
    names = split(written)
    return tuple(dict.fromkeys(n for name in names for n in (WITH_TEXT if name == "text" else (name,))))


def accepts(node: Node) -> tuple[str, ...]:
    """The types of messages that a node takes. Empty: not declared, so edges into it are not checked."""
    match node:
        case AgentNode(host="turn_token"):
            return ("text", "message", "messages", "turn_token", *_intercepted(node))
        case AgentNode() | RunnerNode():
            return ("text", "message", "messages", "list[text]", "request", "response")
        case FunctionNode():
            return _taken(node.accepts)
        case SubWorkflowNode(embedded=Workflow() as inner):
            start = inner.node(inner.start) if inner.start else None
            return accepts(start) if start is not None else ()
        case HumanInputNode() | TemplateNode() | JoinNode() | GenericNode(kind="pass" | "end" | "output"):
            return ("any",)
    return ()


def _intercepted(node: AgentNode) -> tuple[str, ...]:
    """What a turn-token agent exchanges with other nodes in place of asking outside the workflow."""
    options = node.turn_token
    return (
        ("content",) if options.intercept_user_input_requests or options.intercept_unterminated_function_calls else ()
    )


def sends(node: Node) -> tuple[str, ...]:
    """The types of messages that a node sends. Empty: not declared or nothing, so edges out of it are not checked."""
    match node:
        case AgentNode(host="turn_token"):
            return ("messages", "turn_token", *_intercepted(node))
        case AgentNode() | RunnerNode():
            return ("response",)
        case FunctionNode():
            return split(node.sends)
        case HumanInputNode():
            if node.send == "input_and_answer":
                return ("object",)
            return ("text",) if node.answer_type in (CHOICE, "") else split(node.answer_type)
        case TemplateNode():
            return ("text",)
        case JoinNode():
            return {"texts": ("text",), "messages": ("request",), "code": ("any",)}[node.merge]
        case SubWorkflowNode(embedded=Workflow() as inner):
            return _from_inside(inner)
        case GenericNode(kind="pass"):
            return ("any",)
    return ()


def yields(node: Node) -> tuple[str, ...]:
    """The types of outputs that a node can yield. Empty: it cannot be an output of the workflow."""
    match node:
        case AgentNode() | RunnerNode():
            return ("reply",)
        case FunctionNode():  # its result is yielded as well as sent
            return split(node.yields or "")
        case SubWorkflowNode():
            return ("any",) if node.direct_output else ()
        case GenericNode(kind="output"):
            return ("any",)
    return ()


def _from_inside(inner: Workflow) -> tuple[str, ...]:
    """What a workflow inside sends: the outputs of all its nodes that take part, and questions to be passed on."""
    from studio.document.facts import Facts  # which asks what nodes are, too

    reached = [n for n in inner.nodes if n.id in Facts.of(inner).reached]
    found = [name for n in reached for name in (("any",) if isinstance(n, SubWorkflowNode) else yields(n))]
    if any(isinstance(n, AgentNode | HumanInputNode | SubWorkflowNode) for n in reached):
        found.append("question")
    return tuple(dict.fromkeys(found))


def fits(sent: str, accepted: str) -> bool:
    """Whether a value of the first type is taken by a handler of the second."""
    if sent == accepted or "any" in (sent, accepted):
        return True
    if (sent, accepted) in {("integer", "number"), ("messages", "list"), ("messages", "list[message]")}:
        return True
    if accepted == "messages":
        return item_type(sent) in {"message", "text"}
    inner, wanted = item_type(sent), item_type(accepted)
    if inner is not None and accepted == "list":
        return True
    return inner is not None and wanted is not None and fits(inner, wanted)


def compatible(sent: tuple[str, ...], accepted: tuple[str, ...]) -> bool:
    """The rule of a build: at least one sent type fits one accepted type; not checked if one side declares none."""
    return not sent or not accepted or any(fits(s, a) for s in sent for a in accepted)


_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "object": "an object",
    "list": "a list",
    "message": "a message",
    "request": "an agent request",
    "response": "an agent reply",
    "reply": "the answer of an agent",
    "question": "questions from inside",
    "turn_token": "a turn token",
    "content": "a part of a message",
    "any": "anything",
}


def in_words(names: tuple[str, ...]) -> str:
    """Types for a sentence: ``("text", "response")`` -> "text, an agent reply"."""
    return ", ".join(_WORDS.get(n, n) for n in names) if names else "nothing"
