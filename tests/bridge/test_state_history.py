"""History of shared state and watch expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from studio.bridge.folding import RunViews
from studio.bridge.run_setup import RunSetup
from studio.bridge.run_views import QueuedView, StreamPiece, SuperstepView
from studio.bridge.state_history import ABSENT, Difference, StateHistory, Written, differences
from studio.bridge.watches import WatchValues, WatchView, named
from studio.document.expressions import ExpressionError, names_in, value_of
from studio.engine import events as ev

from tests.ui.panels.brief import brief
from tests.ui.panels.fake_run import FakeRun, paused


def folded() -> RunViews:
    views = RunViews({"rounds": 0})
    views.fold(ev.SuperstepStarted(0.0, 1))
    views.fold(ev.StateWritten(0.1, 1, "planner", "topics", ["market"]))
    views.fold(ev.StateWritten(0.2, 1, "planner", "rounds", 1))
    views.fold(ev.StateWritten(0.2, 1, "inner", "hidden", 1, inside=("sub",)))
    views.fold(ev.SuperstepFinished(0.3, 1))
    views.fold(ev.SuperstepStarted(0.4, 2))
    views.fold(ev.StateWritten(0.5, 2, "writer", "topics", ["market", "tech"]))
    return views


def test_values_after_every_superstep() -> None:
    history = folded().state_history
    assert history.at(0) == {"rounds": 0}
    assert history.at(1) == {"rounds": 1, "topics": ["market"]}
    assert history.at(2) == {"rounds": 1, "topics": ["market", "tech"]}
    assert list(history.of("topics")) == [
        Written(1, 1, "planner", ["market"]),
        Written(2, 2, "writer", ["market", "tech"]),
    ]
    assert history.of("nothing") == ()


def test_what_a_person_changed_and_took_away_is_history_too() -> None:
    views = folded()
    views.replace_state({"rounds": 5, "topics": ["market", "tech"]})
    assert views.state_history.of("rounds")[-1] == Written(2, 2, "", 5)
    assert len(views.state_history.of("topics")) == 2
    views.replace_state({"rounds": 5})
    assert views.state_history.of("topics")[-1].value is ABSENT
    assert views.state_history.at(2) == {"rounds": 5}
    assert views.state_history.at(1) == {"rounds": 1, "topics": ["market"]}


def test_a_key_that_is_written_for_ever_keeps_its_newest_values() -> None:
    history = StateHistory({"n": 0})
    for step in range(1, 10_001):
        history.write("n", Written(step, step, "count", step))
    assert len(history.of("n")) <= 2200
    assert history.of("n")[0].value == 0
    assert history.at(10_000) == {"n": 10_000}
    assert history.at(9_000) == {"n": 9_000}


def test_differences_go_into_values() -> None:
    before = {"plan": {"topics": ["a", "b"], "ok": True}, "gone": 1, "same": {"x": 1}, "kind": 1}
    after = {"plan": {"topics": ["a", "c", "d"], "ok": True}, "same": {"x": 1}, "kind": True}
    assert differences(before, after) == [
        Difference(("plan", "topics", "1"), "b", "c"),
        Difference(("plan", "topics", "2"), ABSENT, "d"),
        Difference(("gone",), 1, ABSENT),
        Difference(("kind",), 1, True),
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("rounds + 1", 2),
        ("plan.topics", ["market", "tech"]),
        ("len(plan.topics) > 1 and not done", True),
        ("state['plan.topics'][0]", "market"),
        ("plan.missing", None),
        ("'tech' in plan.topics", True),
    ],
)
def test_values_of_expressions(expression: str, value: object) -> None:
    state = {"rounds": 1, "plan.topics": ["market", "tech"], "plan.ok": 1, "done": False}
    assert value_of(expression, named(state)) == value


def test_an_expression_that_gives_nothing_says_why() -> None:
    for expression, words in (
        ("missing", "There is no missing yet."),
        ("1 +", "cannot be read"),
        ("open('x')", "There is no function open"),
        ("rounds / 0", "It gives no value"),
        ("rounds.__class__", None),
    ):
        if words is None:
            assert value_of(expression, {"rounds": 1}) is None
            continue
        with pytest.raises(ExpressionError, match=words):
            value_of(expression, {"rounds": 1})
    assert names_in("len(join.inbox) + rounds if true else x") == {"join", "rounds", "x"}


def test_watches_tell_what_was_before_the_superstep(qapp: QApplication) -> None:
    run = FakeRun()
    paused(run)
    workflow = brief()
    history = StateHistory({"sources": 9, "approved": True})
    history.write("sources", Written(3, 3, "tech", 14))
    run.state_history = history
    values = WatchValues()
    rows = ["sources", "approved", "plan.topics", "len(join.in)", "tech.status", "nowhere", "market_research.runs"]
    found = {view.expression: view for view in values.views(rows, run, workflow)}
    assert found["sources"] == WatchView("sources", 14, 9)
    assert found["sources"].changed
    assert not found["approved"].changed
    assert found["len(join.in)"].value == 3
    assert found["tech.status"].value == "done"
    assert found["nowhere"].problem == "There is no nowhere yet."
    assert found["market_research.runs"].value == 1
    # The next superstep takes the three messages.
    run.supersteps.append(SuperstepView(4, 39.1, invocations=["i9"]))
    run.queued.clear()
    again = {view.expression: view for view in values.views(rows, run, workflow)}
    assert again["len(join.in)"] == WatchView("len(join.in)", 0, 3)
    assert again["len(join.in)"].changed
    run.queued.append(QueuedView("q9", "writer", "join", (), "text", "x", "x"))
    run.invocations["i4"].pieces.append(StreamPiece("text", "!"))
    assert values.views(["join.in"], run, workflow)[0].value == ["x"]
    assert str(values.views(["tech.text"], run, workflow)[0].value).endswith("!")


def test_watches_are_kept_per_workflow(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.bridge.view_state.state_dir", lambda: tmp_path)
    setup = RunSetup()
    setup.open("w1")
    for expression in ("a", "b", "c", "a"):
        setup.watch(expression)
    assert setup.watches == ("b", "c", "a")
    setup.watch("b + 1", instead_of="b")
    setup.watch("", instead_of="c")
    again = RunSetup()
    again.open("w1")
    assert again.watches == ("b + 1", "a")
    again.open("w2")
    assert again.watches == ()
