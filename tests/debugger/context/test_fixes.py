"""What a rule found can be mended in the drawing with one step; a rule with two ways has two."""

from __future__ import annotations

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import user
from studio.agents.session import Session
from studio.assembly.pipeline import context_providers
from studio.debugger.context.fixes import fixes
from studio.debugger.context.items import Finding
from studio.document.model import AgentNode, FunctionNode, ToolDecl, Workflow

from tests.fakes.scripted_client import ScriptedClient


def found(rule: str, node: str = "a") -> Finding:
    return Finding(rule, "", "warning", node, "i1", "", "", "")


def drawing(**of_agent: object) -> Workflow:
    agent = AgentNode.model_validate({"id": "a", "name": "A", **of_agent})
    return Workflow(start="a", nodes=(agent, FunctionNode(id="f", name="F")), outputs=("a", "f"))


def after(workflow: Workflow, rule: str, at: int) -> AgentNode:
    fix = fixes(found(rule), workflow)[at]
    assert fix.edit is not None
    assert fix.step
    node = fix.edit.apply(workflow).workflow.node("a")
    assert isinstance(node, AgentNode)
    return node


def test_a_duplicate_has_two_ways_out() -> None:
    workflow = drawing(session="shared")
    assert [f.text for f in fixes(found("W1"), workflow)] == ["Use last reply only", "Own session"]
    assert (after(workflow, "W1", 0).context, after(workflow, "W1", 0).session) == ("last_agent", "shared")
    assert (after(workflow, "W1", 1).context, after(workflow, "W1", 1).session) == ("full", None)


async def test_a_node_that_has_its_session_for_itself_begins_every_turn_without_history() -> None:
    workflow = drawing(providers=[{"kind": "text", "text": "Be brief."}])
    assert [f.text for f in fixes(found("W1"), workflow)] == ["Use last reply only", "New session per turn"]
    node = after(workflow, "W1", 1)
    assert [p.kind for p in node.providers] == ["text", "history"]
    assert len(fixes(found("W1"), workflow.model_copy(update={"nodes": (node,)}))) == 1, "not offered twice"

    client = ScriptedClient(["one", "two"])
    made = context_providers(node, None, client, None)  # type: ignore[arg-type]
    agent, session = Agent("a", client, providers=made), Session()
    for text in ("first", "second"):
        await agent.run([user(text)], session=session)
    said = [[(m.role, m.text) for m in request.messages] for request in client.requests]
    assert said == [[("user", "first")], [("user", "second")]]


def test_an_agent_whose_turn_may_wait_keeps_its_history() -> None:
    asks = ToolDecl(name="mail", approval="always")
    workflow = drawing(tools=["mail"]).model_copy(update={"tools": (asks,)})
    assert [f.text for f in fixes(found("W1"), workflow)] == ["Use last reply only"]


def test_a_wide_context_is_narrowed_or_compacted() -> None:
    workflow = drawing()
    assert [f.text for f in fixes(found("W13"), workflow)] == ["Use last reply only", "Keep only the newest messages"]
    assert after(workflow, "W13", 1).compaction.strategy == "sliding_window"
    done = drawing(context="last_agent", compaction={"strategy": "truncation"})
    assert fixes(found("W13"), done) == ()


def test_a_second_answer_is_taken_out_of_the_outputs() -> None:
    workflow = drawing()
    (fix,) = fixes(found("W2"), workflow)
    assert fix.edit is not None
    assert fix.edit.apply(workflow).workflow.outputs == ("f",)
    only = workflow.model_copy(update={"outputs": ("a",)})
    assert fixes(found("W2"), only) == (), "without any output all nodes would answer"


@pytest.mark.parametrize(("rule", "field"), [("W14", "middleware"), ("W15", "turn_token")])
def test_what_a_person_must_decide_leads_to_the_field(rule: str, field: str) -> None:
    (fix,) = fixes(found(rule), drawing())
    assert (fix.edit, fix.field) == (None, field)


@pytest.mark.parametrize("host", ["turn_token"])
def test_a_fix_that_the_node_cannot_have_is_not_offered(host: str) -> None:
    assert fixes(found("W4"), drawing(host=host)) == ()
    assert fixes(found("W1", "gone"), drawing()) == ()
    assert fixes(found("W1", "f"), drawing()) == ()
    assert fixes(found("W9"), drawing()) == ()
