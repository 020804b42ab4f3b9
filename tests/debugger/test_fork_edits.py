"""Typed values of shared state, and what a checkpoint says of a node's conversation."""

from __future__ import annotations

import pytest
from studio.agents.messages import assistant, user
from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage
from studio.checkpoints.usage import Weight
from studio.debugger.details import details_of
from studio.debugger.forks import EditProblem, QueueEdits, fork_checkpoint, state_value
from studio.engine.values import Record


def test_details_of_a_checkpoint() -> None:
    talk = (user("Hello"), assistant("Good day"))
    message = QueuedMessage("m", "internal:writer", None, "go")
    checkpoint = Checkpoint(
        "c", messages=(message,), state={"score": 6}, signature="sig",
        executors={"writer": {"cache": (), "session": {"messages": list(talk)}}, "empty": {}},
        fan_in={'[["a"], "join"]': (message,)},
    )  # fmt: skip
    found = details_of(checkpoint, Weight(3, 4), "print")
    assert [(w.source, w.target, w.text) for w in found.queued] == [("writer", "", "go")]
    assert [w.target for w in found.joins] == ["join"]
    assert [(m.node, m.talk, m.parts) for m in found.memories] == [("writer", talk, ("session",))]
    around = Checkpoint("d", executors={"check": {"sub_workflow": checkpoint}})
    (outer,) = details_of(around, Weight(3, 4), "").memories
    assert outer.inside is not None
    assert (outer.node, outer.inside.state, outer.inside.memories) == ("check", {"score": 6}, found.memories)
    assert (found.state, found.weight, found.signature, found.drawing) == ({"score": 6}, Weight(3, 4), "sig", "print")


def test_typed_values_of_state() -> None:
    assert state_value("k", "7", "text") == "7"
    assert state_value("k", "7", 1) == 7
    assert state_value("k", '["a"]', []) == ["a"]
    assert state_value("k", '{"x": 2}', Record("P", {"x": 1})) == Record("P", {"x": 2})
    with pytest.raises(EditProblem, match="“k” holds data"):
        state_value("k", "not json", 1)


def _forked(edits: QueueEdits) -> Checkpoint:
    talk = {"id": "s", "messages": [user("Hello")]}
    executors = {
        "writer": {"cache": (user("waits"),), "session": talk},
        "editor": {"session": talk},
        "host": {"buffer": [user("waits")], "session": {"id": "t", "messages": []}, "emit": True, "calls": {"c": 1}},
    }
    requests = (PendingRequest("r", "host", "ok?", "str"), PendingRequest("q", "writer", "ok?", "str"))
    return fork_checkpoint(Checkpoint("c", executors=executors, requests=requests), edits, id="f", run="r", created=0.0)


def test_a_reset_conversation_leaves_what_waits_and_holds_for_all_who_share_it() -> None:
    found = _forked(QueueEdits().with_reset("writer", "conversation").with_reset("host", "conversation"))
    assert found.executors == {
        "writer": {"cache": (user("waits"),)},
        "editor": {},
        "host": {"buffer": [user("waits")], "calls": {"c": 1}},
    }
    assert [r.id for r in found.requests] == ["r", "q"]


def test_a_reset_node_is_as_new_and_asks_nothing_any_more() -> None:
    found = _forked(QueueEdits().with_reset("host", "node"))
    assert (found.executors["host"], [r.id for r in found.requests]) == ({}, ["q"])
    assert QueueEdits().with_reset("host", "node").note(2) == "node reset at 2"


def test_a_changed_conversation_holds_for_all_who_share_it() -> None:
    found = _forked(QueueEdits().with_conversation("writer", (assistant("Bye"),)))
    for node in ("writer", "editor"):
        assert found.executors[node]["session"]["messages"] == [assistant("Bye")]
