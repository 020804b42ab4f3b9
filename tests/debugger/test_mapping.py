"""A checkpoint mapped to another drawing: every id follows, nothing disappears without being named."""

from __future__ import annotations

import json

import pytest
from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage
from studio.debugger.mapping import MappingProblem, NodeMapping, consequences, dead_ends, join_keys, mapped
from studio.document.model import AgentNode, DirectEdge, FanInEdge, JoinNode, Workflow

REQUEST = PendingRequest("r", "ask", "Good?", "str")
KEY = json.dumps([["left", "right"], "join"])
CHECKPOINT = Checkpoint(
    "c",
    None,
    "main",
    signature="old",
    superstep=3,
    messages=(
        QueuedMessage("m1", "writer", None, "one"),
        QueuedMessage("m2", "internal:ask", None, "yes", "response", purpose="answer", request=REQUEST),
        QueuedMessage("m3", "writer", "left", "three"),
    ),
    requests=(REQUEST,),
    executors={"writer": {"n": 1}, "left": {"n": 2}},
    fan_in={KEY: (QueuedMessage("b", "left", None, "buffered"),)},
    name="named",
)
NEW = {"writer": "author", "ask": "question", "left": "west", "join": "meet"}


def _mapped(mapping: NodeMapping) -> Checkpoint:
    return mapped(CHECKPOINT, mapping, signature="new", id="f", run="fork", now=5.0)


def test_every_id_follows() -> None:
    made = _mapped(NodeMapping(NEW))
    assert (made.id, made.parent, made.run, made.signature, made.kind, made.superstep, made.name) == (
        "f", "c", "fork", "new", "fork", 3, "",
    )  # fmt: skip
    assert [(m.id, m.source, m.target) for m in made.messages] == [
        ("m1", "author", None), ("m2", "internal:question", None), ("m3", "author", "west"),
    ]  # fmt: skip
    assert made.messages[1].request == PendingRequest("r", "question", "Good?", "str")
    assert [r.node for r in made.requests] == ["question"]
    assert made.executors == {"author": {"n": 1}, "west": {"n": 2}}
    [(key, buffer)] = made.fan_in.items()
    assert json.loads(key) == [["right", "west"], "meet"]
    assert [m.source for m in buffer] == ["west"]
    assert CHECKPOINT.messages[0].source == "writer", "the original stays"


def test_a_message_of_a_removed_node_needs_a_choice() -> None:
    mapping = NodeMapping({**NEW, "writer": None})
    found = consequences(CHECKPOINT, mapping)
    assert [m.id for m in found.homeless] == ["m1", "m3"]
    assert found.lost_states == ("writer",)
    with pytest.raises(MappingProblem, match="Drop it, or send it to another node"):
        _mapped(mapping)
    made = _mapped(NodeMapping(mapping.nodes, {"m1": "critic"}, frozenset({"m3"})))
    assert [(m.id, m.source, m.target) for m in made.messages] == [
        ("m1", "internal:critic", None), ("m2", "internal:question", None),
    ]  # fmt: skip


def test_what_goes_with_a_removed_node_is_named() -> None:
    found = consequences(CHECKPOINT, NodeMapping({"ask": None, "join": None}))
    assert [m.id for m in found.homeless] == ["m2"]
    assert found.lost_requests == (REQUEST,)
    assert found.lost_buffers == 1


def test_a_buffer_without_its_join_in_the_new_drawing_is_lost() -> None:
    nodes = (*(AgentNode(id=i, name=i) for i in ("left", "right", "third")), JoinNode(id="join", name="Join"))
    edges = (FanInEdge(id="f", sources=("left", "right", "third"), target="join"),)
    keys = join_keys(Workflow(id="w", nodes=nodes, edges=edges))
    assert consequences(CHECKPOINT, NodeMapping({}, joins=keys)).lost_buffers == 1
    same = (FanInEdge(id="f", sources=("right", "left"), target="join"),)
    keys = join_keys(Workflow(id="w", nodes=nodes, edges=same))
    assert consequences(CHECKPOINT, NodeMapping({}, joins=keys)).lost_buffers == 0


def drawn(*edges: tuple[str, str]) -> Workflow:
    names = dict.fromkeys(name for edge in edges for name in edge)
    nodes = tuple(AgentNode(id=name, name=name) for name in names)
    return Workflow(
        id="w",
        start=next(iter(names)),
        nodes=nodes,
        edges=tuple(DirectEdge(id=f"{a}-{b}", source=a, target=b) for a, b in edges),
    )


def test_a_message_whose_receiver_was_removed_needs_a_choice_too() -> None:
    old = drawn(("writer", "critic"), ("critic", "end"))
    new = drawn(("ask", "author"))
    nodes = {**NEW, "critic": None}
    ended = dead_ends(old, new, nodes)
    assert ended == {"writer", "critic"}
    mapping = NodeMapping(nodes, ended=ended)
    assert [m.id for m in consequences(CHECKPOINT, mapping).homeless] == ["m1"]
    with pytest.raises(MappingProblem, match="Drop it, or send it to another node"):
        _mapped(mapping)
    made = _mapped(NodeMapping(nodes, {"m1": "author"}, ended=ended))
    assert (made.messages[0].id, made.messages[0].source) == ("m1", "internal:author")
    assert dead_ends(old, drawn(("author", "end")), nodes) == {"critic"}, "another node gets what the writer says"
    assert dead_ends(drawn(("ask", "writer")), new, NEW) == {"ask"}
    apart = drawn(("ask", "end"), ("author", "other"))
    assert dead_ends(old, apart, nodes) == {"writer", "critic"}, "a run leaves out what its start does not lead to"
