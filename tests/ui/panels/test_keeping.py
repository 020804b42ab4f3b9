"""Rules of retention in a dialog, the search, the sheet of a fork with edits, notices: what they ask the run for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.agents.messages import assistant, user
from studio.bridge.run_upkeep import Preview
from studio.checkpoints import RetentionRules
from studio.checkpoints.retention import Retention
from studio.checkpoints.upkeep import Sizes
from studio.checkpoints.usage import Weight
from studio.debugger.comparison import Ahead
from studio.debugger.details import Details, Memory, Waiting
from studio.debugger.forks import QueueEdits
from studio.document.model import AgentNode
from studio.ui.dialogs.fork_sheet import ForkSheet
from studio.ui.theme import Theme
from studio.ui.timeline import TimelinePanel
from studio.ui.timeline.keeping_dialog import KeepingDialog
from studio.ui.timeline.rule_words import rules_words
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


def test_rules_in_words() -> None:
    assert rules_words(RetentionRules(automatic=True)) == "Keeps named, pinned, branch points and the last 20"
    assert rules_words(RetentionRules()).startswith("Keeps everything; rules: named")
    assert rules_words(RetentionRules(last=None)) == "Keeps everything"


def test_the_dialog_asks_for_a_preview_and_says_it_in_numbers(theme: Theme, qtbot: QtBot, monkeypatch: Any) -> None:
    run = FakeRun()
    paused(run)
    asked: list[RetentionRules] = []
    pruned: list[RetentionRules] = []
    monkeypatch.setattr(run, "preview", asked.append)
    monkeypatch.setattr(run, "set_retention", lambda rules: setattr(run, "rules", rules))
    monkeypatch.setattr(run, "prune", pruned.append)
    dialog = KeepingDialog(theme, run)
    dialog.show()
    assert asked[-1] == RetentionRules()
    box, field, _ = dialog._limits["days"]
    box.setChecked(True)
    field.setText("7")
    assert asked[-1].days == 7
    dialog._protect["named"].setChecked(False)
    rules = asked[-1]
    assert (rules.named, run.rules) == (False, rules)
    infos: Any = (object(),) * 14
    run.previewed.emit(Preview(RetentionRules(), Retention(infos, 7), (), 900))
    assert not dialog.preview_text.plain, "an answer to an older question is not shown"
    run.previewed.emit(Preview(rules, Retention(infos, 7, pinned=2, branch_points=1), ("x",), 900_000))
    assert "take 14 checkpoints away and keep 7" in dialog.preview_text.plain
    assert "frees about 900 kB" in dialog.preview_text.plain
    assert "1 branch goes as a whole. Protected: 2 pinned, 1 where branches begin." in dialog.preview_text.plain
    assert dialog.prune_button.text() == "Take 14 away"
    dialog.prune_button.click()
    assert pruned == [rules]
    run.sizes = Sizes(1_400_000, 300_000)
    run.upkeep_changed.emit()
    assert dialog.size_bar.text == "1.4 MB on disk, about 300 kB can be freed"
    dialog.accept()
    qtbot.waitUntil(lambda: not dialog.isVisible())


def test_the_search_dims_what_is_not_found_and_steps(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 372)
    panel.open_search()
    ids = [c.checkpoint for c in run.checkpoints]
    panel.find_bar.field.setText("text:x")
    panel.find_bar._timer.stop()
    run.found.emit("text:x", (ids[0], ids[2]), "")
    assert panel.view.found == {ids[0], ids[2]}
    assert panel.find_bar.count.text == "2 checkpoints"
    qtbot.keyClick(panel.find_bar, Qt.Key.Key_F3)
    first = panel.view.selected
    qtbot.keyClick(panel.find_bar, Qt.Key.Key_F3)
    assert {first, panel.view.selected} == {ids[0], ids[2]}
    run.found.emit("text:x", (), "“x:” is not known")
    assert panel.view.found is None
    assert panel.find_bar.count.text == "“x:” is not known"
    panel.find_bar.close_search()
    assert panel.find_bar.isHidden()


def test_space_on_two_compares_and_a_notice_tells_of_a_broken_file(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 372)
    offered: list[tuple[str, str]] = []
    panel.workspace.comparison_offered.connect(lambda a, b: offered.append((a, b)))
    ids = [c.checkpoint for c in run.checkpoints]
    panel.view.pick(ids[1])
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert panel.view.compared == ids[1]
    panel.view.pick(ids[3])
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert offered == [(ids[1], ids[3])]
    assert panel.notice.isHidden()
    run.file_trouble = "runs.db is damaged. 2 branches and 3 checkpoints can be read."
    run.upkeep_changed.emit()
    assert panel.notice.isVisible()
    assert panel.notice.button.text() == "Begin a new file"


def test_a_fork_sheet_gives_only_what_was_changed(show: Show, run: FakeRun, theme: Theme, monkeypatch: Any) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 372)
    forked: list[tuple[str, QueueEdits, bool]] = []
    monkeypatch.setattr(run, "fork_edited", lambda c, edits, recorded=False: forked.append((c, edits, recorded)))
    talk = (user("Hello"), assistant("Good day"))
    found = Details(
        (Waiting("m", "writer", "", "old"),), (), (), {"score": 6, "name": "x"},
        (Memory("writer", talk, ("session",)),), Weight(1, 2), "sig", "print",
    )  # fmt: skip
    sheet = ForkSheet(theme, panel.workspace, "c", found, Ahead(), panel)
    sheet.state["score"].setPlainText("not json")
    sheet.fork()
    assert forked == []
    assert "write it as JSON" in sheet.problem.plain
    sheet.state["score"].setPlainText("9")
    sheet.talk["writer", 1].setPlainText("Go away")
    prompt = next(iter(sheet.prompts))
    sheet.prompts[prompt].setPlainText("Another prompt.")
    sheet.fork()
    [(checkpoint, edits, recorded)] = forked
    assert (checkpoint, edits.texts, edits.state, recorded) == ("c", {}, {"score": 9, "name": "x"}, False)
    assert [m.text for m in edits.conversations["writer"]] == ["Hello", "Go away"]
    node = panel.workspace.document.workflow.node(prompt)
    assert isinstance(node, AgentNode)
    assert node.instructions == "Another prompt."
    panel.workspace.document.undo_stack.undo()
    assert panel.workspace.document.workflow.node(prompt).instructions != "Another prompt."
