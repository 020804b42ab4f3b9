"""Edits of queued messages."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, assistant, user
from studio.checkpoints import Checkpoint, QueuedMessage
from studio.debugger.forks import EditProblem, QueueEdits, fork_checkpoint, with_text
from studio.engine.values import Record

RESPONSE = AgentResponse("writer", AgentReply((assistant("old", "Writer"),)), (user("ask"), assistant("old", "Writer")))


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        ("old", "new", "new"),
        (3, "4", 4),
        (1.5, "2", 2.0),
        (True, "false", False),
        ({"a": 1}, '{"a": 2}', {"a": 2}),
        ([1], "[1, 2]", [1, 2]),
        (None, '"x"', "x"),
        (Record("Score", {"n": 1}), '{"n": 2}', Record("Score", {"n": 2})),
        (user("old"), "new", user("new")),
        (AgentRequest((user("a"), user("b"))), "c", AgentRequest((user("a"), user("c")))),
        ([user("a"), user("b")], "c", [user("a"), user("c")]),
    ],
)
def test_a_new_text_makes_a_value_of_the_same_kind(data: Any, text: str, expected: Any) -> None:
    assert with_text(data, text) == expected


def test_a_response_keeps_what_was_said_before() -> None:
    changed = with_text(RESPONSE, "new")
    assert changed.text == "new"
    assert [m.text for m in changed.conversation] == ["ask", "new"]


@pytest.mark.parametrize(("data", "text"), [(3, "three"), (3, "true"), (True, "1"), ({"a": 1}, "[1]"), ([1], "x")])
def test_a_text_that_does_not_fit_is_refused_with_a_sentence(data: Any, text: str) -> None:
    with pytest.raises(EditProblem) as refused:
        with_text(data, text)
    assert str(refused.value).endswith(".")


def test_a_fork_checkpoint_has_the_edited_queue_and_the_original_as_parent() -> None:
    queue = tuple(QueuedMessage(f"m{i}", "a", None, f"text {i}") for i in range(3))
    original = Checkpoint("c1", "c0", "main", "w", "sig", superstep=2, messages=queue, state={"k": 1}, name="pinned")
    edits = QueueEdits().with_text("m0", "changed").without("m2")
    fork = fork_checkpoint(original, edits, id="f1", run="fork-a", created=5.0)
    assert [m.data for m in fork.messages] == ["changed", "text 1"]
    assert (fork.parent, fork.kind, fork.run, fork.superstep, fork.name) == ("c1", "fork", "fork-a", 2, "")
    assert original.messages == queue
    assert edits.note(2) == "message edited, message dropped at 2"


def test_an_edit_of_a_message_that_is_not_there_is_refused() -> None:
    with pytest.raises(EditProblem):
        fork_checkpoint(Checkpoint("c1"), QueueEdits().with_text("m9", "x"), id="f", run="r", created=0.0)
