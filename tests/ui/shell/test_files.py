"""New, open, save, close, recover; and what is said where it does not work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.edits import SetWorkflow
from studio.document.model import AgentNode, FunctionNode, McpServerDecl, Place, Workflow
from studio.files import Journal, kept_versions, read_workflow, recoverable, write_workflow
from studio.settings import recent, trust
from studio.settings.places import resource
from studio.settings.preferences import Preferences
from studio.ui.dialogs.file_dialogs import with_suffix
from studio.ui.main_window import MainWindow
from studio.ui.welcome import WelcomePage
from studio.ui.window import drops
from studio.ui.window.file_names import file_name
from studio.ui.window.workflow_page import WorkflowPage
from tests.ui.shell.still_run import StillWorkspaces

MakeWindow = Callable[..., MainWindow]


@pytest.fixture(autouse=True)
def closes_messages() -> Iterator[None]:
    yield
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QMessageBox | QFileDialog):
            widget.done(0)


def message(window: MainWindow) -> QMessageBox:
    found = [b for b in window.findChildren(QMessageBox) if b.isVisible()]
    assert len(found) == 1
    return found[0]


def press(box: QMessageBox, text: str) -> None:
    next(b for b in box.buttons() if b.text().replace("&", "") == text).click()


def rename(page: WorkflowPage, name: str) -> None:
    document = page.workspace.document
    document.execute(commands.set_workflow({"name": name}), f"Rename to {name}")


def saved_file(folder: Path, name: str = "Research brief") -> Path:
    file = folder / "x.workflow.json"
    write_workflow(Workflow(name=name), file)
    return file


def test_a_new_workflow_is_a_clean_tab(make_window: MakeWindow) -> None:
    window = make_window()
    window.show_first([])
    page = window.files.new()
    assert window.page is page
    assert window.windowTitle() == "Untitled — Superstep Studio"
    assert not [p for p in window.tabs.pages() if isinstance(p, WelcomePage)]
    assert window.files.new().title == "Untitled 2"


def test_the_first_save_names_a_workflow_after_its_file(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.new()
    document = page.workspace.document
    edit, _ = commands.new_node(document.workflow, "agent", None, Place(x=0, y=0))
    document.execute(edit, "Add")
    window.files._write(page, tmp_path / "poems.workflow.json")
    window.refresh()
    assert window.windowTitle() == "poems — Superstep Studio"
    assert window.tabs._bar.tabText(0) == "poems"
    assert read_workflow(tmp_path / "poems.workflow.json").name == "poems"
    assert (document.dirty, document.undo_stack.count()) == (False, 1)
    document.undo_stack.undo()
    assert (document.workflow.name, document.workflow.nodes, document.dirty) == ("poems", (), True)
    document.undo_stack.redo()
    assert not document.dirty
    rename(page, "Untitled but meant")
    window.files._write(page, tmp_path / "poems.workflow.json")
    assert page.title == "Untitled but meant"


def test_a_failed_first_save_leaves_the_name(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.new()
    window.files._write(page, tmp_path / "nowhere" / "deep" / "x.workflow.json")
    assert page.title == "Untitled"
    message(window)


def test_title_and_mark_follow_edits_and_saving(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.open(saved_file(tmp_path))
    assert page is not None
    rename(page, "Plan")
    window.refresh()
    assert window.windowTitle() == "Plan • — Superstep Studio"
    window.files.save(page)
    window.refresh()
    assert window.windowTitle() == "Plan — Superstep Studio"
    assert read_workflow(tmp_path / "x.workflow.json").name == "Plan"


def test_undo_is_named_in_the_menu(make_window: MakeWindow) -> None:
    window = make_window()
    page = window.files.new()
    rename(page, "Plan")
    window.refresh()
    assert window.actions_["edit.undo"].text() == "Undo rename to Plan"
    window.actions_["edit.undo"].trigger()
    window.refresh()
    assert page.title == "Untitled"
    assert window.actions_["edit.redo"].text() == "Redo rename to Plan"


def test_opening_twice_shows_the_tab(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    file = saved_file(tmp_path)
    first = window.files.open(file)
    window.files.new()
    assert window.files.open(file) is first
    assert window.page is first
    assert len(window.files.pages()) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"format": "something else", "version": 1}'])
def test_a_broken_file_gives_one_message(make_window: MakeWindow, tmp_path: Path, content: bytes) -> None:
    window = make_window()
    page = window.files.new()
    broken = tmp_path / "broken.workflow.json"
    broken.write_bytes(content)
    assert window.files.open(broken) is None
    box = message(window)
    assert box.text() == "broken.workflow.json could not be opened."
    assert len(box.informativeText()) > 20
    assert window.files.pages() == [page]
    assert str(broken) not in [f.path for f in recent.recent_files()]


def test_a_file_with_one_id_twice_is_put_right_and_says_so(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    file = tmp_path / "merged.workflow.json"
    twins = (AgentNode(id="a", name="A"), AgentNode(id="a", name="Twin"))
    write_workflow(Workflow(id="w", name="Merged", nodes=twins), file)
    page = window.files.open(file)
    assert page is not None
    document = page.workspace.document
    assert [node.id for node in document.workflow.nodes] == ["a", "a_2"]
    assert document.dirty
    assert "1 thing in the file had an id that is taken (a)" in window.status.currentMessage()
    window.files.save(page)
    assert not document.dirty
    write_workflow(Workflow(id="w", name="Again", nodes=twins), file)
    window.files._load_again(page, file)
    assert [node.id for node in document.workflow.nodes] == ["a", "a_2"]
    assert document.dirty
    document.undo_stack.undo()
    assert document.workflow.name == "Merged"
    window.files.save(page)


def test_a_missing_file_gives_one_message(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    assert window.files.open(tmp_path / "gone.workflow.json") is None
    assert message(window).text() == "gone.workflow.json could not be opened."


def test_saving_a_new_workflow_asks_where(make_window: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window = make_window()
    page = window.files.new()
    rename(page, "My plan")
    window.files.save(page)
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.selectedFiles()[0].endswith("my-plan.workflow.json")
    dialog.fileSelected.emit(str(tmp_path / "plan"))
    dialog.done(0)
    assert read_workflow(tmp_path / "plan.workflow.json").name == "My plan"
    assert page.workspace.document.path == tmp_path / "plan.workflow.json"
    assert recent.recent_files()[0].name == "My plan"


def test_a_copy_gets_an_identity_of_its_own(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.open(saved_file(tmp_path))
    assert page is not None
    before = page.workspace.document.workflow.id
    window.files._write(page, tmp_path / "y.workflow.json")
    assert read_workflow(tmp_path / "x.workflow.json").id == before
    assert read_workflow(tmp_path / "y.workflow.json").id != before
    assert not page.workspace.document.dirty


def test_a_place_that_cannot_be_written_keeps_the_changes(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.open(saved_file(tmp_path))
    assert page is not None
    rename(page, "Plan")
    (tmp_path / "folder").mkdir()
    page.workspace.document.mark_saved(tmp_path / "folder")
    rename(page, "Plan 2")
    window.files.save(page)
    box = message(window)
    assert box.text() == "folder could not be saved."
    assert "still in the window" in box.informativeText()
    assert page.workspace.document.dirty
    assert page.title == "Plan 2"


def two_writers(window: MainWindow, folder: Path) -> tuple[WorkflowPage, Path]:
    """A page with a change of its own, and a file that another program has saved since, with code in it."""
    file = saved_file(folder)
    page = window.files.open(file)
    assert page is not None
    code = FunctionNode(id="f", name="F", body="result = 'theirs'")
    write_workflow(page.workspace.document.workflow.model_copy(update={"name": "Theirs", "nodes": (code,)}), file)
    rename(page, "Mine")
    window.files.save(page)
    assert read_workflow(file).name == "Theirs"
    return page, file


def test_a_file_that_another_program_changed_is_not_replaced_silently(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page, file = two_writers(window, tmp_path)
    box = message(window)
    assert box.text() == "x.workflow.json was changed by another program."
    default = box.defaultButton()
    assert default is not None
    assert default.text() == "Save as…"
    press(box, "Cancel")
    assert (read_workflow(file).name, page.workspace.document.dirty) == ("Theirs", True)
    window.files.save(page)
    press(message(window), "Save as…")
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "mine.workflow.json"))
    dialog.done(0)
    assert [read_workflow(f).name for f in (file, tmp_path / "mine.workflow.json")] == ["Theirs", "Mine"]
    rename(page, "Mine 2")
    window.files.save(page)
    assert read_workflow(tmp_path / "mine.workflow.json").name == "Mine 2"


def test_what_another_program_wrote_can_be_replaced_and_is_kept(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page, file = two_writers(window, tmp_path)
    press(message(window), "Replace it")
    assert (read_workflow(file).name, page.workspace.document.dirty) == ("Mine", False)
    assert read_workflow(kept_versions(read_workflow(file).id)[0].path).name == "Theirs"
    rename(page, "Mine 2")
    window.files.save(page)
    assert read_workflow(file).name == "Mine 2"


def test_what_another_program_wrote_can_be_loaded_without_accepting_its_code(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window()
    page, file = two_writers(window, tmp_path)
    press(message(window), "Load what is on disk")
    document = page.workspace.document
    assert (document.workflow.name, document.dirty) == ("Theirs", False)
    assert not trust.is_trusted(document.workflow)
    document.undo_stack.undo()
    assert (document.workflow.name, document.dirty) == ("Mine", True)
    document.undo_stack.redo()
    assert not trust.is_trusted(document.workflow)
    rename(page, "Theirs and mine")
    window.files.save(page)
    assert read_workflow(file).name == "Theirs and mine"


def test_closing_asks_about_changes(make_window: MakeWindow, tmp_path: Path) -> None:
    workspaces = StillWorkspaces()
    window = make_window(workspaces=workspaces)
    page = window.files.open(saved_file(tmp_path))
    assert page is not None
    rename(page, "Plan")
    window.close_tab()
    press(message(window), "Cancel")
    assert window.files.pages() == [page]
    window.close_tab()
    press(message(window), "Save")
    assert window.files.pages() == []
    assert read_workflow(tmp_path / "x.workflow.json").name == "Plan"
    assert len(workspaces.closed) == 1
    assert isinstance(window.tabs.current, WelcomePage)


def test_closing_the_window_asks_for_each_changed_document(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    window.show()
    file = saved_file(tmp_path)
    window.files.open(file)
    for name in ("One", "Two"):
        rename(window.files.new(), name)
    closed: list[bool] = []
    window.closed.connect(lambda: closed.append(True))
    window.close()
    press(message(window), "Cancel")
    assert not closed
    assert window.isVisible()
    window.close()
    press(message(window), "Discard")
    press(message(window), "Discard")
    assert closed == [True]
    assert not window.isVisible()
    assert recent.last_session() == [str(file)]


def test_a_file_whose_changes_were_discarded_at_the_end_is_in_the_session(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window()
    file = saved_file(tmp_path)
    page = window.files.open(file)
    assert page is not None
    rename(page, "Not kept")
    window.close()
    press(message(window), "Discard")
    assert recent.last_session() == [str(file)]


def test_the_tabs_of_the_last_session_come_back(make_window: MakeWindow, tmp_path: Path) -> None:
    file = saved_file(tmp_path)
    recent.keep_session([file, tmp_path / "gone.workflow.json"])
    window = make_window()
    window.show_first([])
    assert [page.title for page in window.files.pages()] == ["Research brief"]
    other = make_window(preferences=Preferences(theme="light", reopen_last=False))
    other.show_first([])
    assert other.files.pages() == []


def test_unsaved_work_can_be_recovered(make_window: MakeWindow, tmp_path: Path) -> None:
    file = saved_file(tmp_path)
    workflow = read_workflow(file)
    journal = Journal(workflow.id)
    journal.begin(workflow, file)
    journal.record(workflow.model_copy(update={"name": "After the crash"}))
    assert journal._lock is not None
    journal._lock.release()
    window = make_window(workspaces=StillWorkspaces(journal=True))
    window.show_first([])
    welcome = window.tabs.current
    assert isinstance(welcome, WelcomePage)
    found = recoverable()[0]
    page = window.files.recover(found)
    assert page is not None
    assert page.title == "After the crash"
    assert page.workspace.document.dirty
    assert page.workspace.document.path == file
    page.workspace.document.undo_stack.undo()
    assert page.title == "Research brief"
    assert not found.file.exists()


def test_templates_are_copies_and_trusted(make_window: MakeWindow) -> None:
    window = make_window()
    file = next(iter(sorted(resource("templates").glob("*.workflow.json"))))
    window.files.new_from_template(file)
    page = window.page
    assert page is not None
    assert page.workspace.document.path is None
    assert page.workspace.document.workflow.id != read_workflow(file).id
    assert trust.is_trusted(page.workspace.document.workflow)
    assert page.trust_bar.isHidden()


def test_code_of_a_foreign_file_is_asked_about(make_window: MakeWindow, tmp_path: Path) -> None:
    workflow = Workflow(name="Foreign")
    edit, node = commands.new_node(workflow, "function", "Count")
    workflow = edit.apply(workflow).workflow
    workflow = commands.set_fields(workflow, node, {"body": "result = len(data)"}).apply(workflow).workflow
    file = tmp_path / "f.workflow.json"
    write_workflow(workflow, file)
    window = make_window()
    page = window.files.open(file)
    assert page is not None
    document = page.workspace.document
    document.execute(commands.delete_items(document.workflow, [node]), "Delete Count")
    document.undo_stack.undo()  # what undo brings back was not typed here
    document.execute(commands.set_fields(document.workflow, node, {"body": "result = theirs"}), "Paste")
    assert not page.trust_bar.isHidden()
    document.undo_stack.setIndex(0)
    assert not page.trust_bar.isHidden()
    page.trust_bar.trusted.emit()
    assert page.trust_bar.isHidden()
    assert trust.is_trusted(workflow)


def test_a_server_is_asked_about_once_per_folder(make_window: MakeWindow, tmp_path: Path) -> None:
    """Where the person of this window saves, the answer goes along; a file that came from somewhere asks again."""
    window = make_window()
    page = window.files.new()
    document = page.workspace.document
    server = McpServerDecl(name="tiny", command="python", arguments=("server.py",))
    document.execute(SetWorkflow({"mcp_servers": (server,)}), "Add a server")
    assert not page.trust_bar.isHidden()
    page.workspace.mcp.accept(server)
    assert page.trust_bar.isHidden()
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    theirs.mkdir()
    window.files._write(page, mine / "a.workflow.json")
    assert page.trust_bar.isHidden()
    assert page.workspace.mcp.is_accepted(server)
    copy = theirs / "a.workflow.json"
    write_workflow(document.workflow.model_copy(update={"id": "theirs"}), copy)
    opened = window.files.open(copy)
    assert opened is not None
    assert not opened.trust_bar.isHidden()
    assert not opened.workspace.mcp.is_accepted(server)
    assert str(theirs) in opened.workspace.mcp.part(server).text


def test_typed_code_needs_no_question(make_window: MakeWindow) -> None:
    window = make_window()
    page = window.files.new()
    document = page.workspace.document
    edit, node = commands.new_node(document.workflow, "function", "Count")
    document.execute(edit, "Add Count")
    document.execute(commands.set_fields(document.workflow, node, {"body": "result = 1"}), "Edit code")
    assert page.trust_bar.isHidden()


def test_dropped_files_are_opened_and_texts_become_input(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    window.show_first([])
    file = saved_file(tmp_path)
    text = tmp_path / "question.txt"
    text.write_text("How much\nstorage?", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)), QUrl.fromLocalFile(str(text)), QUrl("https://example.org/x")])
    files = drops.files_of(data)
    assert files == [file, text]
    drops.take(window, files)
    assert [page.title for page in window.files.pages()] == ["Research brief"]
    assert window.tool_bar.input.text() == "How much storage?"

    assert window.page is not None
    canvas = window.page.canvas
    picture, table = tmp_path / "picture.png", tmp_path / "table.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    table.write_text("a,b", encoding="utf-8")
    said: list[str] = []
    canvas.message_shown.connect(said.append)
    drops.take(window, [picture, table], canvas.viewport().mapTo(window, canvas.viewport().rect().center()))
    assert [n.name for n in canvas.workflow.nodes if n.kind == "template"] == ["table"]
    assert said == ["picture.png is neither a workflow nor a text."]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("x", "x.workflow.json"),
        ("x.json", "x.workflow.json"),
        ("x.workflow.json", "x.workflow.json"),
        ("x.txt", "x.txt"),
    ],
)
def test_suffixes(given: str, name: str) -> None:
    assert with_suffix(Path(given)).name == name


@pytest.mark.parametrize(
    ("title", "name"),
    [("My plan: v2/3", "my-plan-v2-3"), ("", "workflow"), ("🙂", "workflow"), ("計画", "計画"), ("x" * 300, "x" * 80)],
)
def test_file_names_from_titles(title: str, name: str) -> None:
    assert file_name(title) == name


def test_a_name_cannot_turn_the_name_of_the_program(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    page = window.files.open(saved_file(tmp_path))
    assert page is not None
    rename(page, "Plan \u202ertl \u2067x")
    window.refresh()
    assert window.windowTitle() == "Plan rtl x • — Superstep Studio"
