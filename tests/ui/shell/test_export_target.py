"""The export page: code for one process or for workers on Durable Task, and what the latter cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.model import AgentNode, DirectEdge, FunctionNode, Workflow
from studio.proof import KEYS, Interpreter, Proof, Step
from studio.ui.dialogs.file_dialogs import choose_new_folder
from studio.ui.exporting import ExportPage
from studio.ui.exporting.coloured import coloured
from studio.ui.exporting.written_code import ExportChoice
from studio.ui.status.status_bar import StatusBar
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.window.status_texts import show_status
from tests.ui.panels.brief import brief
from tests.ui.shell.still_run import StillWorkspaces
from tests.ui.shell.written import written


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> ExportPage:
    made = ExportPage(theme)
    qtbot.addWidget(made)
    made.resize(1400, 900)
    made.show()
    return made


def show(page: ExportPage, workflow: Workflow, qtbot: QtBot) -> None:
    page.set_workspace(StillWorkspaces().open(workflow, None))
    written(page, qtbot)


def press(page: ExportPage, widget: QWidget, key: Qt.Key, qtbot: QtBot) -> None:
    qtbot.keyClick(widget, key)
    written(page, qtbot)


def shared_session() -> Workflow:
    agents = tuple(AgentNode(id=i, name=i.title(), instructions="Go.", session="desk") for i in ("ann", "bob"))
    return Workflow(name="Desk", start="ann", nodes=agents, edges=(DirectEdge(id="e", source="ann", target="bob"),))


def test_the_target_is_chosen_with_the_keyboard(page: ExportPage, qtbot: QtBot) -> None:
    show(page, brief(), qtbot)
    assert "research_brief/worker.py" not in page.files
    assert page.target.choice.accessibleName() == "Runs on"
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    assert "research_brief/worker.py" in page.files
    assert "WORKFLOW_NAME" in page._view.toPlainText()
    press(page, page.target.choice, Qt.Key.Key_Left, qtbot)
    assert "research_brief/worker.py" not in page.files


def test_what_cannot_be_is_listed_with_the_way_to_the_node(page: ExportPage, qtbot: QtBot) -> None:
    show(page, shared_session(), qtbot)
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    assert page.no_code.title == "Durable Task cannot run this workflow as it is drawn."
    assert [item for item, _ in page.no_code.reasons] == ["ann", "bob"]
    assert "shares the session desk" in page.no_code.reasons[0][1]
    assert page.files == {}
    assert not page._write.isEnabled()
    ways = [b for b in page.no_code.findChildren(Button) if b.text() == "Show on canvas"]
    with qtbot.waitSignal(page.node_chosen) as chosen:
        ways[1].click()
    assert chosen.args == ["bob"]
    press(page, page.target.choice, Qt.Key.Key_Left, qtbot)
    assert page._write.isEnabled()
    assert "desk/workflow.py" in page.files


def test_what_differs_is_told_and_does_not_stop(page: ExportPage, qtbot: QtBot) -> None:
    loop = DirectEdge(id="back", source="bob", target="ann")
    flow = shared_session()
    agents = tuple(n.model_copy(update={"session": None}) for n in flow.nodes)
    show(page, flow.model_copy(update={"nodes": agents, "edges": (*flow.edges, loop), "max_supersteps": 500}), qtbot)
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    checked, told = page.target.told
    assert checked.startswith("The check runs the code in one process")
    assert told.startswith("The loops may take 500 supersteps.")
    assert "desk/worker.py" in page.files
    press(page, page.target.choice, Qt.Key.Key_Left, qtbot)
    assert page.target.told == ()


def test_the_code_for_workers_is_written(page: ExportPage, qtbot: QtBot, tmp_path: Path) -> None:
    show(page, brief(), qtbot)
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    page.write_to(tmp_path / "out")
    qtbot.waitUntil(lambda: not page.last.busy)
    assert (tmp_path / "out" / "research_brief" / "hosted_agent.py").exists()
    assert (tmp_path / "out" / "tests" / "test_scale_out.py").exists()


def test_one_file_and_what_is_not_as_on_the_canvas(page: ExportPage, qtbot: QtBot) -> None:
    flow = brief()
    nodes = tuple(n.model_copy(update={"profile": "Work"}) if n.kind == "agent" else n for n in flow.nodes)
    show(page, flow.model_copy(update={"nodes": nodes}), qtbot)
    assert [sentence for sentence in page.target.told if "the provider is not written" in sentence]
    page.target.single.setFocus()
    press(page, page.target.single, Qt.Key.Key_Space, qtbot)
    assert list(page.files) == ["research_brief.py"]
    assert "def build(" in page._view.toPlainText()
    assert page._places.isVisible()
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    assert not page.target.single.isVisible(), "workers have a project"
    assert [sentence for sentence in page.target.told if "the provider is not written" in sentence]
    assert "research_brief/worker.py" in page.files
    press(page, page.target.choice, Qt.Key.Key_Left, qtbot)
    press(page, page.target.single, Qt.Key.Key_Space, qtbot)
    assert "research_brief/workflow.py" in page.files


def test_the_api_of_the_model_and_the_smoke_test_are_options(page: ExportPage, qtbot: QtBot) -> None:
    show(page, brief(), qtbot)
    options = page.options
    agents, test = "research_brief/agents.py", "tests/test_smoke.py"
    assert "OpenAIChatCompletionClient()" in page.files[agents]
    assert test in page.files
    press(page, options.client, Qt.Key.Key_Down, qtbot)
    assert options.client.currentText() == "Responses"
    assert "return OpenAIChatClient()" in page.files[agents]
    assert "store=False" in page.files[agents]
    assert "OPENAI_CHAT_MODEL=" in page.files[".env.example"]
    press(page, options.smoke_test, Qt.Key.Key_Space, qtbot)
    assert test not in page.files
    press(page, page.target.single, Qt.Key.Key_Space, qtbot)
    assert not options.smoke_test.isEnabled(), "one file has none"
    assert "return OpenAIChatClient()" in page.files["research_brief.py"]
    press(page, options.client, Qt.Key.Key_Up, qtbot)
    press(page, page.target.choice, Qt.Key.Key_Right, qtbot)
    assert options.smoke_test.isEnabled()
    assert test not in page.files
    assert "research_brief/worker.py" in page.files


def test_the_lines_of_the_user_are_shaded(page: ExportPage, qtbot: QtBot) -> None:
    code = FunctionNode(id="f", name="F", body="said = data\nresult = said", yields="text")
    show(page, Workflow(name="Code", start="f", nodes=(code,)), qtbot)
    page._tree.file_chosen.emit("code_workflow/functions.py")
    lines = page._view.toPlainText().split("\n")
    shaded = [lines[number - 1].strip() for number in sorted(page._view.yours)]
    assert shaded == ["# region user f", "said = data", "result = said", "# endregion"]
    page._tree.file_chosen.emit("code_workflow/workflow.py")
    assert page._view.yours == frozenset()


def test_a_text_is_found_in_the_file_that_is_shown(page: ExportPage, qtbot: QtBot) -> None:
    flow = brief()
    show(page, flow.model_copy(update={"sample_input": "\U0001f300 and \U0001f300 again"}), qtbot)
    view, search = page._view, page.search
    qtbot.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert search.isVisible()
    search.field.setText("AND \U0001f300")  # no key of a test types it
    qtbot.keyClick(search.field, Qt.Key.Key_Return)
    assert search.count.text == "1 of 1"
    (marked,) = view.extraSelections()
    assert marked.cursor.selectedText() == "and \U0001f300"
    view.show_line(1)
    search.field.setText("")
    qtbot.keyClicks(search.field, "add_")
    hits = page.files["research_brief/workflow.py"].count("add_")
    qtbot.waitUntil(lambda: search.count.text == f"{hits} hits")
    for key, shift, place in ((Qt.Key.Key_Return, False, 1), (Qt.Key.Key_F3, True, hits), (Qt.Key.Key_F3, False, 1)):
        modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        qtbot.keyClick(search.field, key, modifier)
        assert search.count.text == f"{place} of {hits}"
    assert {s.cursor.selectedText() for s in view.extraSelections()} == {"add_"}
    page._tree.file_chosen.emit("research_brief/agents.py")
    assert search.count.text == "Not in this file"
    for _ in ("empties the field", "closes"):
        qtbot.keyClick(search.field, Qt.Key.Key_Escape)
    assert not search.isVisible()
    assert view.extraSelections() == []


def test_a_folder_that_is_typed_and_not_there_yet_is_made(qtbot: QtBot, tmp_path: Path) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    chosen: list[Path] = []

    def typed(folder: Path) -> QFileDialog:
        dialog = choose_new_folder(around, "Write", tmp_path, chosen.append)
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert field is not None
        field.setText(str(folder))
        return dialog

    typed(tmp_path / "out").accept()
    assert (tmp_path / "out").is_dir()
    assert chosen == [tmp_path / "out"]
    refused = typed(tmp_path / "a" / "b")
    QTimer.singleShot(0, lambda: [box.close() for box in refused.findChildren(QMessageBox)])
    refused.accept()
    assert not (tmp_path / "a").exists(), "a folder around it that is not there is a slip of the pen"
    refused.reject()
    assert len(chosen) == 1


def test_code_that_nobody_accepted_is_not_checked_and_the_bar_says_why(page: ExportPage, qtbot: QtBot) -> None:
    code = FunctionNode(id="f", name="F", body="return data")
    show(page, Workflow(name="Code", start="f", nodes=(code,)), qtbot)
    page.proof_bar.button.click()
    assert page.workspace is not None
    assert page.workspace.proof.state == "none"
    assert page.proof_bar.title.text() == "Not checked"
    assert page.proof_bar.text.text.startswith("This workflow has code that nobody has accepted.")
    page.workspace.code_trusted.emit()
    assert page.proof_bar.title.text() == "Not checked yet"


def test_what_was_chosen_is_there_when_the_workflow_is_opened_again(
    page: ExportPage, qtbot: QtBot, theme: Theme
) -> None:
    show(page, brief(), qtbot)
    press(page, page.options.client, Qt.Key.Key_Down, qtbot)
    press(page, page.options.smoke_test, Qt.Key.Key_Space, qtbot)
    page.options.package.setText("1 wrong")
    written(page, qtbot)
    page.options.package.setText("other")
    written(page, qtbot)
    later = ExportPage(theme)
    qtbot.addWidget(later)
    show(later, brief(), qtbot)
    assert later.files == page.files
    assert "other/workflow.py" in later.files
    options = later.options
    assert (options.client.currentText(), options.smoke_test.isChecked()) == ("Responses", False)
    show(later, shared_session(), qtbot)
    assert (options.client.currentText(), options.package.text()) == ("Chat completions", ""), "of another workflow"
    press(later, later.target.choice, Qt.Key.Key_Right, qtbot)
    assert ExportChoice.of_kept({"target": "durabletask"}) == later.options.choice()
    assert ExportChoice.of_kept({"client": 3, "package": [], "single": "yes"}) == ExportChoice()


def test_what_is_asked_for_last_is_what_is_shown(page: ExportPage, qtbot: QtBot) -> None:
    """Three documents at once; the page tells one of them, and what waits for it goes on with that one."""
    show(page, brief(), qtbot)
    told: list[str] = []
    page.writer.written.connect(lambda code: told.append(code.workflow.name))
    for name in ("One", "Two", "Three"):
        page.writer.write(brief().model_copy(update={"name": name}), ExportChoice(), None)
    written(page, qtbot)
    assert told == ["Three"]
    assert page.workspace is not None
    page.workspace.document.execute(commands.set_workflow({"name": "Four"}), "Rename")
    lexed = coloured.cache_info().misses
    went: list[bool] = []
    page.when_written(lambda: went.append("four/workflow.py" in page.files))
    assert went == [], "the code is still that of before"
    qtbot.waitUntil(lambda: went == [True])
    assert coloured.cache_info().misses > lexed
    lexed = coloured.cache_info().misses
    for path in page.files:
        page._tree.file_chosen.emit(path)
    assert coloured.cache_info().misses == lexed, "the thread has lexed every file"


def test_the_status_bar_says_whether_the_code_is_checked(page: ExportPage, qtbot: QtBot, theme: Theme) -> None:
    show(page, brief(), qtbot)
    assert page.workspace is not None
    bar, proof = StatusBar(theme), page.workspace.proof
    qtbot.addWidget(bar)
    show_status(bar, page.workspace, "", "", page.kind)
    assert bar.state.text() == "Export not checked"
    steps = tuple(Step(key, "passed", "33", 0.5) for key in KEYS)
    proof.proof, proof._proven = Proof(steps, 2.5, 33, Interpreter("python", "3.12.1", "1.23.0")), page.files
    with qtbot.waitSignal(page.checked):
        proof.changed.emit()
    show_status(bar, page.workspace, "", "", page.kind)
    assert bar.state.text() == "Export verified"
    assert bar.counts.text() == "agent-framework-core 1.23.0 · Python 3.12.1"
    show_status(bar, page.workspace, "", "")
    assert bar.state.text() == "Ready", "in front of the drawing"
