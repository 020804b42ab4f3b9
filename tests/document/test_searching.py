"""Finding and replacing: every text is found where it is, and put back where it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from studio.document.agent_options import MiddlewareDecl, RunnerAgent
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.document.patterns import PatternError
from studio.document.searching import Hit, Query, find, replaced
from studio.document.text_slots import CannotHold, Key, put_texts, text_slots

from tests.document.strategies import workflows


def drawing() -> Workflow:
    rule = Rule(op="and", rules=(Rule(op="contains", value="draft"), Rule(op="equals", path="state.draft", value=3)))
    return Workflow(
        name="Drafts",
        nodes=(
            AgentNode(
                id="writer",
                name="Draft writer",
                instructions="Write a draft.\n  One Draft only.",
                output_schema={"type": "object", "properties": {"draft": {"type": "string"}, "score": {}}},
            ),
            FunctionNode(id="f", name="F", body="draft = data\nresult = draft"),
            TemplateNode(id="t", name="T", text="{state.draft}"),
            SubWorkflowNode(
                id="sub",
                name="Inside",
                embedded=Workflow(id="inner", name="inner", nodes=(AgentNode(id="a", name="Drafty"),)),
            ),
        ),
        edges=(
            DirectEdge(id="e", source="writer", target="f", condition=Condition(rule=rule)),
            SwitchEdge(
                id="s",
                name="S",
                source="f",
                cases=(
                    SwitchCase(
                        id="s_1", target="t", condition=Condition(kind="expression", expression="'draft' in text")
                    ),
                ),
            ),
        ),
        state=(StateDecl(key="draft"),),
        tools=(ToolDecl(name="keep_draft"),),
    )


def places(hits: list[Hit]) -> list[tuple[str, str, int]]:
    return [(h.slot.place, h.slot.field, h.line) for h in hits]


def test_everything_is_found_in_reading_order() -> None:
    hits = list(find(drawing(), Query("draft")))
    assert places(hits) == [
        ("", "name", 1),
        ("writer", "name", 1),
        ("writer", "instructions", 1),
        ("writer", "instructions", 2),
        ("writer", "output_schema", 1),
        ("f", "body", 1),
        ("f", "body", 2),
        ("t", "text", 1),
        ("sub", "", 1),
        ("e", "condition", 1),
        ("e", "condition", 1),
        ("s_1", "condition", 1),
        ("", "state", 1),
        ("", "tools", 1),
    ]
    assert hits[3].excerpt() == ("One Draft only.", 4, 9)
    assert hits[8].slot.inside == ("Inside",)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (Query("draft", case=True), 10),
        (Query("draft", words=True), 11),
        (Query("draft", scopes=frozenset({"code"})), 2),
        (Query("draft", scopes=frozenset({"conditions"})), 3),
        (Query("draft", scopes=frozenset({"prompts"})), 3),
        (Query(r"dr\w+t\b", pattern=True), 12),
        (Query("dr(", pattern=False), 0),
        (Query(""), 0),
        (Query("^", pattern=True), 0),
    ],
)
def test_options(query: Query, count: int) -> None:
    assert len(list(find(drawing(), query))) == count


def test_a_pattern_that_cannot_be_read_is_said() -> None:
    with pytest.raises(PatternError, match="cannot be read"):
        list(find(drawing(), Query("(", pattern=True)))


def test_a_pattern_that_would_hang_is_said() -> None:
    hanging = Workflow(nodes=(AgentNode(id="a", name="A", instructions="a" * 60 + "!"),))
    with pytest.raises(PatternError, match="too long"):
        list(find(hanging, Query(r"(a|a)*$", pattern=True)))


def test_replace_all_is_one_edit_and_comes_back() -> None:
    before = drawing()
    query = Query("draft")
    edit = replaced(before, query, find(before, query), "text")
    assert edit is not None
    done = edit.apply(before)
    after = done.workflow
    writer, function, template, sub = after.nodes
    assert isinstance(writer, AgentNode)
    assert writer.instructions == "Write a text.\n  One text only."
    assert writer.output_schema == {"type": "object", "properties": {"text": {"type": "string"}, "score": {}}}
    assert list(writer.output_schema["properties"]) == ["text", "score"], "the order of the properties stays"  # type: ignore[arg-type]
    assert isinstance(function, FunctionNode)
    assert function.body == "text = data\nresult = text"
    assert isinstance(template, TemplateNode)
    assert template.text == "{state.text}"
    assert isinstance(sub, SubWorkflowNode)
    assert sub.embedded is not None
    assert sub.embedded.nodes[0].name == "texty"
    assert not list(find(after, query))
    assert done.inverse.apply(after).workflow == before
    assert done.changes.nodes_changed == {"writer", "f", "t", "sub"}
    assert done.changes.edges_changed == {"e", "s"}


def test_single_hits_and_groups_of_a_pattern() -> None:
    before = drawing()
    query = Query(r"(D)raft (\w+)", pattern=True, case=True)
    hits = list(find(before, query))
    assert [h.slot.text[h.start : h.end] for h in hits] == ["Draft writer", "Draft only"]
    edit = replaced(before, query, hits[:1], r"\2 \1")
    assert edit is not None
    after = edit.apply(before).workflow
    assert after.nodes[0].name == "writer D"
    assert after.nodes[1] == before.nodes[1]
    with pytest.raises(PatternError, match="replacement"):
        replaced(before, query, hits, r"\9")


def test_a_hit_whose_text_changed_is_left_alone() -> None:
    before = drawing()
    query = Query("Draft writer")
    hits = list(find(before, query))
    renamed = before.model_copy(
        update={"nodes": (before.nodes[0].model_copy(update={"name": "New"}), *before.nodes[1:])}
    )
    assert replaced(renamed, query, hits, "x") is None


def test_a_name_that_is_taken_is_refused() -> None:
    before = drawing()
    slot = next(s for s in text_slots(before) if s.path[-1] == Key("draft"))
    with pytest.raises(CannotHold, match="taken"):
        put_texts(before, {slot.path: "score"})


def test_an_emptied_optional_text_is_none() -> None:
    before = Workflow(nodes=(AgentNode(id="a", name="A", model="m"),), state=(StateDecl(key="k", initial="v"),))
    after = put_texts(before, {("nodes", 0, "model"): "", ("state", 0, "initial"): ""}).apply(before).workflow
    assert isinstance(after.nodes[0], AgentNode)
    assert after.nodes[0].model is None
    assert after.state[0].initial == ""


def test_texts_inside_options_are_found() -> None:
    agent = RunnerAgent(id="front", name="Front desk", instructions="Say needle.")
    before = Workflow(
        nodes=(
            RunnerNode(id="r", name="R", agents=(agent,)),
            AgentNode(
                id="a", name="A", middleware=(MiddlewareDecl(name="m", body="needle = 1"),), tool_choice="needle"
            ),
        )
    )
    hits = list(find(before, Query("needle")))
    assert [(h.slot.place, h.slot.field, h.slot.scope) for h in hits] == [
        ("r", "agents", "prompts"),
        ("a", "tool_choice", "texts"),
        ("a", "middleware", "code"),
    ]
    edit = replaced(before, Query("needle"), hits, "pin")
    assert edit is not None
    runner = edit.apply(before).workflow.nodes[0]
    assert isinstance(runner, RunnerNode)
    assert runner.agents[0].instructions == "Say pin."
    assert not list(find(before, Query("python"))), "words of a fixed list are no texts"


@settings(max_examples=60, deadline=None)
@given(workflows())
def test_every_text_can_be_put_back(workflow: Workflow) -> None:
    slots = list(text_slots(workflow))
    assert len({s.path for s in slots}) == len(slots), "no text has two ways to it"
    texts = {s.path: f"{s.text}~" for s in slots if not isinstance(s.path[-1], Key)}
    done = put_texts(workflow, texts).apply(workflow)
    after = {s.path: s.text for s in text_slots(done.workflow)}
    assert all(after[path] == text for path, text in texts.items() if path in after)
    missing = [path for path in texts if path not in after]
    assert not missing or {"op", "kind"} & {str(p[-1]) for p in missing}, missing
    assert done.inverse.apply(done.workflow).workflow == workflow
