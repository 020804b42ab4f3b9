"""The document: what a person draws, as frozen data.

A :class:`Workflow` holds logic (nodes, edge groups, declarations) and, apart from it, geometry. Nothing in here
runs anything. Unknown fields and unknown node kinds survive loading and saving.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag

from studio.document.agent_options import (
    Compaction,
    ContextProvider,
    MiddlewareDecl,
    RunnerAgent,
    RunnerSettings,
    ToolLoop,
    TurnTokenSettings,
)
from studio.document.conditions import Condition
from studio.document.frozen import Model
from studio.document.lookup import with_id

# ---------------------------------------------------------------------------------------------------- nodes


class NodeBase(Model):
    """What every node has. ``id`` is made once from the name and never changes; ``name`` is what people read."""

    id: str
    name: str
    description: str = ""


class AgentNode(NodeBase):
    """An agent behind a host executor. ``context`` to ``session`` count for the Python host, ``turn_token`` for the
    C# one."""

    kind: Literal["agent"] = "agent"
    instructions: str = ""
    profile: str | None = None
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    host: Literal["python", "turn_token"] = "python"
    context: Literal["full", "last_agent", "custom"] = "full"
    context_filter: str = ""
    trailing_user_turn: bool = False
    session: str | None = None
    output_schema: dict[str, JsonValue] | None = None
    turn_token: TurnTokenSettings = TurnTokenSettings()
    tool_choice: str = ""
    """``auto``, ``none``, ``required`` or the name of a tool; empty leaves it to the provider."""
    parallel_tool_calls: bool | None = None
    tool_loop: ToolLoop = ToolLoop()
    providers: tuple[ContextProvider, ...] = ()
    """Without a history that loads, the session is the history."""
    store_per_call: bool = False
    """Histories load and store around each model call instead of around the run."""
    compaction: Compaction = Compaction()
    middleware: tuple[MiddlewareDecl, ...] = ()


class RunnerNode(NodeBase):
    """A conversation runner: agents with hand-offs inside one node. The first agent starts a conversation; who has it
    at the end of a turn goes on with the next. Agents without a profile of their own use that of the node."""

    kind: Literal["runner"] = "runner"
    agents: tuple[RunnerAgent, ...] = ()
    profile: str | None = None
    settings: RunnerSettings = RunnerSettings()


class FunctionNode(NodeBase):
    """User code: either ``body`` (statements with ``data``, ``ctx``, leaving ``result``) or ``call``
    (``module:function``). ``has_effects``: it changes something outside, which no restore takes back."""

    kind: Literal["function"] = "function"
    body: str = ""
    call: str = ""
    accepts: str = "text"
    sends: str = "text"
    yields: str | None = None
    has_effects: bool = False


class HumanInputNode(NodeBase):
    """Asks a person and sends the answer on."""

    kind: Literal["human_input"] = "human_input"
    question: str = "{text}"
    answer_type: str = "text"
    choices: tuple[str, ...] = ()
    send: Literal["answer", "input_and_answer"] = "answer"


class TemplateNode(NodeBase):
    """Text with ``{field}`` marks, filled from the message: ``{text}``, ``{value.path}``, ``{state.key}``."""

    kind: Literal["template"] = "template"
    text: str = "{text}"


class SubWorkflowNode(NodeBase):
    """A workflow inside a workflow: linked (``path``, relative to the file) or embedded (a copy)."""

    kind: Literal["sub_workflow"] = "sub_workflow"
    path: str | None = None
    embedded: Workflow | None = None
    direct_output: bool = False
    propagate_requests: bool = True


class JoinNode(NodeBase):
    """The join bar: an executor that takes one list from its sources and sends one merged message."""

    kind: Literal["join"] = "join"
    merge: Literal["texts", "messages", "code"] = "texts"
    separator: str = "\n\n"
    body: str = ""


class GenericNode(NodeBase):
    """A kind that the format knows (import.md section 1) and that has no inspector of its own yet."""

    kind: Literal["transform", "set_variable", "output", "switch", "loop", "pass", "end", "input", "placeholder"]


class UnknownNode(NodeBase):
    """A node of a kind that a newer version wrote. Shown, kept, cannot run."""

    id: str = ""
    name: str = ""
    kind: str


KNOWN_NODES: Mapping[str, type[NodeBase]] = {
    "agent": AgentNode,
    "runner": RunnerNode,
    "function": FunctionNode,
    "human_input": HumanInputNode,
    "template": TemplateNode,
    "sub_workflow": SubWorkflowNode,
    "join": JoinNode,
    **dict.fromkeys(
        ("transform", "set_variable", "output", "switch", "loop", "pass", "end", "input", "placeholder"), GenericNode
    ),
}


