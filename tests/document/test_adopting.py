"""Models and tools of a workflow from elsewhere are mapped to what is here, in one edit."""

from __future__ import annotations

from studio.document.adopting import (
    Choices,
    ModelChoice,
    ToolChoice,
    adopt,
    named_models,
    places_of_code,
    tools_without_code,
)
from studio.document.agent_options import RunnerAgent
from studio.document.model import (
    AgentNode,
    McpServerDecl,
    ModuleDecl,
    RunnerNode,
    SubWorkflowNode,
    ToolDecl,
    Workflow,
)

CODE = 'def look_up(part: str) -> str:\n    """Looks up."""\n    return part\n'
INNER = Workflow(nodes=(AgentNode(id="i", name="Inner", model="big", tools=("find",)),), tools=(
    ToolDecl(name="find", approval="caller"),
))  # fmt: skip
FLOW = Workflow(
    nodes=(
        AgentNode(id="a", name="Writer", model="big", tools=("find", "now")),
        AgentNode(id="b", name="Critic", model="big", profile="Ours"),
        RunnerNode(id="r", name="Desk", agents=(RunnerAgent(id="x", name="Ann", model="small", tools=("find",)),)),
        SubWorkflowNode(id="s", name="Sub", embedded=INNER),
    ),
    tools=(ToolDecl(name="find", approval="caller"), ToolDecl(name="now", source=CODE)),
    modules=(ModuleDecl(name="parts", source=CODE),),
    mcp_servers=(McpServerDecl(name="shop", command="shop"),),
)


def adopted(flow: Workflow, choices: Choices) -> Workflow:
    edit = adopt(flow, choices)
    assert edit is not None
    done = edit.apply(flow)
    assert done.inverse.apply(done.workflow).workflow == flow
    return done.workflow


def agent(flow: Workflow, node_id: str) -> AgentNode:
    node = flow.node(node_id)
    assert isinstance(node, AgentNode)
    return node


def test_what_is_named() -> None:
    models = named_models(FLOW)
    assert {name: used.users for name, used in models.items()} == {
        "big": ("Writer", "Sub: Inner"),
        "small": ("Desk: Ann",),
    }
    assert models["big"].nodes == {"a", "s"}
    assert {n: u.users for n, u in tools_without_code(FLOW).items()} == {"find": ("Writer", "Desk: Ann", "Sub: Inner")}


def test_models_get_a_provider_everywhere_but_where_one_is_chosen() -> None:
    after = adopted(FLOW, Choices({"big": ModelChoice("Gateway", None), "small": ModelChoice(None, "tiny")}))
    assert (agent(after, "a").profile, agent(after, "a").model) == ("Gateway", None)
    assert after.node("b") == FLOW.node("b")
    desk, sub = after.node("r"), after.node("s")
    assert isinstance(desk, RunnerNode)
    assert desk.agents[0].model == "tiny"
    assert isinstance(sub, SubWorkflowNode)
    assert sub.embedded is not None
    assert agent(sub.embedded, "i").profile == "Gateway"


def test_what_stays_is_no_edit() -> None:
    assert adopt(FLOW, Choices({"big": ModelChoice(None, "big")})) is None


def test_a_function_stands_for_a_tool() -> None:
    alone = FLOW.model_copy(update={"nodes": FLOW.nodes[:3]})
    assert places_of_code(alone, "find") == [ToolChoice("module", "parts:look_up"), ToolChoice("server", "shop")]
    assert places_of_code(FLOW, "find") == []  # the workflow inside has neither
    tool = adopted(alone, Choices(tools={"find": ToolChoice("module", "parts:look_up")})).tools[0]
    assert (tool.name, tool.call, tool.approval) == ("find", "parts:look_up", "never")
    assert tool.parameters["required"] == ["part"]


def test_a_server_stands_for_a_tool() -> None:
    alone = FLOW.model_copy(update={"nodes": FLOW.nodes[:3]})
    after = adopted(alone, Choices(tools={"find": ToolChoice("server", "shop")}))
    assert [t.name for t in after.tools] == ["now"]
    assert (agent(after, "a").tools, agent(after, "a").mcp_servers) == (("now",), ("shop",))
    assert agent(after, "b").mcp_servers == ()


def test_a_tool_is_written_or_lost_inside_too() -> None:
    after = adopted(FLOW, Choices(tools={"find": ToolChoice("none")}))
    assert tools_without_code(after) == {}
    assert agent(after, "a").tools == ("now",)
    written = adopted(FLOW, Choices(tools={"find": ToolChoice("written")})).tools[0]
    assert written.approval == "never"
    assert "def find(" in written.source
