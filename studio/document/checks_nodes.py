"""Checks of single nodes and of the declarations they use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from studio.document import templates, types
from studio.document.checks_tools import call_problems, scripted_calls, server_problems, tool_problems, unknown_servers
from studio.document.code import body_problem, module_problem
from studio.document.edits import SetFields, SetWorkflow
from studio.document.facts import Facts
from studio.document.ids import script_owner
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
    UnknownNode,
    Workflow,
)
from studio.document.problems import Fix, Problem
from studio.document.runners import all_agents


def node_problems(facts: Facts) -> Iterator[Problem]:
    """What is missing or wrong inside each node."""
    for node in facts.workflow.nodes:
        yield from facts.each_node("inside", node, partial(_inside, facts, node))


def _inside(facts: Facts, node: Node) -> Iterator[Problem]:
    if not node.name.strip():
        yield Problem("no_name", f"The node {node.id} has no name.", node.id, "name", "warning")
    match node:
        case AgentNode():
            yield from _agent(facts, node)
        case FunctionNode():
            yield from _function(facts, node)
        case HumanInputNode():
            yield from _human_input(facts, node)
        case TemplateNode():
            yield from _fields(facts, node, node.text, "text")
        case JoinNode(merge="code"):
            yield from _code(facts, node, node.body, "The join bar")
        case SubWorkflowNode():
            yield from _sub_workflow(facts, node)
        case GenericNode() | UnknownNode() | RunnerNode():
            yield from _other(facts, node)


def _agent(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    if not node.instructions.strip():
        yield Problem("no_instructions", f"The agent {name} has no instructions.", node.id, "instructions", "info")
    if node.context == "custom" and not node.context_filter.strip():
        message = f"The agent {name} has a context of its own choice, but no filter that chooses."
        fix = Fix("Give it the full context", SetFields("nodes", node.id, {"context": "full"}))
        yield Problem("no_context_filter", message, node.id, "context_filter", fix=fix)
    if node.temperature is not None and not 0 <= node.temperature <= 2:
        yield Problem("temperature", f"The temperature of {name} is not between 0 and 2.", node.id, "temperature")
    if node.max_tokens is not None and node.max_tokens < 1:
        yield Problem("max_tokens", f"The token limit of {name} is less than 1.", node.id, "max_tokens")
    if node.output_schema is not None and node.output_schema.get("type") != "object":
        yield Problem(
            "output_schema", f"The output schema of {name} has to be of type object.", node.id, "output_schema"
        )
    declared = {t.name for t in facts.workflow.tools}
    for tool in node.tools:
        if tool not in declared:
            fix = Fix("Remove it", SetFields("nodes", node.id, {"tools": tuple(t for t in node.tools if t != tool)}))
            message = f"{name} uses the tool {tool}, which this workflow does not have."
            yield Problem("unknown_tool", message, node.id, "tools", fix=fix)
    yield from unknown_servers(facts, node)


def _function(facts: Facts, node: FunctionNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    if node.call and node.body.strip():
        message = f"{name} has both code and a call: remove one."
        fix = Fix("Remove the call", SetFields("nodes", node.id, {"call": ""}))
        yield Problem("function_twice", message, node.id, "call", fix=fix)
    elif node.call:
        yield from call_problems(facts, node.id, node.call, name)
    else:
        yield from _code(facts, node, node.body, "The function")
    for field in ("accepts", "sends", "yields"):
        yield from _type(facts, node.id, getattr(node, field) or "", field, f"{name} {field}")


def _code(facts: Facts, node: FunctionNode | JoinNode, body: str, what: str) -> Iterator[Problem]:
    if not body.strip():
        yield Problem("no_code", f"{what} {facts.name(node.id)} has no code yet.", node.id, "body")
        return
    found = body_problem(body)
    if found is not None:
        message = f"The code of {facts.name(node.id)} cannot be read: {found.message}, line {found.line}."
        yield Problem("syntax", message, node.id, "body")


def _type(facts: Facts, place: str, written: str, field: str, what: str) -> Iterator[Problem]:
    for unknown in types.unknown_types(facts.workflow, written):
        yield Problem("unknown_type", f"{what} {unknown}, a type that is not declared.", place, field)


def _human_input(facts: Facts, node: HumanInputNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    if not node.question.strip():
        yield Problem("no_question", f"{name} asks nothing.", node.id, "question", "warning")
    if len(set(node.choices)) < len(node.choices):
        yield Problem("choice_twice", f"{name} offers the same choice twice.", node.id, "choices", "warning")
    yield from _fields(facts, node, node.question, "question")
    if node.answer_type != types.CHOICE:
        yield from _type(facts, node.id, node.answer_type, "answer_type", f"{name} asks for")


def _fields(facts: Facts, node: Node, text: str, field: str) -> Iterator[Problem]:
    keys = {s.key for s in facts.workflow.state}
    for name in dict.fromkeys(templates.fields(text)):
        if not templates.is_known(name):
            message = f"{facts.name(node.id)} has the field {{{name}}}, which nothing fills; there are "
            yield Problem("unknown_field", f"{message}{', '.join(templates.FIELDS)}.", node.id, field, "warning")
        elif name.startswith("state.") and name.split(".")[1] not in keys:
            message = f"{facts.name(node.id)} reads {{{name}}}, but there is no such key in the shared state."
            yield Problem("unknown_state", message, node.id, field, "warning")


def _sub_workflow(facts: Facts, node: SubWorkflowNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    if node.path is None and node.embedded is None:
        yield Problem("no_sub_workflow", f"{name} has no workflow inside yet: choose a file.", node.id, "path")
    if isinstance(node.embedded, Workflow):
        from studio.document.validate import problems  # a workflow inside is checked like any other

        inner = [p for p in problems(node.embedded) if p.severity == "error"]
        if inner:
            more = f" ({len(inner)} problems)" if len(inner) > 1 else ""
            message = f"The workflow inside {name} cannot run: {inner[0].message}{more}"
            yield Problem("sub_workflow", message, node.id, "embedded")


_INSTEAD = {
    "loop": "Draw a switch that leads back instead.",
    "set_variable": "Put a function in its place that calls ctx.set_state.",
    "transform": "Put a template or a function in its place.",
    "output": "Put a function in its place that yields the text.",
    "placeholder": "Put a node in its place that does the same; what stood there is kept with it.",
}
"""Kind of a step of another program -> what to draw instead."""


def _other(facts: Facts, node: GenericNode | UnknownNode | RunnerNode) -> Iterator[Problem]:
    if node.kind in types.RUNNABLE:
        return
    message = f"{facts.name(node.id)} is of kind {node.kind or 'unknown'}, which is kept in the file, but cannot run."
    if node.kind in _INSTEAD:
        message = f"{message} {_INSTEAD[node.kind]}"
    passing = Fix("Let it pass on what comes in", SetFields("nodes", node.id, {"kind": "pass"}))
    fix = passing if node.kind == "placeholder" else None
    # Outside of every path from the start it is in nobody's way.
    yield Problem("cannot_run", message, node.id, severity="error" if node.id in facts.reached else "warning", fix=fix)


# --------------------------------------------------------------------------------------------- declarations


def declaration_problems(facts: Facts) -> Iterator[Problem]:
    """Modules, tools, types, shared state, limits."""
    workflow = facts.workflow
    if workflow.max_supersteps < 1:
        fix = Fix("Set it to 100", SetWorkflow({"max_supersteps": 100}))
        yield Problem("max_supersteps", "The limit of supersteps is less than 1.", "", "max_supersteps", fix=fix)
    for field in ("budget_tokens", "budget_cost"):
        value = getattr(workflow, field)
        if value is not None and value <= 0:
            what = "tokens" if field == "budget_tokens" else "money"
            message = f"The budget of {what} is not more than 0, so no model call can be made."
            yield Problem("budget", message, "", field, fix=Fix("Take it away", SetWorkflow({field: None})))
    for field, names in (
        ("modules", [m.name for m in workflow.modules]),
        ("tools", [t.name for t in workflow.tools]),
        ("mcp_servers", [m.name for m in workflow.mcp_servers]),
        ("types", [t.name for t in workflow.types]),
        ("state", [s.key for s in workflow.state]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield Problem("declared_twice", f"{name or 'An empty name'} is declared twice.", "", field)
    yield from _modules(workflow)
    yield from tool_problems(facts)
    yield from server_problems(facts)
    yield from _types_and_state(facts)


def _modules(workflow: Workflow) -> Iterator[Problem]:
    for module in workflow.modules:
        if not module.name.isidentifier():
            message = f"“{module.name}” cannot be the name of a module: use letters, digits and underscores."
            yield Problem("module_name", message, "", "modules")
        found = module_problem(module.source)
        if found is not None:
            message = f"The module {module.name} cannot be read: {found.message}, line {found.line}."
            yield Problem("syntax", message, "", "modules")


def _types_and_state(facts: Facts) -> Iterator[Problem]:
    for declared in facts.workflow.types:
        if not declared.name.isidentifier() or declared.name in (*types.BUILT_IN, types.NOTHING):
            message = f"“{declared.name}” cannot be the name of a type: it is taken or not an identifier."
            yield Problem("type_name", message, "", "types")
    for key in facts.workflow.state:
        if not key.key or key.key.startswith("_"):
            message = f"“{key.key}” cannot be a key of shared state: keys that start with _ are reserved."
            yield Problem("state_key", message, "", "state")
        yield from _type(facts, "", key.type, "state", f"The state {key.key} has the type")


# -------------------------------------------------------------------------------------------- offline script


def offline_problems(facts: Facts) -> Iterator[Problem]:
    """The script of the built-in model."""
    scripts = facts.workflow.offline.nodes
    agents = {agent.id: agent for agent in all_agents(facts.workflow)}
    for node_id, script in scripts.items():
        if node_id not in agents:
            kept = {k: v for k, v in scripts.items() if k != node_id}
            edit = SetWorkflow({"offline": facts.workflow.offline.model_copy(update={"nodes": kept})})
            message = f"The offline model has a script for {node_id}, which is no agent of this workflow."
            yield Problem("orphan_script", message, "", "offline", "warning", Fix("Remove the script", edit))
        elif not isinstance(script.get("replies"), list):
            message = f"The offline script of {facts.name(node_id)} has no list of replies."
            yield Problem("script_form", message, script_owner(node_id), "offline")
        else:
            yield from scripted_calls(facts, agents[node_id])
    seen: dict[str, str] = {}
    for node in agents.values():
        if node.id in scripts:
            other = seen.setdefault(node.instructions.strip(), node.id)
            if other != node.id:
                message = f"“{node.name}” and “{agents[other].name}” have the same instructions: over HTTP the "
                message += "offline model cannot tell their scripts apart."
                yield Problem("equal_instructions", message, script_owner(node.id), "instructions", "warning")