def _node_tag(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    found = KNOWN_NODES.get(kind) if isinstance(kind, str) else None
    return found.__name__ if found else "UnknownNode"


Node = Annotated[
    Annotated[AgentNode, Tag("AgentNode")]
    | Annotated[RunnerNode, Tag("RunnerNode")]
    | Annotated[FunctionNode, Tag("FunctionNode")]
    | Annotated[HumanInputNode, Tag("HumanInputNode")]
    | Annotated[TemplateNode, Tag("TemplateNode")]
    | Annotated[SubWorkflowNode, Tag("SubWorkflowNode")]
    | Annotated[JoinNode, Tag("JoinNode")]
    | Annotated[GenericNode, Tag("GenericNode")]
    | Annotated[UnknownNode, Tag("UnknownNode")],
    Discriminator(_node_tag),
]

# ---------------------------------------------------------------------------------------------------- edges


class DirectEdge(Model):
    """One edge, with an optional condition."""

    id: str
    kind: Literal["direct"] = "direct"
    source: str
    target: str
    condition: Condition | None = None
    label: str = ""


class SwitchCase(Model):
    """One ordered case of a switch."""

    id: str
    condition: Condition | None = None
    target: str
    label: str = ""


class SwitchEdge(Model):
    """A switch rhombus. Not an executor: it decides on the message of its source, first true case wins."""

    id: str
    kind: Literal["switch"] = "switch"
    name: str = "Switch"
    source: str | None = None
    cases: tuple[SwitchCase, ...] = ()
    default: str | None = None
    default_label: str = ""


class FanOutEdge(Model):
    """A fan-out bar: every target, or those that the selection names."""

    id: str
    kind: Literal["fan_out"] = "fan_out"
    name: str = "Fan-out"
    source: str | None = None
    targets: tuple[str, ...] = ()
    selection: dict[str, Condition] | None = None


class FanInEdge(Model):
    """The barrier from several sources to a join bar; the order of ``sources`` is the order of the list."""

    id: str
    kind: Literal["fan_in"] = "fan_in"
    sources: tuple[str, ...] = ()
    target: str


class HandoffEdge(Model):
    """A transfer that the model chooses with a tool."""

    id: str
    kind: Literal["handoff"] = "handoff"
    source: str
    target: str
    reason: str = ""


class UnknownEdge(Model):
    """An edge of a kind that a newer version wrote. Kept, cannot run."""

    id: str = ""
    kind: str


KNOWN_EDGES: Mapping[str, type[Model]] = {
    "direct": DirectEdge,
    "switch": SwitchEdge,
    "fan_out": FanOutEdge,
    "fan_in": FanInEdge,
    "handoff": HandoffEdge,
}


def _edge_tag(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    found = KNOWN_EDGES.get(kind) if isinstance(kind, str) else None
    return found.__name__ if found else "UnknownEdge"


Edge = Annotated[
    Annotated[DirectEdge, Tag("DirectEdge")]
    | Annotated[SwitchEdge, Tag("SwitchEdge")]
    | Annotated[FanOutEdge, Tag("FanOutEdge")]
    | Annotated[FanInEdge, Tag("FanInEdge")]
    | Annotated[HandoffEdge, Tag("HandoffEdge")]
    | Annotated[UnknownEdge, Tag("UnknownEdge")],
    Discriminator(_edge_tag),
]

# ------------------------------------------------------------------------------------- declarations, geometry


class TypeDecl(Model):
    """A named record type; a dataclass in the worker and in exported code."""

    name: str
    json_schema: dict[str, JsonValue] = Field(alias="schema")

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, serialize_by_alias=True)


class StateDecl(Model):
    """A key of shared state."""

    key: str
    type: str = "text"
    initial: JsonValue = None


class ModuleDecl(Model):
    """A module of user code, importable by function nodes and tools as ``name``."""

    name: str
    source: str


def _no_parameters() -> dict[str, JsonValue]:
    return {"type": "object", "properties": {}}


class ToolDecl(Model):
    """A tool that agents may call.

    Its code is ``source`` (one Python function, written here) or ``call`` (``module:function`` of the document's
    modules); a tool with approval ``caller`` has none: whoever runs the workflow answers, in a form made of
    ``result_schema`` if there is one. ``timeout``: seconds of one call; limits count within one session of an agent.
    ``result``: a text as it is and anything else as JSON, or always JSON. ``has_effects``: it changes something
    outside, which no rollback undoes.
    ``from_code``: fields that follow the code while it is edited.
    """

    name: str
    description: str = ""
    call: str = ""
    source: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=_no_parameters)
    approval: Literal["never", "always", "caller"] = "never"
    timeout: float | None = None
    max_invocations: int | None = None
    max_invocation_exceptions: int | None = None
    result: Literal["text", "json"] = "text"
    has_effects: bool = False
    result_schema: dict[str, JsonValue] | None = None
    from_code: tuple[Literal["name", "description", "parameters"], ...] = ()


