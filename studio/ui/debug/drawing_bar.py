"""Bars of the debug panel: the drawing is no longer what the paused run has; a tool call is held."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose


class _Bar(QWidget):
    """A sentence and a button below it. Hidden until there is something to say."""

    def __init__(self, theme: Theme, ground: str, button: Button, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._ground = theme, ground
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        self._text = Prose(theme, "", "small", "text2", 15)
        column.addWidget(self._text)
        column.addWidget(button)
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color(self._ground))


class DrawingBar(_Bar):
    """Hidden while nothing differs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.apply = Button(theme, tr("Apply to this run"), "check", small=True)
        self.apply.setToolTip(tr("A fork takes the drawing as it is now and stands where the run stands"))
        super().__init__(theme, "wait_s", self.apply, parent)

    def show_names(self, names: Sequence[str]) -> None:
        """What differs."""
        if names:
            shown = ", ".join(names[:3]) + (tr(" and {count} more").format(count=len(names) - 3) if names[3:] else "")
            self._text.set_text(tr("{names} changed since this run began.").format(names=shown))
        self.setVisible(bool(names))


class ResetBar(_Bar):
    """Who begins anew when the run goes on, and the way to take it back. Hidden while nobody does."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.take_back = Button(theme, tr("Take back"), "undo", small=True)
        super().__init__(theme, "wait_s", self.take_back, parent)
        self._workspace: Workspace | None = None
        self.take_back.clicked.connect(self._on_take_back_clicked)

    def show_resets(self, workspace: Workspace | None) -> None:
        """Shows what is reset in a run."""
        self._workspace = workspace
        resets = workspace.run.resets if workspace is not None else {}
        if workspace is not None:
            workflow, words = workspace.document.workflow, []
            for node, what in resets.items():
                text = (
                    tr("{name} begins a new conversation.") if what == "conversation" else tr("{name} begins as new.")
                )
                words.append(text.format(name=name_of(workflow, node)))
            self._text.set_text(" ".join([*words, tr("The run goes on as a fork.")]))
        self.setVisible(bool(resets))

    def _on_take_back_clicked(self) -> None:
        if self._workspace is not None:
            run = self._workspace.run
            for node in tuple(run.resets):
                run.reset(node, None)


class ToolBar(_Bar):
    """A held tool call, and the way to give its result instead of running it. Hidden otherwise."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.give = Button(theme, tr("Give a result…"), "wrench", small=True)
        self.give.setToolTip(tr("The tool is not run; the run goes on as a fork"))
        super().__init__(theme, "run_s", self.give, parent)

    def show_call(self, workspace: Workspace | None) -> None:
        """Shows the held call of a run, if there is one."""
        call = workspace.run.pending_tool if workspace is not None else None
        if call is not None and workspace is not None:
            node, tool, arguments = call
            name = name_of(workspace.document.workflow, node.rpartition("/")[2])
            shown = json.dumps(arguments, ensure_ascii=False)
            text = tr("{node} is about to call {tool} with {arguments}.")
            self._text.set_text(text.format(node=name, tool=tool, arguments=shown[:200]))
        self.setVisible(call is not None)
