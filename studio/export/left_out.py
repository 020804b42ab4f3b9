"""What a document sets and exported code does not do: said at every export, and in the README of the project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from studio.document.agent_options import RunnerAgent
from studio.document.model import (
    AgentNode,
    HandoffEdge,
    ImportedItem,
    ImportRecord,
    McpServerDecl,
    Node,
    RunnerNode,
    SubWorkflowNode,
    UnknownEdge,
    Workflow,
)
from studio.document.runners import all_agents
from studio.export.problems import ExportProblem

IN_THE_DRAWING: Mapping[str, str] = {
    "Workflow.id": "the document's own number; code knows a workflow by its name",
    "Workflow.notes": "sticky notes",
    "Workflow.groups": "frames around nodes",
    "Workflow.flow": "where lines run in the drawing",
    "Workflow.places": "positions",
    "Note.id": "sticky notes",
    "Note.text": "sticky notes",
    "Note.color": "sticky notes",
    "Group.id": "frames around nodes",
    "Group.name": "frames around nodes",
    "Group.kind": "frames around nodes",
    "Group.members": "frames around nodes",
    "Group.settings": "frames around nodes",
    "Place.x": "positions",
    "Place.y": "positions",
    "Place.width": "positions",
    "Place.height": "positions",
    "Place.bends": "positions",
    "Place.collapsed": "positions",
    "Place.kept": "positions",
    "DirectEdge.label": "labels of lines",
    "SwitchCase.label": "labels of lines",
    "SwitchEdge.default_label": "labels of lines",
    "SwitchEdge.name": "labels of lines",
    "FanOutEdge.name": "labels of lines",
    "StateDecl.type": "types of shared state, which forms ask for",
    "ToolDecl.from_code": "which fields of a tool follow its code while it is edited",
    "SubWorkflowNode.description": "descriptions of nodes that have no code of their own",
    "SubWorkflowNode.name": "descriptions of nodes that have no code of their own",
    "OfflineScript.delay_ms": "the pace of scripted replies",
}
"""Field -> what it is: matters of the drawing and of editing it. The layout file keeps them all."""

OF_THE_PROGRAM: Mapping[str, str] = {
    "Workflow.interpreter": "the Python in which this program runs the code",
    "Workflow.budget_currency": "the currency of the budget of a run",
    "Workflow.imported": "the report of the import that it came from",
    **{f"ImportRecord.{name}": "a part of that report" for name in ImportRecord.model_fields},
    **{f"ImportedItem.{name}": "an entry of that report" for name in ImportedItem.model_fields},
    "Workflow.runs_on_disk": "whether this program keeps runs in a file",
    "FunctionNode.has_effects": "warnings of this program before a moment is gone on from",
    "ToolDecl.result_schema": "the form in which a person answers for a tool",
    "ToolDecl.has_effects": "warnings of this program before a moment is gone on from",
}
"""Field -> what it is: matters of this program alone, without a counterpart in a program that only runs."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A setting that exported code does not have. ``items``: the names of nodes and declarations."""

    setting: str
    text: str
    items: tuple[str, ...]


def left_out(workflow: Workflow, client: str = "chat_completions") -> tuple[LeftOut, ...]:
    """What of a document, and of those inside it, exported code does otherwise: one sentence a setting. ``client``: the
    API that the code speaks to the model."""
    merged: dict[tuple[str, str], list[str]] = {}
    for setting, text, item in _found(workflow, client):
        merged.setdefault((setting, text), []).append(item)
    return tuple(LeftOut(setting, text, tuple(dict.fromkeys(items))) for (setting, text), items in merged.items())


def sentence_of(found: LeftOut) -> str:
    """The sentence with the names of what it is about."""
    shown = ", ".join(found.items[:5]) + (" and others" if len(found.items) > 5 else "")
    return f"{shown}: {found.text}"


def _found(workflow: Workflow, client: str) -> Iterator[tuple[str, str, str]]:
    if workflow.budget_tokens is not None or workflow.budget_cost is not None:
        yield "Workflow.budget_tokens", "the budget of a run holds on the canvas only.", workflow.name
    for node in workflow.nodes:
        match node:
            case AgentNode() | RunnerNode():
                yield from _models(node)
            case SubWorkflowNode(embedded=Workflow() as inner):
                yield from _found(inner, client)
    loop = "equal tool calls in a row do not end the loop; its greatest number of model calls does."
    for agent in all_agents(workflow):
        if isinstance(workflow.node(agent.id), AgentNode) and (agent.tools or agent.mcp_servers):
            most = agent.tool_loop.max_repeats
            if most is not None:
                yield f"ToolLoop.max_repeats {most}", f"{most} {loop}", _name(agent)
        if client == "responses" and _hooks_updates(workflow, agent):
            yield "Middleware on updates", _TWICE, _name(agent)
    used = {name for agent in all_agents(workflow) for name in agent.mcp_servers}
    for server in workflow.mcp_servers:
        if server.name in used:
            yield from _server(server)


def _hooks_updates(workflow: Workflow, agent: AgentNode) -> bool:
    """Whether middleware of an agent changes the updates of a streamed answer."""
    modules = {module.name: module.source for module in workflow.modules}
    texts = [declared.body + modules.get(declared.call.partition(":")[0], "") for declared in agent.middleware]
    return any("stream_transform_hooks" in text for text in texts)


_TWICE = (
    "middleware that makes new updates of a streamed answer may give its text twice: a Responses server streams it in "
    "pieces and then whole. Choose Chat completions for it."
)


def _name(node: Node | RunnerAgent) -> str:
    return " ".join(node.name.split()) or node.id


def _models(node: AgentNode | RunnerNode) -> Iterator[tuple[str, str, str]]:
    said = "the provider is not written: address and key of the model are read from the environment."
    if node.profile:
        yield f"{type(node).__name__}.profile", said, _name(node)
    if isinstance(node, RunnerNode):
        for agent in node.agents:
            if agent.profile and agent.profile != node.profile:
                yield "RunnerAgent.profile", "all agents of the runner use the one client of the program.", _name(agent)


def _server(server: McpServerDecl) -> Iterator[tuple[str, str, str]]:
    if server.approval == "unless_read_only":
        text = "every call of this server asks first: the framework cannot tell calls that only read."
        yield "McpServerDecl.approval", text, server.name
    if server.timeout != int(server.timeout):
        yield "McpServerDecl.timeout", "the time limit is rounded up to whole seconds.", server.name
    if any(value.startswith("keychain:") for value in (*server.environment.values(), *server.headers.values())):
        text = "what is in the keychain of this computer is read from environment variables."
        yield "McpServerDecl.environment", text, server.name


def refuse_lost_edges(workflow: Workflow) -> None:
    """Raises :class:`ExportProblem` for edges that code would silently be without."""
    for edge in workflow.edges:
        if isinstance(edge, HandoffEdge):
            raise ExportProblem(
                "A hand-off edge between nodes cannot be written as code. Put both agents into a conversation runner."
            )
        if isinstance(edge, UnknownEdge):
            raise ExportProblem(f"The edge {edge.id} is of a kind ({edge.kind}) that this version cannot write.")
