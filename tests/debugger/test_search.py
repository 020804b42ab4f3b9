"""Queries for checkpoints: each term finds what it says, and nonsense is answered with what there is."""

from __future__ import annotations

from datetime import datetime

import pytest
from studio.agents.messages import Usage, user
from studio.debugger.search import Findable, Happened, HappenedFolder, QueryProblem, parse
from studio.engine import events as ev

NOW = datetime.now().astimezone().timestamp()
WHAT = Findable(
    Happened({"tech"}, {"score"}, ["iron air cells"], 1200, 0.02, "Timed out"),
    NOW, 5, ("Tech research",), "best draft", "for Friday", ("good",), "Fork A", "waiting", pinned=True,
)  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        "", "iron", "IRON air", "draft", "good friday", "node:tech", 'node:"tech research"', "key:score", "text:cells",
        'text:"iron air"', "name:best", "tag:good", "branch:fork", "error:timed", "cost>0.01", "tokens>=1200",
        "tokens<=1200", "superstep<6", "date:today", "after:yesterday", "is:pinned", "is:named", "is:failed",
        "is:waiting", "node:tech tokens>1000 is:pinned",
    ],
)  # fmt: skip
def test_found(query: str) -> None:
    assert parse(query).matches(WHAT)


@pytest.mark.parametrize(
    "query",
    [
        "nobody", "iron nobody", "node:writer", "key:cells", "text:score", "name:draft2", "tag:bad", "cost>0.02",
        "cost<0.02", "tokens>1200", "date:2020-01-01", "before:today", "branch:main",
    ],
)  # fmt: skip
def test_not_found(query: str) -> None:
    assert not parse(query).matches(WHAT)


def test_an_unknown_cost_is_neither_more_nor_less() -> None:
    unknown = Findable(Happened(cost=None), NOW, 1)
    assert not parse("cost<1").matches(unknown)
    assert not parse("cost>=0").matches(unknown)
    assert not parse("is:failed").matches(unknown)


@pytest.mark.parametrize(
    ("query", "words"),
    [("cost>much", "number"), ("date:soon", "date like"), ("is:nice", "pinned, named"), ("size>3", "there are node:")],
)
def test_what_cannot_be_understood_is_said(query: str, words: str) -> None:
    with pytest.raises(QueryProblem, match=words):
        parse(query)


def test_only_queries_about_what_happened_need_the_logs() -> None:
    assert not parse("name:x is:pinned date:today tag:y").needs_logs
    for query in ("word", "text:x", "is:failed", "cost>1", "node:x"):
        assert parse(query).needs_logs, query


def test_what_happened_is_kept_by_the_checkpoint_after_it_and_an_error_by_the_one_before() -> None:
    folder = HappenedFolder(lambda _node, model, usage: 0.5 if model == "m" else None)
    for event in (
        ev.MessageQueued(0, 0, "m0", "internal:a", None, "Go"),
        ev.CheckpointSaved(0, "c0", None, "input", 0),
        ev.NodeStarted(0, 1, "a", "i", (), "Go"),
        ev.ModelCallStarted(0, "a", "i", "call", (user("Go"),), "m"),
        ev.ModelCallFinished(0, "a", "i", "call", Usage(3, 4)),
        ev.StateWritten(0, 1, "a", "score", "Eight"),
        ev.CheckpointSaved(0, "c1", "c0", "superstep", 1),
        ev.NodeStarted(0, 2, "b", "j", (), "x"),
        ev.NodeFailed(0, 2, "b", "j", "ValueError", "No luck"),
    ):
        folder.fold(event)
    found = folder.by_checkpoint
    assert (found["c0"].text, found["c0"].nodes, found["c0"].error) == ("go", set(), "")
    one = found["c1"]
    assert (one.nodes, one.keys, one.text, one.tokens, one.cost) == ({"a"}, {"score"}, "eight", 7, 0.5)
    assert one.error == "No luck"
