"""Turn tokens in a drawing: what a run adds, and what the checks say about tokens that do not come or come twice."""

from __future__ import annotations

from typing import Any

import pytest
from studio.document import turns, types
from studio.document.agent_options import TurnTokenSettings
from studio.document.conditions import Condition, Rule
from studio.document.model import AgentNode
from studio.document.validate import problems

from tests.document.building import Drawing

YES = Condition(rule=Rule(op="contains", value="yes"))


def hosts(count: int, *others: str) -> tuple[Drawing, list[str]]:
    """A drawing with agents of the turn-token host, the first as the start."""
    drawing = Drawing()
    ids = [drawing.add("agent") for _ in range(count)]
    for id in ids:
        drawing.set(id, host="turn_token")
    return drawing, [*ids, *(drawing.add(kind) for kind in others)]


def options(drawing: Drawing, id: str, **values: Any) -> None:
    drawing.set(id, turn_token=TurnTokenSettings(**values))


def test_a_chain_of_hosts_has_no_problem_and_one_added_node() -> None:
    drawing, (a, b) = hosts(2)
    drawing.connect(a, b)
    assert drawing.codes() == []
    assert list(turns.added_nodes(drawing.workflow)) == ["chat_start"]
    assert types.accepts(drawing.node(b)) == ("text", "message", "messages", "turn_token")
    assert types.sends(drawing.node(a)) == ("messages", "turn_token")


def test_the_id_of_the_start_is_free() -> None:
    drawing, _ = hosts(1)
    assert drawing.add("function", "Chat start") == "chat_start"
    assert turns.start_id(drawing.workflow) == "chat_start_2"
    drawing.set_workflow(start="chat_start")
    assert turns.start_id(drawing.workflow) is None


@pytest.mark.parametrize(
    ("values", "token"),
    [
        ({}, True),
        ({"emit_agent_update_events": False}, "run"),
        ({"emit_agent_update_events": True}, "run"),
        ({"first_token": "open"}, None),
        ({"first_token": "on", "emit_agent_update_events": False}, True),
        ({"first_token": "off"}, False),
    ],
)
def test_what_the_first_token_says(values: dict[str, Any], token: object) -> None:
    node = AgentNode(id="a", name="A", host="turn_token", turn_token=TurnTokenSettings(**values))
    assert turns.first_token(node) == token


def test_conditional_groups_behind_a_host_get_a_router() -> None:
    drawing, (a, b, c) = hosts(3)
    drawing.connect(a, b)
    drawing.connect(a, c)
    edges = [e.id for e in drawing.workflow.edges]
    assert list(turns.added_nodes(drawing.workflow)) == ["chat_start"]
    drawing.set(edges[0], condition=YES)
    assert list(turns.added_nodes(drawing.workflow)) == ["chat_start", edges[0]]


def test_joins_behind_hosts_get_collectors_also_through_a_pass() -> None:
    drawing, (a, b, c, way, join, d) = hosts(3, "pass", "join", "agent")
    drawing.connect(a, b, way)
    drawing.connect(a, c)
    drawing.connect(way, join)
    drawing.connect(c, join)
    fan_in = next(e for e in drawing.workflow.edges if e.kind == "fan_in")
    collectors = [f"{fan_in.id}:to:{way}", f"{fan_in.id}:to:{c}"]
    assert list(turns.added_nodes(drawing.workflow)) == ["chat_start", *collectors]
    drawing.set(join, merge="messages")
    drawing.connect(join, d)
    assert not turns.joins_turns(drawing.workflow, drawing.node(join))
    drawing.set(d, host="turn_token")
    assert turns.joins_turns(drawing.workflow, drawing.node(join))
    assert drawing.codes() == []


def test_a_token_that_never_comes() -> None:
    drawing, (b, f) = hosts(1, "function")
    drawing.connect(f, b)
    drawing.set_workflow(start=f)
    found = drawing.problem("turn_starved")
    assert (found.place, found.field, found.severity) == (b, "host", "warning")
    assert found.message == "“Agent” never takes a turn: “Function” sends it messages, but no turn token."
    assert found.fix is not None
    fixed = found.fix.edit.apply(drawing.workflow).workflow
    assert "turn_starved" not in [p.code for p in problems(fixed)]
    drawing.set(f, sends="text | turn_token")
    assert "turn_starved" not in drawing.codes()


def test_two_tokens_where_ways_meet_again() -> None:
    drawing, (s, a, b, c) = hosts(4)
    drawing.connect(s, a, c)
    drawing.connect(s, b, c)
    assert drawing.problem("turn_doubled").place == c
    assert "“Agent 2”" in drawing.problem("turn_doubled").message
    assert "“Agent 3”" in drawing.problem("turn_doubled").message


def test_a_loop_and_a_switch_give_one_token_at_a_time() -> None:
    drawing, (a, b, c) = hosts(3)
    drawing.connect(a, b)
    drawing.connect(b, a)
    drawing.connect(b, c)
    edges = {(e.source, e.target): e.id for e in drawing.workflow.edges if e.kind == "direct"}
    drawing.set(edges[b, a], condition=YES)
    drawing.set(edges[b, c], condition=YES)
    assert "turn_doubled" not in drawing.codes()


def test_a_shortcut_past_a_host_gives_two_tokens() -> None:
    drawing, (a, b, c) = hosts(3)
    drawing.connect(a, b, c)
    drawing.connect(a, c)
    assert drawing.problem("turn_doubled").place == c


def test_a_node_that_knows_no_turns_runs_twice() -> None:
    drawing, (a, f) = hosts(1, "function")
    drawing.set(f, accepts="text")
    drawing.connect(a, f)
    found = drawing.problem("turn_in_pieces")
    assert found.message.startswith("“Function” runs twice for each turn of “Agent”")
    assert found.fix is not None
    fixed = found.fix.edit.apply(drawing.workflow).workflow
    assert "turn_in_pieces" not in [p.code for p in problems(fixed)]


def test_an_option_that_the_token_overrules() -> None:
    drawing, (a, b) = hosts(2)
    drawing.connect(a, b)
    options(drawing, a, emit_agent_update_events=False)
    assert "emit_overruled" not in drawing.codes()
    options(drawing, b, emit_agent_update_events=True)
    found = drawing.problem("emit_overruled")
    assert (found.place, found.severity) == (b, "info")
    options(drawing, b)
    options(drawing, a, emit_agent_update_events=False, first_token="on")
    assert drawing.problem("emit_overruled").place == a


def test_intercepted_requests_need_somebody_who_takes_them() -> None:
    drawing, (a, b, f) = hosts(2, "function")
    options(drawing, a, intercept_unterminated_function_calls=True, forward_incoming_messages=False)
    drawing.connect(a, b)
    found = drawing.problem("intercepted_unhandled")
    assert found.field == "turn_token.intercept_unterminated_function_calls"
    assert "content" in types.sends(drawing.node(a))
    drawing.set(f, accepts="content", sends="content")
    drawing.connect(a, f)
    drawing.connect(f, a)
    assert "intercepted_unhandled" not in drawing.codes()
