"""Renaming changes every sure mention, lists the others, and is one edit."""

from __future__ import annotations

import pytest
from studio.document.code_mentions import code_mentions
from studio.document.conditions import Condition, Rule
from studio.document.edits import Edit
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    HumanInputNode,
    ModuleDecl,
    OfflineScript,
    StateDecl,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    TypeDecl,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.references import Kind, names_of, references, renamed
from studio.document.searching import Query, find, replaced
from studio.document.validate import problems

from tests.fuzz.names import NASTY

BODY = (
    "n = ctx.get_state('rounds', 0)\nctx.set_state(key='rounds', value=n + 1)\nrounds = 'rounds'\nresult = str(rounds)"
)


def drawing() -> Workflow:
    expression = Condition(kind="expression", expression="state.rounds > 2 or state['rounds'] == 0 or 'rounds' in text")
    return Workflow(
        start="writer",
        nodes=(
            AgentNode(
                id="writer",
                name="Writer",
                instructions="Call look_up. Hand over to Critic after 3 rounds.",
                tools=("look_up",),
            ),
            FunctionNode(id="count", name="Count", body=BODY, accepts="Score | list[Score]", sends="text"),
            TemplateNode(id="t", name="T", text="{state.rounds} {state.rounds_left} {state.rounds.a} rounds"),
            HumanInputNode(id="critic", name="Critic", answer_type="Score"),
            FunctionNode(id="call", name="Call", call="helpers:run"),
            FunctionNode(
                id="send",
                name="Send",
                body="import helpers\nx = Score(1)\nctx.send_message(x, target_id='critic')\nhelpers.run('critic')",
            ),
        ),
        edges=(
            DirectEdge(
                id="e", source="writer", target="count", condition=Condition(rule=Rule(op="type_is", value=["Score"]))
            ),
            SwitchEdge(
                id="s",
                source="count",
                cases=(
                    SwitchCase(
                        id="s_1", target="t", condition=Condition(rule=Rule(path="state.rounds", op="compares"))
                    ),
                    SwitchCase(id="s_2", target="critic", condition=expression),
                ),
                default="critic",
            ),
        ),
        state=(StateDecl(key="rounds", type="integer", initial=0), StateDecl(key="other", type="Score")),
        types=(TypeDecl(name="Score", json_schema={"type": "object"}),),
        tools=(ToolDecl(name="look_up", call="helpers:look_up"),),
        modules=(
            ModuleDecl(name="helpers", source="def run(data): return 'Score'\ndef look_up(): pass\n"),
            ModuleDecl(
                name="more", source="from helpers import run\nimport helpers as h\nhelpers = h\nhelpers.run(1)\n"
            ),
        ),
        offline=OfflineScript(
            nodes={"writer": {"replies": [{"calls": [{"tool": "look_up", "arguments": {}}], "text": "look_up"}]}}
        ),
    )


def done(kind: Kind, name: str, new: str) -> Workflow:
    edit = renamed(drawing(), kind, name, new)
    assert not isinstance(edit, Problem)
    applied = edit.apply(drawing())
    assert applied.inverse.apply(applied.workflow).workflow == drawing().model_copy(update={"id": applied.workflow.id})
    return applied.workflow


@pytest.fixture(autouse=True)
def same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.document.model.uuid4", lambda: type("U", (), {"hex": "x"}))


def unsure(kind: Kind, name: str) -> list[tuple[str, str]]:
    return [(r.hit.slot.place, r.hit.slot.field) for r in references(drawing(), kind, name) if not r.sure]


def test_a_state_key() -> None:
    after = done("state", "rounds", "turns")
    count, template = after.node("count"), after.node("t")
    assert isinstance(count, FunctionNode)
    assert count.body == (
        "n = ctx.get_state('turns', 0)\nctx.set_state(key='turns', value=n + 1)\n"
        "rounds = 'rounds'\nresult = str(rounds)"
    )
    assert isinstance(template, TemplateNode)
    assert template.text == "{state.turns} {state.rounds_left} {state.turns.a} rounds"
    switch = after.edge("s")
    assert isinstance(switch, SwitchEdge)
    first, second = (c.condition for c in switch.cases)
    assert first is not None
    assert first.rule is not None
    assert first.rule.path == "state.turns"
    assert second is not None
    assert second.expression == "state.turns > 2 or state['turns'] == 0 or 'rounds' in text"
    assert after.state[0].key == "turns"
    assert unsure("state", "rounds") == [("count", "body")] * 3 + [("s_2", "condition")]
    before = {p.code for p in problems(drawing())}
    assert {p.code for p in problems(after)} == before, "nothing that worked is broken"


def test_a_type() -> None:
    after = done("type", "Score", "Mark")
    count, critic, send = after.node("count"), after.node("critic"), after.node("send")
    assert isinstance(count, FunctionNode)
    assert count.accepts == "Mark | list[Mark]"
    assert isinstance(critic, HumanInputNode)
    assert critic.answer_type == "Mark"
    assert isinstance(send, FunctionNode)
    assert "x = Mark(1)" in send.body
    assert after.state[1].type == "Mark"
    assert after.types[0].name == "Mark"
    edge = after.edge("e")
    assert isinstance(edge, DirectEdge)
    assert edge.condition is not None
    assert edge.condition.rule is not None
    assert edge.condition.rule.value == ["Mark"]
    assert unsure("type", "Score") == [("", "modules")]


