"""The fields of a sub-workflow: the file or the copy, and how it answers."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from studio.document.model import SubWorkflowNode, Workflow
from studio.ui.dialogs.file_dialogs import SUFFIX, choose_target
from studio.ui.dialogs.messages import show_problem
from studio.ui.dialogs.sub_workflows import embed, link
from studio.ui.inspector import builder
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.text import tr
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.sources import size_words


def sub_workflow_fields(page: NodePage, form: Form) -> None:
    """Adds everything."""
    kind = SegmentedControl(page.theme, (("linked", tr("Linked file")), ("embedded", tr("Embedded copy"))))
    field = Field(page.theme, tr("Workflow inside"), kind)
    field.setToolTip(tr("A linked file is read when a run starts; an embedded copy is part of this document"))
    page.body.add(field)
    kind.edited.connect(lambda chosen: _convert(page, kind, chosen == "linked"))
    hint = tr("A file beside this one, written relative to it. It is read when a run starts.")
    path = builder.optional_line(form, "path", tr("Linked file"), placeholder="fact-check.workflow.json", hint=hint)
    page.body.add(path)
    buttons = QWidget()
    row = QHBoxLayout(buttons)
    row.setContentsMargins(12, 8, 12, 0)
    row.setSpacing(6)
    choose = Button(page.theme, tr("Choose a file…"), "folder", small=True)
    choose.clicked.connect(lambda: _choose(page, form))
    row.addWidget(choose)
    row.addStretch(1)
    page.body.add(buttons)
    _add_embedded(page)
    _add_options(page, form)

    def refresh() -> None:
        linked = not _is_embedded(page)
        kind.show_value("linked" if linked else "embedded")
        path.setVisible(linked)
        buttons.setVisible(linked)

    page.follow(refresh)


def _is_embedded(page: NodePage) -> bool:
    node = page.node
    assert isinstance(node, SubWorkflowNode)
    return node.embedded is not None and not node.path


def _convert(page: NodePage, kind: SegmentedControl, linked: bool) -> None:
    """From one to the other; nothing changes before it is known where a linked file goes."""
    document, node = page.workspace.document, page.node
    assert isinstance(node, SubWorkflowNode)
    if linked and _is_embedded(page):
        assert node.embedded is not None
        folder = document.path.parent if document.path is not None else Path.home()
        name = "-".join(re.findall(r"\w+", node.embedded.name.lower())) or "workflow"
        kind.show_value("embedded")
        choose_target(page, folder / f"{name}{SUFFIX}", partial(_link, page, node.id))
    elif not linked:
        _say(page, embed(document, node.id))
        kind.show_value("embedded" if _is_embedded(page) else "linked")


def _link(page: NodePage, node_id: str, file: Path) -> None:
    _say(page, link(page.workspace.document, node_id, file))


def _say(page: NodePage, why_not: str) -> None:
    if why_not:
        show_problem(page.theme, page, tr("The sub-workflow stays as it is."), why_not)


def _add_embedded(page: NodePage) -> None:
    embedded = Prose(page.theme, "", "body", "text2", 17)
    embedded.setContentsMargins(12, 8, 12, 0)
    page.body.add(embedded)

    def refresh() -> None:
        node = page.node
        assert isinstance(node, SubWorkflowNode)
        inner = node.embedded
        embedded.setVisible(_is_embedded(page))
        if isinstance(inner, Workflow):
            text = tr("Holds a copy of {name}: {size}.")
            embedded.set_text(text.format(name=inner.name, size=size_words(inner, ", ")))

    page.follow(refresh)


def _add_options(page: NodePage, form: Form) -> None:
    page.body.add(
        builder.check(
            form,
            "direct_output",
            tr("Give outputs directly"),
            tr("At run time: what the workflow inside yields is an output of this one, not a message. Default: off."),
        )
    )
    page.body.add(
        builder.check(
            form,
            "propagate_requests",
            tr("Pass requests on"),
            tr("At run time: questions inside are asked to you. Off: a node of this workflow answers. Default: on."),
        )
    )


def _choose(page: NodePage, form: Form) -> None:
    here = page.workspace.document.path
    folder = here.parent if here is not None else Path.home()
    dialog = QFileDialog(page, tr("Choose a workflow"), str(folder), tr("Workflows (*.workflow.json);;All files (*)"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)

    def take(name: str) -> None:
        written = os.path.relpath(name, folder) if here is not None else name
        form.target.write("path", Path(written).as_posix())

    dialog.fileSelected.connect(take)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