class McpServerDecl(Model):
    """An MCP server whose tools agents may use.

    ``stdio``: a program (``command``, ``arguments``) that is started in ``folder``, relative to the workflow's file;
    ``environment`` are the only variables it gets beside the few that every program needs. ``http``: streamable HTTP at
    ``url`` with ``headers``. Values of variables and headers are texts or references to secrets (``env:NAME``,
    ``keychain:ID``). ``tools``: names of those that are taken, None for all. ``timeout``: seconds of one call.
    """

    name: str
    transport: Literal["stdio", "http"] = "stdio"
    command: str = ""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    approval: Literal["unless_read_only", "always", "never"] = "unless_read_only"
    timeout: float = 60


class Note(Model):
    """A sticky note; Markdown text."""

    id: str
    text: str = ""
    color: str = "yellow"


class Group(Model):
    """A frame around nodes, or a pattern (sequential, concurrent, handoff, group_chat) with its settings."""

    id: str
    name: str
    kind: str = "frame"
    members: tuple[str, ...] = ()
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class Place(Model):
    """Where something is drawn: scene units, top left corner (for a bar or rhombus: of its bounding box).

    ``bends``: of a line, the points it goes through. ``collapsed``: a group that is drawn as one card. ``kept``: what
    arranges leaves it where it is."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    x: float
    y: float
    width: float | None = None
    height: float | None = None
    bends: tuple[tuple[float, float], ...] = ()
    collapsed: bool = False
    kept: bool = False


class OfflineScript(Model):
    """The script of the built-in model: node id -> ``{"replies": [...], "then": ...}``, and a delay between chunks.
    An agent of a conversation runner has the key ``runner/agent``."""

    nodes: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    delay_ms: float = 0


class ImportedItem(Model):
    """What became of an item of another program's file. ``line`` is its line there, counted from 1."""

    code: str = ""
    item: str = ""
    severity: Literal["info", "warn", "loss"] = "info"
    text: str = ""
    line: int | None = None


class ImportRecord(Model):
    """Where a document comes from: the name of the format and of the file, and the report of the import."""

    format: str = ""
    source: str = ""
    summary: str = ""
    preface: str = ""
    entries: tuple[ImportedItem, ...] = ()


class Workflow(Model):
    """A whole document. ``places`` is keyed by the id of a node, a switch, a fan-out, a note, a group, or a line with
    bends."""

    id: str = Field(default_factory=lambda: uuid4().hex)
    name: str = "Untitled"
    description: str = ""
    start: str | None = None
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    outputs: tuple[str, ...] | Literal["all"] | None = None
    intermediate: tuple[str, ...] | Literal["all", "all_other"] | None = None
    max_supersteps: int = 100
    budget_tokens: int | None = None
    """What all model calls of a run may take together, in and out, workflows inside included; None: no limit."""
    budget_cost: float | None = None
    """The same in money, by the prices of the program."""
    budget_currency: str = "USD"
    types: tuple[TypeDecl, ...] = ()
    state: tuple[StateDecl, ...] = ()
    modules: tuple[ModuleDecl, ...] = ()
    tools: tuple[ToolDecl, ...] = ()
    mcp_servers: tuple[McpServerDecl, ...] = ()
    notes: tuple[Note, ...] = ()
    groups: tuple[Group, ...] = ()
    offline: OfflineScript = OfflineScript()
    interpreter: str | None = None
    sample_input: str = ""
    runs_on_disk: bool = True
    """Whether runs are kept in a file; else they are in memory only, and gone with the program."""
    flow: Literal["right", "down"] = "right"
    """Where lines run in the drawing: ports are left and right, or at the top and the bottom."""
    places: dict[str, Place] = Field(default_factory=dict)
    imported: ImportRecord | None = None
    """For one that was taken over from another program."""

    def node(self, node_id: str) -> Node | None:
        """The node with this id, or None."""
        return with_id(self.nodes, node_id)

    def edge(self, edge_id: str) -> Edge | None:
        """The edge group with this id, or None."""
        return with_id(self.edges, edge_id)


SubWorkflowNode.model_rebuild()
