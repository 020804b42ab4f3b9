"""Steps of other programs as nodes that run here, where that means the same; the others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from studio.document.lines import pairs
from studio.document.model import (
    AgentNode,
    FanInEdge,
    FunctionNode,
    GenericNode,
    JoinNode,
    Node,
    StateDecl,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)
from studio.importers.http_steps import requesting
from studio.importers.item_loops import asking_state, counted_loop, keys_of
from studio.importers.prompts import QUERY, with_prompts, with_query
from studio.importers.saved_results import saved_keys, with_saved_results
from studio.importers.step_code import Code, assigned

_OWN_MARK = re.compile(r"\{(?:text|input|value(?:\.\w+)*|state\.\w+(?:\.\w+)*)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_OTHER_MARK = re.compile(r"\{\{|\}\}|\{[^}]*\}|\$\{|=\w")


def runnable(workflow: Workflow) -> Workflow:
    """The workflow with every step that has a clear meaning turned into nodes of that meaning; ids and names stay.

    A start with fields keeps them in shared state; a start without and a decision pass their message on; an end takes
    it; an output yields it, or its own text; a transform is a join bar where it waits for several, else a template; a
    value that is known or worked out from shared state is set by a function; a loop over a list counts in shared state;
    a result that is asked for later is kept by a step behind the one that makes it; a prompt is filled by a step in
    front of its agent. What is written in the language of another program is left.
    """
    return _Meaning(with_query(workflow)).workflow()


class _Meaning:
    """One workflow: what its steps know of each other."""

    def __init__(self, workflow: Workflow) -> None:
        self._whole = workflow
        self._joins = {edge.target for edge in workflow.edges if isinstance(edge, FanInEdge)}
        self._sources = {source for source, _, _ in pairs(workflow)}
        self._initial = {decl.key: decl.initial for decl in workflow.state}
        self._known = _keys_that_are_set(workflow)
        self._agents = {node.id for node in workflow.nodes if isinstance(node, AgentNode)}
        self._asked: set[str] = set()
        """Keys of results that code asks for which was read here."""

    def workflow(self) -> Workflow:
        before = self._whole
        nodes = tuple(self._meant(node) for node in before.nodes)
        loops = {
            new.id: old
            for old, new in zip(before.nodes, nodes, strict=True)
            if isinstance(old, GenericNode) and old.kind == "loop" and new is not old
        }
        keys = [key for old in loops.values() for key in keys_of(old)] + sorted(self._asked)
        made = before.model_copy(
            update={
                "nodes": nodes,
                "edges": tuple(asking_state(edge, loops) for edge in before.edges),
                "state": (
                    *before.state,
                    *(StateDecl(key=key, type="any") for key in dict.fromkeys(keys) if key not in self._initial),
                ),
            }
        )
        return with_prompts(with_saved_results(made), self._known)

    def _meant(self, node: Node) -> Node:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            return node.model_copy(update={"embedded": runnable(node.embedded)})
        if isinstance(node, FunctionNode):
            return requesting(node, self._whole.state, self._known) or node
        if not isinstance(node, GenericNode):
            return node
        named = {"id": node.id, "name": node.name, "description": node.description}
        match node.kind:
            case "input" if fields := _fields(node):
                return _keeps(fields, named)
            case "input" | "switch":
                return node.model_copy(update={"kind": "pass"})
            case "end":
                return FunctionNode(**named, accepts="any", sends="", body="pass")
            case "set_variable":
                return self._sets(node, named)
            case "loop":
                return counted_loop(self._whole, node, self._known) or node
            case "output":
                return self._output(node, named)
            case "transform":
                return self._transform(node, named)
        return node

    def _sets(self, node: GenericNode, named: Mapping[str, str]) -> Node:
        """A function that sets keys of shared state and hands on what came in; the node itself for unknown values."""
        code = Code(self._agents)
        lines = assigned(code, node.model_extra or {}, self._initial, self._known)
        if lines is None:
            return node
        self._asked |= code.asks_for
        return FunctionNode(**named, accepts="any", sends="any", body=code.body([*lines, "result = data"]))

    def _output(self, node: GenericNode, named: Mapping[str, str]) -> Node:
        text, goes_on = _text(node), node.id in self._sources
        if text in ("", "{text}"):
            return FunctionNode(**named, sends="text" if goes_on else "", yields="text", body="result = data")
        if text is not None and "{" not in text:
            return _says(Code(), repr(text), goes_on, named)
        extra: Mapping[str, Any] = node.model_extra or {}
        code = Code(self._agents)
        value = self._value(code, extra)
        self._asked |= code.asks_for
        return node if value is None else _says(code, value, goes_on, named, "any" if extra.get("value") else "text")

    def _value(self, code: Code, extra: Mapping[str, Any]) -> str | None:
        """What an output yields: a text with keys of state in it, named results, or data."""
        written, text = extra.get("value"), extra.get("text")
        if isinstance(text, str) and text and not written:
            return code.text(text, extra.get("refers") or {}, self._known)
        if isinstance(written, dict) and written and all(key in self._known for key in written.values()):
            return "{" + ", ".join(f"{name!r}: ctx.get_state({key!r})" for name, key in written.items()) + "}"
        if not isinstance(written, str) or text:
            return None
        agent = written.removesuffix("_result")
        if agent in self._agents and agent != written:
            written = f'{written}["output_text"]'  # the whole of an answer: its text is what can be shown
        return code.value(written, "python")

    def _transform(self, node: GenericNode, named: Mapping[str, str]) -> Node:
        text, joins = _text(node), node.id in self._joins
        if joins and text in ("", "{text}"):
            return JoinNode(**named, merge="texts")
        if text is not None and not joins:
            return TemplateNode(**named, text=text or "{text}")
        extra: Mapping[str, Any] = node.model_extra or {}
        if extra.get("template_lang") == "jinja" and not joins:
            return self._fills(node, extra, named) or node
        keys = extra.get("value")
        if isinstance(keys, str) and extra.get("expression_lang") == "python" and not joins:
            return self._computes(keys, named) or node
        if isinstance(keys, list) and keys and not joins and all(key in self._known for key in keys):
            lines = [f"found = [ctx.get_state(key) for key in {keys!r}]"]
            lines += ["result = next((value for value in found if value is not None), data)"]
            lines += [f"ctx.set_state({key!r}, result)" for key in saved_keys(node)]
            return FunctionNode(**named, accepts="any", sends="any", body="\n".join(lines))
        return node

    def _fills(self, node: Node, extra: Mapping[str, Any], named: Mapping[str, str]) -> Node | None:
        """A template whose names are keys of state: its text goes on and is kept."""
        code = Code()
        value = code.filled(str(extra.get("template") or ""), extra.get("arguments") or {}, self._known)
        if value is None:
            return None
        lines = [f"result = {value}", *(f"ctx.set_state({key!r}, result)" for key in saved_keys(node))]
        return FunctionNode(**named, accepts="any", sends="text", body=code.body(lines))

    def _computes(self, written: str, named: Mapping[str, str]) -> Node | None:
        """Keeps the value under its own id; what came in goes on, as what agents are given is the conversation."""
        code = Code(self._agents)
        value = code.value(written, "python")
        if value is None:
            return None
        self._asked |= {*code.asks_for, named["id"]}
        lines = [f"ctx.set_state({named['id']!r}, {value})", "result = data"]
        return FunctionNode(**named, accepts="any", sends="any", body=code.body(lines))


def _keys_that_are_set(workflow: Workflow) -> set[str]:
    """The keys of shared state that have a value before they are asked for, or a step that sets them."""
    found = {decl.key for decl in workflow.state if decl.initial is not None}
    for node in workflow.nodes:
        found.update(saved_keys(node, workflow.state))
        if isinstance(node, FunctionNode):
            found.update({QUERY} if repr(QUERY) in node.body else ())
            found.update(decl.key for decl in workflow.state if decl.key.startswith(f"{node.id}."))
        if isinstance(node, GenericNode) and node.kind == "loop":
            found.update(keys_of(node))
        if isinstance(node, GenericNode) and node.kind == "input":
            found.update(f"{node.id}.{name}" for name in _fields(node))
    return found


def _fields(node: GenericNode) -> list[str]:
    """The names of what a start asks for, where steps ask for them by its id."""
    given = (node.model_extra or {}).get("inputs")
    return [name for name in given if isinstance(name, str) and name] if isinstance(given, list) else []


def _keeps(fields: list[str], named: Mapping[str, str]) -> FunctionNode:
    """The start: an object fills the fields, a text all of them."""
    lines = [
        "import json",
        "",
        "try:",
        "    given = data if isinstance(data, dict) else json.loads(data)",
        "except (TypeError, ValueError):",
        "    given = None",
        f"for name in {fields!r}:",
        f"    ctx.set_state('{named['id']}.' + name, given.get(name) if isinstance(given, dict) else data)",
        "result = data",
    ]
    return FunctionNode(**named, accepts="any", sends="any", body="\n".join(lines))


def _says(code: Code, value: str, goes_on: bool, named: Mapping[str, str], yields: str = "text") -> FunctionNode:
    """Yields a value of its own; what came in goes on."""
    if not goes_on:
        return FunctionNode(**named, accepts="any", sends="", yields=yields, body=code.body([f"result = {value}"]))
    body = code.body([f"await ctx.yield_output({value})", "await ctx.send_message(data)"])
    return FunctionNode(**named, accepts="any", sends="any", yields=yields, body=body)


def _text(node: GenericNode) -> str | None:
    """The text it is to give; None if it is written in another language than ours."""
    extra = node.model_extra or {}
    if any(extra.get(name) for name in ("expression", "value", "code", "items")):
        return None
    found = next((extra[name] for name in ("text", "template") if isinstance(extra.get(name), str)), "")
    slots = extra.get("slots")
    if isinstance(slots, dict):
        found = _SLOT.sub(lambda mark: str(slots.get(mark[1], mark[0])), found)
    return None if _OTHER_MARK.search(_OWN_MARK.sub("", found)) else found
