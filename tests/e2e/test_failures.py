"""A failed run with real pointer and keys: what, where, and one click to the line that did it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import DirectEdge, FunctionNode, Place, SubWorkflowNode, Workflow
from studio.files.format import dumps

from tests.e2e.after_a_run import run_over_a_table
from tests.e2e.conftest import SHOTS
from tests.e2e.studio import Studio
from tests.e2e.test_whole_loop import Person

pytestmark = pytest.mark.e2e

RUN = "window.page.workspace.run"
CODE = "words = data.split()\nscore = len(words) / 0\nctx.set_state('score', score)\nresult = str(score)"
PREPARE = "assert data != 'nothing', 'no text'\nresult = data.upper()"


def broken() -> Workflow:
    spot = {"x": Place(x=0, y=0)}
    inner = Workflow(name="Scoring", start="x", nodes=(FunctionNode(id="x", name="Score", body=CODE),), places=spot)
    return Workflow(
        name="Broken",
        start="a",
        nodes=(
            FunctionNode(id="a", name="Prepare", body=PREPARE),
            SubWorkflowNode(id="s", name="Check", embedded=inner),
        ),
        edges=(DirectEdge(id="as", source="a", target="s"),),
        places={"a": Place(x=0, y=0), "s": Place(x=260, y=0)},
        sample_input="Grid storage",
    )


def test_from_the_failure_to_the_line_inside_the_sub_workflow(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "broken.workflow.json"
    file.write_text(dumps(broken()), encoding="utf-8")
    studio = start(str(file), home="broken")
    studio.wait("window.page is not None")
    studio.click("Trust this code")
    studio.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'failed'", 60)
    studio.click("Details…", "FailureBar")
    studio.wait("any(type(w).__name__ == 'FailureDialog' and w.isVisible() for w in app.topLevelWidgets())")
    studio.click("Input", "FailureDialog")
    shown = "next(w for w in app.topLevelWidgets() if type(w).__name__ == 'FailureDialog').text.toPlainText()"
    studio.wait(f"{shown} == 'GRID STORAGE'")
    studio.display.screenshot(SHOTS / "failure-details.png")
    studio.click("Show where", "FailureDialog")
    studio.wait("window.page.workspace.document.workflow.name == 'Scoring'")
    studio.wait("window.page.workspace.selection.items == ('x',)")
    studio.wait("getattr(app.focusWidget(), 'textCursor', lambda: None)() is not None")
    studio.wait("app.focusWidget().textCursor().selectedText() == 'score = len(words) / 0'")
    studio.display.screenshot(SHOTS / "failure-where.png")
    studio.display.key("alt+Up")
    studio.wait("window.page.workspace.document.workflow.name == 'Broken'")
    studio.click("Invocations", "QTabBar")
    for node in ("s", "x"):  # the node around it has failed, too
        studio.click("Next error (F8)", "InvocationsPanel")
        studio.wait(f"getattr(window.sides.invocations.chart.chosen, 'node', '') == {node!r}")

    # mended in place, and only the failed superstep runs again
    studio.click("Run", "QTabBar")
    studio.click("Show where", "FailureBar")
    studio.wait("getattr(app.focusWidget(), 'textCursor', lambda: None)() is not None")
    studio.wait("app.focusWidget().textCursor().selectedText() == 'score = len(words) / 0'")
    studio.display.type("score = len(words)")
    studio.display.key("alt+Up")
    studio.wait("window.page.workspace.document.workflow.name == 'Broken'")
    studio.display.key("ctrl+s")
    studio.wait("not window.page.workspace.document.dirty")
    if studio.ask("window.page.trust_bar.isVisible()"):
        studio.click("Trust this code")
    studio.click("Retry", "FailureBar")
    studio.wait(f"{RUN}.state.value == 'completed'", 60)
    assert studio.ask(f"[o for o in {RUN}.invocations.values() if o.node == 'a'].__len__()") == 1
    studio.display.screenshot(SHOTS / "failure-mended.png")
    studio.click("State", "QTabBar")
    studio.click("Nodes", "StatePanel")
    rows = "window.sides.state.nodes.tree.rows"
    studio.wait(f"{rows}.rowCount() and {rows}.item(0).child(0).child(0, 1).text() == '2'")
    assert studio.ask(f"{rows}.item(0).child(0).text()") == "Shared state inside"
    run_over_a_table(Person(studio), tmp_path / "rows.csv", ["one", "two words"], "nothing")
