"""Steps of other programs as nodes that run here, where that means the same; the others stay as they are."""

from __future__ import annotations

import re

from studio.document.model import (
    FanInEdge,
    FunctionNode,
    GenericNode,
    JoinNode,
    Node,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)

_OWN_MARK = re.compile(r"\{(?:text|input|value(?:\.\w+)*|state\.\w+(?:\.\w+)*)\}")
_OTHER_MARK = re.compile(r"\{\{|\}\}|\{[^}]*\}|\$\{|=\w")


def runnable(workflow: Workflow) -> Workflow:
    """The workflow with every step that has a clear meaning turned into a node of that meaning; ids and names stay.

    A start with settings and a decision pass their message on; an end takes it; an output yields it; a transform is a
    join bar where it waits for several, else a template. One whose text is in the language of another program is left.
    """
    joins = {edge.target for edge in workflow.edges if isinstance(edge, FanInEdge)}
    nodes = tuple(_meant(node, node.id in joins) for node in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def _meant(node: Node, joins: bool) -> Node:
    if isinstance(node, SubWorkflowNode) and node.embedded is not None:
        return node.model_copy(update={"embedded": runnable(node.embedded)})
    if not isinstance(node, GenericNode):
        return node
    named = {"id": node.id, "name": node.name, "description": node.description}
    text = _text(node)
    match node.kind:
        case "input" | "switch":
            return node.model_copy(update={"kind": "pass"})
        case "end":
            return FunctionNode(**named, accepts="any", sends="", body="")
        case "output" if text in ("", "{text}"):
            return FunctionNode(**named, sends="", yields="text", body="result = data")
        case "transform" if joins and text in ("", "{text}"):
            return JoinNode(**named, merge="texts")
        case "transform" if text is not None and not joins:
            return TemplateNode(**named, text=text or "{text}")
    return node


def _text(node: GenericNode) -> str | None:
    """The text it is to give; None if it is written in another language than ours."""
    extra = node.model_extra or {}
    if any(extra.get(name) for name in ("expression", "value", "code", "items")):
        return None
    found = next((extra[name] for name in ("text", "template") if isinstance(extra.get(name), str)), "")
    return None if _OTHER_MARK.search(_OWN_MARK.sub("", found)) else found
