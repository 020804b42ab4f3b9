"""The dock of the checkpoint strip: a header that folds it, and says what is in it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.workspace import Workspace
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline import TimelinePanel
from studio.ui.widgets.buttons import Button

_NO_LIMIT = 16_777_215
_ARROW = 30
STRIP, TREE = 98, 344
"""Heights below the header: the strip, and the tree that a double-click on the header opens."""


class CheckpointDock(QDockWidget):
    """Folded it is its header."""

    folded_changed = Signal()
    height_wanted = Signal(int)
    """The whole height that the dock should get."""

    def __init__(self, theme: Theme, panel: TimelinePanel, parent: QWidget | None = None) -> None:
        super().__init__(tr("Checkpoints"), parent)
        self._theme, self._panel = theme, panel
        self._workspace: Workspace | None = None
        self._folded = False
        self._looked: set[str] = set()
        """Workflows whose earlier runs were looked at for an interrupted one."""
        self._told: set[str] = set()
        """What was wrong with files of runs, when the strip was opened to say it."""
        self.setObjectName("dock.checkpoints")
        self.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        self.header = _Header(theme)
        self.header.clicked.connect(self._on_header_clicked)
        self.header.title_clicked.connect(self._on_header_title_clicked)
        self._click_timer = QTimer(self)
        self._click_timer.setSingleShot(True)
        self._click_timer.timeout.connect(self._on_header_clicked)
        self.header.double_clicked.connect(self._on_header_double_clicked)
        self.header.find_button.clicked.connect(self._on_find_button_clicked)
        self.header.menu_button.clicked.connect(self._on_menu_button_clicked)
        self.setTitleBarWidget(self.header)
        self._holder = QWidget()
        column = QVBoxLayout(self._holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(panel)
        self.setWidget(self._holder)
        theme.changed.connect(self._on_theme_changed)

    @property
    def folded(self) -> bool:
        return self._folded

    def set_folded(self, folded: bool) -> None:
        """Shows the header alone, or the strip below it."""
        if folded == self._folded:
            return
        self._folded = folded
        # The holder stays visible: without a visible content Qt makes a dock as narrow as its title bar may be.
        self._panel.setVisible(not folded)
        self._holder.setMaximumHeight(0 if folded else _NO_LIMIT)
        self.header.folded = folded
        self._limit()
        self.header.update()
        if not folded:
            self.height_wanted.emit(self.header.sizeHint().height() + self._theme.length(STRIP))
        self.folded_changed.emit()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the checkpoints of another workflow."""
        if self._workspace is not None:
            self._workspace.run.updated.disconnect(self._on_run_updated)
            self._workspace.run.upkeep_changed.disconnect(self._on_run_upkeep_changed)
        self._workspace = workspace
        if workspace is not None:
            workspace.run.updated.connect(self._on_run_updated)
            workspace.run.upkeep_changed.connect(self._on_run_upkeep_changed)
        self._on_run_upkeep_changed()

    def _limit(self) -> None:
        height = self.header.sizeHint().height()
        self.setMaximumHeight(height if self._folded else _NO_LIMIT)

    def _on_run_updated(self, _update: object) -> None:
        self.header.set_summary(self._panel.summary())
        self._show_what_was_cut()

    def _on_run_upkeep_changed(self) -> None:
        """Opens the strip, where the sentence and the way out are, when something is wrong with the file of runs."""
        self.header.set_summary(self._panel.summary())
        trouble = self._workspace.run.file_trouble if self._workspace is not None else ""
        if trouble and trouble not in self._told:
            self._told.add(trouble)
            self.set_folded(False)

    def _show_what_was_cut(self) -> None:
        """Opens the strip, where *Resume* is, when the earlier runs of a workflow are listed and a crash cut one."""
        workspace = self._workspace
        if workspace is None or not workspace.run.branches or workspace.document.workflow.id in self._looked:
            return
        self._looked.add(workspace.document.workflow.id)
        run = workspace.run
        if any(run.is_interrupted(branch.branch) and not branch.elsewhere for branch in run.branches):
            self.set_folded(False)

    def _on_find_button_clicked(self) -> None:
        self.set_folded(False)
        self._panel.open_search()

    def _on_menu_button_clicked(self) -> None:
        button = self.header.menu_button
        self._panel.offer(button.mapToGlobal(QPoint(0, button.height())))

    def _on_header_clicked(self) -> None:
        self.set_folded(not self._folded)

    def _on_header_title_clicked(self) -> None:
        # Folding moves the header away from the pointer: a second click must have its chance to come first.
        self._click_timer.start(QApplication.doubleClickInterval())

    def _on_header_double_clicked(self) -> None:
        self._click_timer.stop()
        header = self.header.sizeHint().height()
        tall = self.height() < header + self._theme.length(TREE) - 8
        self.set_folded(False)
        self.height_wanted.emit(header + self._theme.length(TREE if tall else STRIP))

    def _on_theme_changed(self) -> None:
        self._limit()


class _Header(QAbstractButton):
    """Arrow, title, summary."""

    double_clicked = Signal()
    title_clicked = Signal()
    """The pointer clicked, but not on the arrow at the start; ``clicked`` is then not emitted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.folded = False
        self._summary = ""
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setObjectName("checkpoints_header")
        self.setText(tr("Checkpoints"))
        self.setAccessibleName(tr("Checkpoints"))
        self.setToolTip(tr("Click to fold, double-click for the tree"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.find_button = Button(theme, "", "list-filter", "plain", small=True)
        self.menu_button = Button(theme, "", "ellipsis", "plain", small=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(2)
        row.addStretch(1)
        for button, text in ((self.find_button, tr("Find checkpoints")), (self.menu_button, tr("More"))):
            button.setToolTip(text)
            button.setAccessibleName(text)
            row.addWidget(button)
        theme.changed.connect(self._on_theme_changed)

    def set_summary(self, text: str) -> None:
        """What stands behind the title."""
        if text != self._summary:
            self._summary = text
            self.setAccessibleDescription(text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self._theme.length(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.position().x() < _ARROW:
            super().mouseReleaseEvent(event)
            return
        inside = self.isDown() and self.rect().contains(event.position().toPoint())
        self.setDown(False)
        if inside:
            self.title_clicked.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.double_clicked.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("hover" if self.underMouse() else "window"))
        arrow = "chevron-right" if self.folded else "chevron-down"
        pixmap = self._theme.pixmap(arrow, 13, "text2", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(11, (self.height() - 13) // 2), pixmap)
        title = QFontMetrics(self._theme.font("section"))
        baseline = (self.height() + title.ascent() - title.descent()) // 2
        painter.setFont(self._theme.font("section"))
        painter.setPen(self._theme.color("text"))
        painter.drawText(QPoint(32, baseline), self.text())
        painter.setFont(self._theme.font("body"))
        painter.setPen(self._theme.color("muted"))
        start = 40 + title.horizontalAdvance(self.text())
        shown = QFontMetrics(self._theme.font("body")).elidedText(
            self._summary, Qt.TextElideMode.ElideRight, self.find_button.x() - start - 12
        )
        painter.drawText(QPoint(start, baseline), shown)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.color("accent"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()
