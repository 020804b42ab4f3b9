"""Faults of the design that nothing refuses and that only show at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.document import templates, types
from studio.document.checks_conditions import reads_state
from studio.document.conditions import Condition, Rule
from studio.document.edits import SetFields, SetWorkflow
from studio.document.facts import Facts
from studio.document.lines import Line, lines
from studio.document.model import (
    AgentNode,
    FanInEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    Node,
    RunnerNode,
    SubWorkflowNode,
    TemplateNode,
)
from studio.document.problems import Fix, Problem
from studio.document.state_keys import written_keys
from studio.document.sure import unsure_sources

_STATE_NAME = re.compile(r"\bstate\s*(?:\.\s*(\w+)|\[\s*[\"']([^\"']+)[\"']\s*\])")


def join_problems(facts: Facts) -> Iterator[Problem]:
    """Join bars that wait for a node which may not run when the others do."""
    for bar, alone, missing in unsure_sources(facts):
        message = f"{facts.name(bar)} may never start: it waits for {facts.name(missing)}, which is behind a condition "
        message += f"and may not run when {facts.name(alone)} does."
        yield Problem("join_may_starve", message, bar, severity="warning")


def unused_output_problems(facts: Facts) -> Iterator[Problem]:
    """Nodes that send something which no edge and no output takes."""
    workflow = facts.workflow
    taken = set(facts.following) | {s for e in workflow.edges if isinstance(e, FanInEdge) for s in e.sources}
    taken |= {s for e in workflow.edges if isinstance(s := getattr(e, "source", None), str)}
    shown = {
        i for listed in (workflow.outputs, workflow.intermediate) if isinstance(listed, tuple) for i in listed
    }  # fmt: skip
    every = workflow.intermediate in ("all", "all_other") or not isinstance(workflow.outputs, tuple)
    for node in workflow.nodes:
        if node.id not in facts.reached or node.id in taken or node.id in shown:
            continue
        if (every and types.yields(node)) or not _gives(node):
            continue
        message = f"Nobody takes what {facts.name(node.id)} gives: no edge leads on, and it is no output."
        yield Problem("output_unused", message, node.id, severity="warning", fix=_output_fix(facts, node))


def _gives(node: Node) -> bool:
    """Whether a node surely has something to give; a function may do its work by side effects alone."""
    match node:
        case FunctionNode():
            return bool(types.split(node.sends))
        case SubWorkflowNode():
            return node.embedded is not None and any(n != "question" for n in types.sends(node))
        case AgentNode() | RunnerNode() | TemplateNode() | HumanInputNode() | JoinNode():
            return True
    return node.kind == "pass"


def _output_fix(facts: Facts, node: Node) -> Fix | None:
    outputs = facts.workflow.outputs
    named = isinstance(outputs, tuple)
    if isinstance(node, AgentNode | RunnerNode) and named:
        return Fix("Make it an output", SetWorkflow({"outputs": (*outputs, node.id)}))  # type: ignore[misc]
    if isinstance(node, FunctionNode) and not named:
        return Fix("Yield what it sends", SetFields("nodes", node.id, {"yields": node.sends}))
    if isinstance(node, SubWorkflowNode) and not named:
        return Fix("Give its outputs directly", SetFields("nodes", node.id, {"direct_output": True}))
    return None


# ----------------------------------------------------------------------------------------------- state


def state_problems(facts: Facts) -> Iterator[Problem]:
    """Keys of shared state that are read, but have no first value and are never written."""
    keys = {s.key for s in facts.workflow.state if s.initial is None}
    if not keys:
        return
    written, anything = written_keys(facts.workflow)
    if anything:
        return
    for place, field, key, what in _reads(facts):
        if key in keys - written:
            message = f"{what} reads state.{key}, which has no first value and which nothing writes."
            yield Problem("state_never_written", message, place, field, "warning")


def _reads(facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    """Place, field, key and the beginning of a sentence, for everything that reads state."""
    for node in facts.workflow.nodes:
        text = (
            node.text if isinstance(node, TemplateNode) else node.question if isinstance(node, HumanInputNode) else ""
        )
        for name in dict.fromkeys(templates.fields(text)):
            if name.startswith("state."):
                field = "text" if isinstance(node, TemplateNode) else "question"
                yield node.id, field, name.split(".")[1], facts.name(node.id)
    for line in lines(facts.workflow):
        if line.condition is not None and reads_state(line.condition):
            for key in sorted(_keys_of(line.condition)):
                yield line.id, "condition", key, f"The condition of the line to {_target(facts, line)}"


def _target(facts: Facts, line: Line) -> str:
    return facts.name(line.target)


def _keys_of(condition: Condition) -> set[str]:
    if condition.kind == "rules":
        return set(_rule_keys(condition.rule)) if condition.rule is not None else set()
    text = condition.expression if condition.kind == "expression" else condition.body
    return {a or b for a, b in _STATE_NAME.findall(text)}


def _rule_keys(rule: Rule) -> Iterator[str]:
    parts = rule.path.split(".")
    if not rule.rules and parts[0] == "state" and len(parts) > 1:
        yield parts[1]
    for inner in rule.rules:
        yield from _rule_keys(inner)
