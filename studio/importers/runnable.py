"""Steps of other programs as nodes that run here, where that means the same; the others stay as they are."""

from __future__ import annotations

import ast
import re

from studio.document.lines import pairs
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

    A start with settings and a decision pass their message on; an end takes it; an output yields it, or its own text; a
    transform is a join bar where it waits for several, else a template; a value that is known or worked out from shared
    state is set by a function. One whose text is in the language of another program is left.
    """
    joins = {edge.target for edge in workflow.edges if isinstance(edge, FanInEdge)}
    sources = {source for source, _, _ in pairs(workflow)}
    nodes = tuple(_meant(node, node.id in joins, node.id in sources) for node in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def _meant(node: Node, joins: bool, goes_on: bool) -> Node:
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
            return FunctionNode(**named, accepts="any", sends="", body="pass")
        case "output" if text in ("", "{text}"):
            return FunctionNode(**named, sends="text" if goes_on else "", yields="text", body="result = data")
        case "output" if text is not None and "{" not in text:
            return _says(text, goes_on, named)
        case "set_variable":
            return _sets(node, named)
        case "transform" if joins and text in ("", "{text}"):
            return JoinNode(**named, merge="texts")
        case "transform" if text is not None and not joins:
            return TemplateNode(**named, text=text or "{text}")
    return node


def _says(text: str, goes_on: bool, named: dict[str, str]) -> FunctionNode:
    """Yields a text of its own; what came in goes on."""
    if not goes_on:
        return FunctionNode(**named, accepts="any", sends="", yields="text", body=f"result = {text!r}")
    body = f"await ctx.yield_output({text!r})\nawait ctx.send_message(data)"
    return FunctionNode(**named, accepts="any", sends="any", yields="text", body=body)


def _sets(node: GenericNode, named: dict[str, str]) -> Node:
    """A function that sets a key of shared state and hands on what came in; the node itself for an unknown value."""
    extra = node.model_extra or {}
    key, value = extra.get("variable"), extra.get("value")
    if extra.get("lang") == "python" and isinstance(value, str):
        written = _state_expression(value)
    else:
        written = repr(value) if isinstance(value, bool | int | float) else None
    if not isinstance(key, str) or not key or written is None:
        return node
    return FunctionNode(**named, accepts="any", sends="any", body=f"ctx.set_state({key!r}, {written})\nresult = data")


def _state_expression(code: str) -> str | None:
    """A Python expression of literals, operators and ``state["key"]``, asking ``ctx`` for the keys; None for more."""
    try:
        tree = ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    asked = _Asked()
    found = asked.visit(tree)
    return None if asked.other else ast.unparse(found)


class _Asked(ast.NodeTransformer):
    """``other``: whether there is something else than literals, operators and keys of ``state``."""

    other = False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        keyed = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        if isinstance(node.value, ast.Name) and node.value.id == "state" and keyed:
            return ast.Call(ast.Attribute(ast.Name("ctx"), "get_state"), [node.slice], [])
        self.other = True
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Constant, ast.operator)
        kept = (ast.unaryop, ast.boolop, ast.cmpop, ast.List, ast.Dict, ast.Tuple, ast.Load)
        if not isinstance(node, (*allowed, *kept)):
            self.other = True
        return super().generic_visit(node)


def _text(node: GenericNode) -> str | None:
    """The text it is to give; None if it is written in another language than ours."""
    extra = node.model_extra or {}
    if any(extra.get(name) for name in ("expression", "value", "code", "items")):
        return None
    found = next((extra[name] for name in ("text", "template") if isinstance(extra.get(name), str)), "")
    return None if _OTHER_MARK.search(_OWN_MARK.sub("", found)) else found
