"""The research brief of the design pages, as a document."""

from __future__ import annotations

from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    Group,
    HumanInputNode,
    JoinNode,
    Note,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)

WRITER = (
    "Write a two-page brief from the findings. Lead with the answer. Cite each claim as [source id]. "
    "Give your draft a score from 0 to 10 and set needs to what is missing."
)
_SCORE = {"type": "object", "properties": {"score": {"type": "integer"}, "needs": {"type": "string"}}}


def brief() -> Workflow:
    """Planner, three researchers, join, writer, review, publisher."""
    names = {"planner": "Planner", "market": "Market research", "tech": "Tech research", "policy": "Policy research"}
    agents = [AgentNode(id=node, name=name) for node, name in names.items()]
    writer = AgentNode(
        id="writer",
        name="Writer",
        instructions=WRITER,
        model="offline-model",
        temperature=0.3,
        tools=("check_citation",),
        context="last_agent",
        output_schema=_SCORE,
    )
    case = SwitchCase(
        id="review_1",
        target="publisher",
        condition=Condition(rule=Rule(op="compares", path="value.score", compare=">=", value=8), name="when_review_1"),
    )
    return Workflow(
        id="brief",
        name="Research brief",
        start="planner",
        nodes=(
            *agents,
            JoinNode(id="join", name="Join"),
            writer,
            FunctionNode(id="publisher", name="Publisher", body="result = data.strip()", accepts="text", sends="text"),
            HumanInputNode(id="editor", name="Editor", question="Publish {input}?"),
            TemplateNode(id="frame", name="Frame", text="Brief:\n{text}"),
        ),
        edges=(
            FanOutEdge(id="fan", name="Research", source="planner", targets=("market", "tech", "policy")),
            FanInEdge(id="research_join", sources=("market", "tech", "policy"), target="join"),
            DirectEdge(id="join_writer", source="join", target="writer"),
            SwitchEdge(
                id="review", name="Review", source="writer", cases=(case,), default="planner", default_label="revise"
            ),
            DirectEdge(
                id="publisher_editor",
                source="publisher",
                target="editor",
                condition=Condition(rule=Rule(op="contains", path="text", value="draft")),
            ),
        ),
        outputs=("publisher",),
        tools=(ToolDecl(name="check_citation", call="tools:check"), ToolDecl(name="web_search", call="tools:search")),
        notes=(Note(id="note", text="How it works"),),
        groups=(Group(id="research", name="Research", kind="concurrent", members=("market", "tech", "policy")),),
    )
