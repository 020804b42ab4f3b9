"""The drawing of the design pictures, and large drawings."""

from __future__ import annotations

from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    Group,
    JoinNode,
    ModuleDecl,
    Note,
    Place,
    SwitchCase,
    SwitchEdge,
    ToolDecl,
    TypeDecl,
    Workflow,
)

_NOTE = "**How it works**\nThe planner splits the question. Three researchers work in the same superstep."


def research_brief() -> Workflow:
    """Planner, three researchers in parallel, join, writer, review loop, publisher."""
    model = "offline-model"
    researchers = [
        ("market", "Market research", 2, 176),
        ("tech", "Tech research", 2, 268),
        ("policy", "Policy research", 1, 360),
    ]
    nodes = [
        AgentNode(id="planner", name="Planner", model=model, tools=("submit_plan",)),
        *(AgentNode(id=i, name=n, model=model, tools=("web_search", "read_page")[:t]) for i, n, t, _ in researchers),
        JoinNode(id="join", name="Join", merge="messages"),
        AgentNode(id="writer", name="Writer", model=model),
        FunctionNode(
            id="publisher", name="Publisher", call="publishing:publish", accepts="text", sends="", yields="Brief"
        ),
    ]
    score = Condition(name="when_score", rule=Rule(op="compares", path="value.score", compare=">=", value=8))
    edges = [
        FanOutEdge(id="split", name="Research", source="planner", targets=("market", "tech", "policy")),
        FanInEdge(id="gather", sources=("market", "tech", "policy"), target="join"),
        DirectEdge(id="join_to_writer", source="join", target="writer"),
        SwitchEdge(
            id="review",
            name="Review",
            source="writer",
            cases=(SwitchCase(id="good", condition=score, target="publisher"),),
            default="planner",
            default_label="revise",
        ),
    ]
    places = {
        "planner": Place(x=36, y=268),
        "split": Place(x=258, y=268, height=64),
        **{i: Place(x=306, y=y) for i, _, _, y in researchers},
        "join": Place(x=568, y=176, height=248),
        "writer": Place(x=618, y=268),
        "review": Place(x=840, y=280),
        "publisher": Place(x=974, y=268),
        "note": Place(x=32, y=-2, width=240),
    }
    return Workflow(
        id="brief",
        name="Research brief",
        start="planner",
        nodes=tuple(nodes),
        edges=tuple(edges),
        outputs=("publisher",),
        types=(TypeDecl(name="Brief", json_schema={"type": "object", "properties": {}}),),
        modules=(ModuleDecl(name="publishing", source="def publish(draft):\n    return draft\n"),),
        tools=tuple(ToolDecl(name=n, approval="caller") for n in ("submit_plan", "web_search", "read_page")),
        notes=(Note(id="note", text=_NOTE),),
        groups=(Group(id="research", name="Research", kind="concurrent", members=("market", "tech", "policy")),),
        places=places,
    )


def small() -> Workflow:
    """Two agents, not connected."""
    return Workflow(
        id="small",
        start="a",
        nodes=(AgentNode(id="a", name="First"), AgentNode(id="b", name="Second")),
        places={"a": Place(x=0, y=0), "b": Place(x=320, y=0)},
    )


def large(count: int) -> Workflow:
    """A wide graph of agents in columns of ten, each connected with the next column."""
    nodes = tuple(AgentNode(id=f"n{i}", name=f"Agent {i}", model="offline-model") for i in range(count))
    edges = tuple(DirectEdge(id=f"e{i}", source=f"n{i}", target=f"n{i + 10}") for i in range(count - 10))
    places = {f"n{i}": Place(x=(i // 10) * 280, y=(i % 10) * 112) for i in range(count)}
    return Workflow(id="large", start="n0", nodes=nodes, edges=edges, places=places)
