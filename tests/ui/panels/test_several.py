"""Several selected nodes: common fields are edited for all in one step."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.edits import Batch, Insert
from studio.document.model import FunctionNode, HumanInputNode, JoinNode, SubWorkflowNode, TemplateNode
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.form import Form
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField, TextBox

Show = Callable[[type[InspectorPanel]], InspectorPanel]


@pytest.fixture
def panel(show: Show, workspace: Workspace) -> InspectorPanel:
    more = (
        FunctionNode(id="f2", name="F2", body="result = 1", sends="integer"),
        HumanInputNode(id="h2", name="H2"),
        TemplateNode(id="t2", name="T2", text="Other"),
        JoinNode(id="j2", name="J2"),
        SubWorkflowNode(id="s1", name="S1"),
        SubWorkflowNode(id="s2", name="S2", direct_output=True),
    )
    workspace.document.execute(Batch(tuple(Insert("nodes", node) for node in more)), "Set up")
    return show(InspectorPanel)


def form(panel: InspectorPanel) -> Form:
    assert panel.page is not None
    assert panel.page.form is not None
    return panel.page.form


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (("planner", "writer"), {"model", "temperature", "profile", "max_tokens", "tools", "host", "context",
                                 "trailing_user_turn", "session", "instructions", "description"}),
        (("publisher", "f2"), {"accepts", "sends", "yields", "description"}),
        (("editor", "h2"), {"question", "answer_type", "send", "description"}),
        (("frame", "t2"), {"text", "description"}),
        (("join", "j2"), {"merge", "description"}),
        (("s1", "s2"), {"direct_output", "propagate_requests", "description"}),
        (("planner", "publisher", "frame"), {"description"}),
    ],
)  # fmt: skip
def test_common_fields(panel: InspectorPanel, workspace: Workspace, ids: tuple[str, ...], names: set[str]) -> None:
    workspace.selection.select(ids)
    assert form(panel).names == names


def test_different_values_are_mixed_and_set_together(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.selection.select(("s1", "s2"))
    direct = form(panel).field("direct_output")
    assert isinstance(direct, CheckField)
    assert direct.box.checkState() == Qt.CheckState.PartiallyChecked
    before = workspace.document.undo_stack.count()
    direct.box.click()
    values = [workspace.document.workflow.node(i).direct_output for i in ("s1", "s2")]  # type: ignore[union-attr]
    assert values in ([True, True], [False, False])
    assert workspace.document.undo_stack.count() == before + 1
    assert workspace.document.undo_stack.undoText() == "Change direct output of 2 items"
    workspace.document.undo_stack.undo()
    assert direct.box.checkState() == Qt.CheckState.PartiallyChecked


def test_typing_for_several_is_one_step(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.selection.select(("frame", "t2"))
    field = form(panel).field("text")
    assert isinstance(field, Field)
    assert isinstance(field.editor, TextBox)
    assert field.editor.placeholderText() == "mixed"
    before = workspace.document.undo_stack.count()
    qtbot.keyClicks(field.editor, "Both")
    texts = [workspace.document.workflow.node(i).text for i in ("frame", "t2")]  # type: ignore[union-attr]
    assert texts == ["Both", "Both"]
    assert workspace.document.undo_stack.count() == before + 1


def test_several_kinds_share_a_note(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.selection.select(("planner", "publisher"))
    note = form(panel).field("description").editor  # type: ignore[union-attr]
    assert isinstance(note, TextBox)
    qtbot.keyClicks(note, "Check")
    notes = [workspace.document.workflow.node(i).description for i in ("planner", "publisher")]  # type: ignore[union-attr]
    assert notes == ["Check", "Check"]


def test_a_host_for_several(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.selection.select(("planner", "writer"))
    host = form(panel).field("host").editor  # type: ignore[union-attr]
    assert isinstance(host, SegmentedControl)
    host.edited.emit("turn_token")
    assert {workspace.document.workflow.node(i).host for i in ("planner", "writer")} == {"turn_token"}  # type: ignore[union-attr]
    limit = form(panel).field("max_tokens").editor  # type: ignore[union-attr]
    assert isinstance(limit, LineField)
    qtbot.keyClicks(limit, "200")
    assert {workspace.document.workflow.node(i).max_tokens for i in ("planner", "writer")} == {200}  # type: ignore[union-attr]


def test_edges_in_between_are_left_out(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.selection.select(("planner", "writer", "join_writer", "review_1", "review", "note"))
    assert "temperature" in form(panel).names
    assert form(panel).target.ids == ("planner", "writer")  # type: ignore[attr-defined]
    assert panel.page is not None
    assert panel.page.header.title.text == "5 selected", "a case is part of its switch"
    assert "Join → Writer" in panel.page._facts.findChildren(Prose)[1].plain  # type: ignore[attr-defined]


def test_another_theme_or_text_size_writes_nothing(panel: InspectorPanel, workspace: Workspace) -> None:
    stack, before = workspace.document.undo_stack, workspace.document.workflow
    for ids in (("planner",), ("publisher", "f2"), ("frame", "t2"), (), ("planner", "writer")):
        workspace.selection.select(ids)
        boxes = [box for box in panel.findChildren(TextBox) if box.isVisible()]
        assert boxes
        for box in boxes:  # what Qt does when a style sheet brings other fonts
            box.textChanged.emit()
    panel.theme.set_scale(1.5)
    assert stack.undoText() == "Set up"
    assert workspace.document.workflow is before
