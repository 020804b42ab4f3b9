"""Small documents of every shape, finished and unfinished, valid and not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from studio.document.agent_options import (
    Compaction,
    ContextProvider,
    MiddlewareDecl,
    RunnerAgent,
    TurnTokenSettings,
)
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    GenericNode,
    Group,
    HandoffEdge,
    HumanInputNode,
    JoinNode,
    Note,
    OfflineScript,
    Place,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    TypeDecl,
    UnknownEdge,
    UnknownNode,
    Workflow,
)

texts = st.text(max_size=12) | st.sampled_from(
    ["", "two\nlines", "{text} {state.k} {nothing}", "class", "日本 “x”", "a\r\n"]
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
rules = st.recursive(
    st.builds(
        Rule,
        op=st.sampled_from(["always", "contains", "equals", "matches", "compares", "type_is"]),
        path=st.sampled_from(["text", "value", "value.score", "type", "state.k", "nothing"]),
        compare=st.sampled_from(["<", ">=", "==", "!="]),
        value=plain,
        ignore_case=st.booleans(),
    ),
    lambda inner: st.builds(
        Rule, op=st.sampled_from(["and", "or", "not"]), rules=st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=3,
)
expressions = st.sampled_from(["value.score >= 8", "text in 'abc'", "(", "nothing + 1", "", "state.k == None"]) | texts
conditions = st.builds(
    Condition,
    kind=st.sampled_from(["rules", "expression", "python"]),
    name=st.sampled_from(["", "when_x"]),
    rule=st.none() | rules,
    expression=expressions,
    body=st.sampled_from(["", "return True", "if"]),
)
places = st.builds(Place, x=st.integers(-500, 500), y=st.integers(-500, 500), width=st.none() | st.integers(160, 320))


def _node(node_id: str) -> st.SearchStrategy[Any]:
    common = {"id": st.just(node_id), "name": texts, "description": texts}
    return st.one_of(
        st.builds(
            AgentNode,
            **common,
            instructions=texts,
            tools=st.sampled_from([(), ("look_up",)]),
            host=st.sampled_from(["python", "turn_token"]),
            turn_token=st.builds(TurnTokenSettings),
            providers=st.lists(st.builds(ContextProvider, path=texts, body=texts), max_size=2).map(tuple),
            middleware=st.lists(st.builds(MiddlewareDecl, body=texts, call=texts), max_size=2).map(tuple),
            compaction=st.builds(Compaction, strategy=st.sampled_from(["none", "token_budget"]), prompt=texts),
        ),
        st.builds(
            RunnerNode,
            **common,
            agents=st.lists(st.builds(RunnerAgent, id=texts, name=texts, instructions=texts), max_size=2).map(tuple),
        ),
        st.builds(FunctionNode, **common, body=texts, call=st.sampled_from(["", "m:f", "x"]), yields=st.none() | texts),
        st.builds(HumanInputNode, **common, question=texts, answer_type=st.sampled_from(["text", "boolean", "Odd"])),
        st.builds(TemplateNode, **common, text=texts),
        st.builds(SubWorkflowNode, **common, embedded=st.none() | st.builds(Workflow, id=st.just("in"), name=texts)),
        st.builds(JoinNode, **common, merge=st.sampled_from(["texts", "messages", "code"])),
        st.builds(GenericNode, **common, kind=st.sampled_from(["pass", "end", "loop", "placeholder"])),
        plain.map(
            lambda value: UnknownNode.model_validate({"id": node_id, "name": "New", "kind": "warp", "odd": value})
        ),
    )


def _edge(edge_id: str, ids: list[str]) -> st.SearchStrategy[Any]:
    end = st.sampled_from([*ids, "gone"])
    ends = st.lists(end, max_size=3).map(tuple)
    cases = st.lists(st.tuples(end, st.none() | conditions), max_size=2).map(
        lambda found: tuple(
            SwitchCase(id=f"{edge_id}_c{i}", target=target, condition=c) for i, (target, c) in enumerate(found)
        )
    )
    return st.one_of(
        st.builds(DirectEdge, id=st.just(edge_id), source=end, target=end, condition=st.none() | conditions),
        st.builds(SwitchEdge, id=st.just(edge_id), source=st.none() | end, cases=cases, default=st.none() | end),
        st.builds(
            FanOutEdge,
            id=st.just(edge_id),
            source=st.none() | end,
            targets=ends,
            selection=st.none() | st.dictionaries(end, conditions, max_size=2),
        ),
        st.builds(FanInEdge, id=st.just(edge_id), sources=ends, target=end),
        st.builds(HandoffEdge, id=st.just(edge_id), source=end, target=end, reason=texts),
        plain.map(lambda value: UnknownEdge.model_validate({"id": edge_id, "kind": "wormhole", "odd": value})),
    )


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """A document with up to five nodes and five edge groups, declarations, notes, groups, places, unknown fields."""
    ids = [f"n{i}" for i in range(draw(st.integers(1, 5)))]
    edge_ids = [f"e{i}" for i in range(draw(st.integers(0, 5)))]
    some = st.lists(st.sampled_from(ids), max_size=2).map(tuple)
    values: dict[str, Any] = {
        "id": "w",
        "name": draw(texts),
        "nodes": tuple(draw(_node(i)) for i in ids),
        "edges": tuple(draw(_edge(i, ids)) for i in edge_ids),
        "start": draw(st.none() | st.sampled_from([*ids, "gone"])),
        "outputs": draw(st.none() | st.just("all") | some),
        "intermediate": draw(st.none() | st.just("all_other") | some),
        "notes": draw(st.sampled_from([(), (Note(id="note", text="a\nb"),)])),
        "groups": draw(st.sampled_from([(), (Group(id="group", name="G", members=(ids[0],)),)])),
        "types": draw(st.sampled_from([(), (TypeDecl(name="Score", json_schema={"type": "object"}),)])),
        "state": draw(st.sampled_from([(), (StateDecl(key="k"),)])),
        "tools": draw(st.sampled_from([(), (ToolDecl(name="look_up", approval="caller"),)])),
        "offline": OfflineScript(nodes=draw(st.dictionaries(st.sampled_from(ids), replies, max_size=1))),
        "places": draw(st.dictionaries(st.sampled_from([*ids, *edge_ids, "note", "group"]), places, max_size=4)),
    }
    if draw(st.booleans()):
        values["future"] = draw(plain)
    return Workflow(**values)


replies = st.lists(st.builds(lambda text: {"text": text}, texts), max_size=2).map(lambda found: {"replies": found})