def test_only_chosen_places_change() -> None:
    found = [r for r in references(drawing(), "type", "Score") if r.hit.slot.place == "critic"]
    edit = renamed(drawing(), "type", "Score", "Mark", found)
    assert not isinstance(edit, Problem)
    changes = edit.apply(drawing()).changes
    assert (changes.nodes_changed, changes.workflow) == ({"critic"}, {"types"})


def test_a_tool() -> None:
    after = done("tool", "look_up", "search")
    writer = after.node("writer")
    assert isinstance(writer, AgentNode)
    assert writer.tools == ("search",)
    assert after.tools[0].name == "search"
    assert after.tools[0].call == "helpers:look_up", "the function behind it has a name of its own"
    assert after.offline.nodes["writer"]["replies"] == [
        {"calls": [{"tool": "search", "arguments": {}}], "text": "look_up"}
    ]
    assert unsure("tool", "look_up") == [("writer", "instructions"), ("", "modules"), ("", "offline")]


def test_a_module() -> None:
    after = done("module", "helpers", "tools")
    call, send = after.node("call"), after.node("send")
    assert isinstance(call, FunctionNode)
    assert call.call == "tools:run"
    assert isinstance(send, FunctionNode)
    assert send.body.startswith("import tools\n")
    assert send.body.endswith("tools.run('critic')")
    assert after.tools[0].call == "tools:look_up"
    assert after.modules[1].source == "from tools import run\nimport tools as h\nhelpers = h\nhelpers.run(1)\n"


def test_an_id() -> None:
    after = done("id", "critic", "editor")
    send, switch = after.node("send"), after.edge("s")
    assert isinstance(send, FunctionNode)
    assert "target_id='editor'" in send.body
    assert "helpers.run('critic')" in send.body
    assert isinstance(switch, SwitchEdge)
    assert switch.default == "editor"
    assert after.node("critic") is None
    assert unsure("id", "critic") == [("send", "body")]


def test_a_name_lists_prompts_that_say_it() -> None:
    after = done("node", "critic", "Editor")
    found = after.node("critic")
    assert found is not None
    assert found.name == "Editor"
    assert unsure("node", "critic") == [("writer", "instructions")]


@pytest.mark.parametrize(
    ("kind", "name", "new"),
    [
        ("state", "rounds", "other"),
        ("state", "rounds", "a.b"),
        ("state", "rounds", "_x"),
        ("type", "Score", "no type"),
        ("module", "helpers", "more"),
        ("module", "helpers", "a-b"),
        ("tool", "look_up", ""),
        ("tool", "look_up", "a b"),
        ("id", "critic", "writer"),
        ("id", "critic", "no id"),
    ],
)
def test_names_that_cannot_be(kind: Kind, name: str, new: str) -> None:
    assert isinstance(renamed(drawing(), kind, name, new), Problem)


def test_nothing_of_this_name() -> None:
    with pytest.raises(KeyError):
        renamed(drawing(), "state", "nothing", "x")


def test_names_of() -> None:
    assert names_of(drawing(), "state") == (("rounds", "rounds"), ("other", "other"))
    assert names_of(drawing(), "id")[0] == ("writer", "Writer (writer)")


@pytest.mark.parametrize(
    ("code", "kind", "found"),
    [
        ("    x = ctx.get_state('k')\n    # ä\n    y = 'ä'; z = ctx.get_state('k')", "state", 2),
        ("return state['k'] or state.get('k') or state.k", "state", 3),
        ("state = {}\nreturn state['k'] or ctx.get_state('k')", "state", 1),
        ("def (:", "state", 0),
        ("from k import o\nk.k()", "module", 2),
        ("k = 1\nk.k()", "module", 0),
        ("return type == 'k' or type in ('k', 'x')", "type", 2),
        ("def f(x: k) -> k: return k()", "type", 3),
    ],
)
def test_mentions_in_code(code: str, kind: str, found: int) -> None:
    spans = list(code_mentions(code, kind, "k"))
    assert len(spans) == found
    assert all(code[start:end] == "k" for start, end in spans)


def test_an_edit_is_returned() -> None:
    edit: Edit | Problem = renamed(drawing(), "tool", "look_up", "b")
    assert not isinstance(edit, Problem)
    assert edit.apply(drawing()).changes.nodes_changed == {"writer"}


@pytest.mark.parametrize("name", NASTY, ids=[ascii(name)[:40] for name in NASTY])
def test_nasty_names_are_found_replaced_and_renamed(name: str) -> None:
    before = drawing()
    applied = renamed(before, "node", "critic", name)
    if isinstance(applied, Problem):
        assert not name.strip()
        return
    after = applied.apply(before).workflow
    node = after.node("critic")
    assert node is not None
    assert node.name == name
    hits = [h for h in find(after, Query(name, case=True)) if h.slot.path == ("nodes", 3, "name")]
    assert hits
    edit = replaced(after, Query(name, case=True), hits[:1], "Critic")
    assert edit is None or edit.apply(after).workflow.node("critic").name.startswith("Critic")  # type: ignore[union-attr]
    assert references(after, "node", "critic") is not None
