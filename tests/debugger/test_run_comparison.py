"""Two branches side by side: shared beginning, what differs, other ways, renamed nodes, totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studio.agents.cost import Cost
from studio.agents.messages import ApprovalResponse, ToolCall, Usage, user
from studio.debugger.run_comparison import Compared, Row, RunComparison, Side, compare
from studio.debugger.traces import made
from studio.document.model import AgentNode, DirectEdge, SwitchCase, SwitchEdge, Workflow
from studio.engine import events as ev

SPENT = Usage(10, 5)
Step = Sequence[tuple[str, str]]
"""Nodes of a superstep and what they say."""


def drawing(prompt: str = "Write.", writer: str = "writer") -> Workflow:
    agents = [AgentNode(id=n, name=n.title(), instructions=prompt) for n in ("plan", writer, "publish", "again")]
    return Workflow(
        start="plan",
        nodes=tuple(agents),
        edges=(
            DirectEdge(id="e", source="plan", target=writer),
            SwitchEdge(
                id="review", name="Review", source=writer, default="again",
                cases=(SwitchCase(id="good", target="publish", label="score ≥ 8"),),
            ),
        ),
    )  # fmt: skip


def happened(
    steps: Sequence[Step], *, checkpoints: str, ways: dict[str, str] | None = None, usage: Usage = SPENT
) -> list[ev.Event]:
    """A log: every node makes a model call of 10 + 5 tokens and takes a second."""
    events: list[ev.Event] = [ev.RunStarted(0, "input", "go")]
    t = 0.0
    for number, step in enumerate(steps, 1):
        events.append(ev.SuperstepStarted(t, number))
        for node, text in step:
            key = f"{number}.{node}"
            events.append(ev.NodeStarted(t, number, node, key, (), "in"))
            events.append(ev.ModelCallStarted(t, node, key, key, (user("in"),), "m"))
            events.append(ev.ModelCallFinished(t, node, key, key, usage))
            events.append(ev.MessageQueued(t, number, f"m{key}", node, None, text, key))
            events.append(ev.StateWritten(t, number, node, "draft", text))
            t += 1
            events.append(ev.NodeFinished(t, number, node, key, (text,)))
            target = (ways or {}).get(node)
            if target:
                events.append(ev.MessageRouted(t, number, f"m{key}", "review", node, target, delivered=True))
        events.append(ev.CheckpointSaved(t, checkpoints[number - 1], None, "superstep", number))
        events.append(ev.SuperstepFinished(t, number, checkpoints[number - 1]))
    return events


def side(name: str, events: list[ev.Event], document: Workflow | None = None, **names: str) -> Compared:
    trace = made(events, lambda _node, _model, usage: (usage.input or 0) / 1000)
    return Compared(Side(name, "run 1", name), trace, document or drawing(), trace.state, names)


def shown(rows: Sequence[Row]) -> list[Any]:
    return [
        (r.kind, *(f"{c.number} {c.name} {c.note}".strip() if c else None for c in (r.a, r.b)))
        for r in rows
    ]  # fmt: skip


def two() -> RunComparison:
    a = happened(
        [[("plan", "p")], [("writer", "bad")], [("again", "x")], [("plan", "q")], [("publish", "out")]],
        checkpoints="cdefg", ways={"writer": "again"},
    )  # fmt: skip
    b = happened(
        [[("plan", "p")], [("writer", "good")], [("publish", "out")]],
        checkpoints="cxy", ways={"writer": "publish"},
    )  # fmt: skip
    return compare(side("main", a, c="plan approved"), side("Fork A", b, drawing("Write well.")))


def test_shared_different_another_way_only_one_and_same() -> None:
    found = two()
    assert shown(found.path) == [
        ("shared", "1 Same up to “plan approved”", "1 identical, from the same checkpoint"),
        ("different", "2 Writer", "2 Writer"),
        ("route", "Review took default → Again", "Review took score ≥ 8 → Publish"),
        ("only_a", "3–4 Again, Plan", None),
        ("different", "5 Publish", "3 Publish"),
    ]
    writer = found.path[1]
    assert [(d.label, d.a, d.b) for d in writer.details] == [
        ("prompt", "Write.", "Write well."), ("reply", "bad", "good"),
    ]  # fmt: skip
    assert [d.label for d in found.path[4].details] == ["prompt"]
    assert [r.kind for r in found.path[3].children] == ["only_a", "only_a"]
    assert [r.differs for r in found.path] == [False, True, True, True, True]


def test_totals_are_of_the_whole_way() -> None:
    found = two()
    assert (found.a.supersteps, found.a.tokens, found.a.seconds) == (5, 75, 5.0)
    assert found.a.cost is not None
    assert abs(found.a.cost - 0.05) < 1e-9
    assert (found.b.supersteps, found.b.tokens, found.b.seconds) == (3, 45, 3.0)
    shared, lonely = found.path[0].a, found.path[3].a
    assert shared is not None
    assert lonely is not None
    assert (shared.tokens, lonely.tokens, lonely.seconds) == (15, 30, 2.0)


def test_messages_state_and_prompts() -> None:
    found = two()
    assert [(r.kind, r.details[0].a, r.details[0].b) for r in found.messages] == [
        ("different", "bad", "good"), ("only_a", "x", ""), ("only_a", "q", ""), ("same", "out", "out"),
    ]  # fmt: skip
    assert [(r.kind, r.a and r.a.name, r.details[0].a) for r in found.state] == [("same", "draft", "out")]
    assert {r.kind for r in found.prompts} == {"different"}
    assert len(found.prompts) == 4


def test_a_node_with_another_id_is_taken_for_the_same() -> None:
    a = happened([[("plan", "p")], [("writer", "text")]], checkpoints="ab")
    b = happened([[("plan", "p")], [("author", "text")]], checkpoints="xy")
    found = compare(side("main", a), side("other", b, drawing(writer="author")))
    assert shown(found.path) == [("same", "1 Plan", "1 Plan"), ("same", "2 Writer", "2 Author")]
    assert [r.kind for r in found.messages] == ["same", "same"]


def test_parallel_nodes_are_paired_by_node_and_unknown_cost_stays_unknown() -> None:
    no_price = Usage(10, 5, cost=Cost(partial=True, without_price=1))
    a = happened([[("plan", "p"), ("writer", "one")]], checkpoints="a", usage=no_price)
    b = happened([[("writer", "one"), ("plan", "other")]], checkpoints="b")
    assert made(b).spent.cost == 0, "the offline model costs nothing"
    trace = made(a)
    assert trace.spent.cost is None
    unknown = Compared(Side("main"), trace, drawing(), {})
    found = compare(unknown, side("other", b))
    assert shown(found.path) == [("different", "1 Plan", "1 Plan"), ("same", "1 Writer", "1 Writer")]
    assert (found.a.cost, found.b.cost) == (None, 0.02)


def test_errors_and_answers_are_compared() -> None:
    def log(answer: str, error: str) -> list[ev.Event]:
        return [
            ev.RequestRaised(0, "r", "writer", "Good?", "str"),
            ev.RequestAnswered(0, "r", "writer", answer),
            ev.SuperstepStarted(0, 1),
            ev.NodeStarted(0, 1, "plan", "i", (), "in"),
            ev.NodeFailed(1, 1, "plan", "i", "ValueError", error),
            ev.RunFailed(1, "ValueError", error),
        ]

    found = compare(side("a", log("yes", "broken")), side("b", log("no", "lost")))
    assert shown(found.path) == [("different", "Writer answer", "Writer answer"), ("different", "1 Plan", "1 Plan")]
    assert [(d.label, d.a, d.b) for row in found.path for d in row.details] == [
        ("answer", "yes", "no"), ("error", "broken", "lost"),
    ]  # fmt: skip


def test_what_was_refused_first_stands_alone_behind_the_same_beginning() -> None:
    def said(approved: bool, number: int) -> ev.RequestAnswered:
        call = ToolCall("c", "submit", '{"n": 1}')
        return ev.RequestAnswered(number, f"r{number}", "plan", ApprovalResponse(f"r{number}", approved, call))

    asking = [("plan", "")]
    a = happened([asking, asking, [("plan", "ok")], [("publish", "out")]], checkpoints="abcd")
    b = happened([asking, [("plan", "ok")], [("publish", "out")]], checkpoints="wxy")
    for events, answers in ((a, {2: False, 3: True}), (b, {2: True})):
        for number, approved in answers.items():
            at = next(i for i, e in enumerate(events) if isinstance(e, ev.SuperstepStarted) and e.superstep == number)
            events.insert(at, said(approved, number))
    found = compare(side("refused first", a), side("approved", b))
    assert shown(found.path) == [
        ("same", "1 Plan", "1 Plan"),
        ("only_a", "2 Plan", None),
        ("same", "3 Plan", "2 Plan same node, 1 superstep earlier"),
        ("same", "4 Publish", "3 Publish same node, 1 superstep earlier"),
    ]
    assert [(d.label, d.a) for d in found.path[1].details] == [("answer", 'refused submit({"n": 1})')]
