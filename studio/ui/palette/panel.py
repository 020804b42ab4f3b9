"""The palette: what can be added, to drag onto the canvas or to double-click."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.workspace import Workspace
from studio.ui.paint import draw_kind, kind_name
from studio.ui.paint.kinds import NEW_KINDS
from studio.ui.paint.rows import HEADER_ROLE, HINT_ROLE, KIND_ROLE, KindDelegate
from studio.ui.text import tr
from studio.ui.theme import Theme


@runtime_checkable
class NodeTarget(Protocol):
    """Where something from the palette can be dropped. Points are in coordinates of the screen."""

    def preview_node(self, kind: str, where: QPoint) -> bool:
        """Shows what would be made there; False: not over it."""

    def drop_node(self, kind: str, where: QPoint) -> bool:
        """Makes it; returns whether it did."""

    def leave_node(self) -> None:
        """The drag went elsewhere or was cancelled."""


class PalettePanel(QWidget):
    """Field and list. Dragging is our own gesture: the list keeps the mouse, the target draws the preview."""

    add_requested = Signal(str)
    """A kind was double-clicked or chosen with Enter: add one to the middle of the canvas."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._workspace: Workspace | None = None
        self._drag: _PaletteDrag | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(2)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(tr("Add a node…"))
        self.field.setAccessibleName(tr("Find a node to add"))
        self.field.setToolTip(tr("Type to find a node, Enter adds it (on the canvas: Shift+A)"))
        self._icon = self.field.addAction(theme.icon("own:search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self._keys = QLabel("Shift+A", self.field)
        self._keys.setProperty("role", "small")
        frame = QVBoxLayout()
        frame.setContentsMargins(10, 0, 10, 0)
        frame.addWidget(self.field)
        column.addLayout(frame)
        self.list = QListWidget(self)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setItemDelegate(KindDelegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(tr("Palette"))
        self.list.setUniformItemSizes(False)
        column.addWidget(self.list, 1)
        self.list.viewport().installEventFilter(self)
        self.list.itemActivated.connect(self._on_list_item_activated)
        self.field.textChanged.connect(self._on_field_text_changed)
        self.field.installEventFilter(self)
        theme.changed.connect(self._on_theme_changed)
        self._fill("")
        self._limit()

    def _limit(self) -> None:
        """No higher than all its rows: the room of a high window is for others."""
        rows = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        self.setMaximumHeight(rows + self.field.sizeHint().height() + 24)

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Without a workspace there is nothing to add to."""
        self._workspace = workspace
        self.cancel_drag()
        self.setEnabled(workspace is not None)

    # ---- list

    def _fill(self, text: str) -> None:
        typed = text.strip().casefold()
        self.list.clear()
        group = ""
        for new in NEW_KINDS:
            name = kind_name(new.kind)
            if typed and typed not in f"{name} {new.words}".casefold():
                continue
            if new.group != group:
                group = new.group
                header = QListWidgetItem(tr(group))
                header.setFlags(Qt.ItemFlag.NoItemFlags)
                header.setData(HEADER_ROLE, True)
                self.list.addItem(header)
            item = QListWidgetItem(name)
            item.setData(KIND_ROLE, new.kind)
            item.setData(HINT_ROLE, new.letter)
            item.setToolTip(tr("Drag to the canvas, or double-click"))
            self.list.addItem(item)
        if typed:
            self.list.setCurrentRow(1 if self.list.count() > 1 else -1)

    def kind_at(self, row: int) -> str:
        """The kind of a row; empty for a heading."""
        item = self.list.item(row)
        return str(item.data(KIND_ROLE) or "") if item is not None else ""

    def _on_field_text_changed(self, text: str) -> None:
        self._keys.setVisible(not text)
        self._fill(text)

    def _on_list_item_activated(self, item: QListWidgetItem) -> None:
        kind = str(item.data(KIND_ROLE) or "")
        if kind:
            self.add_requested.emit(kind)

    def _on_theme_changed(self) -> None:
        self._icon.setIcon(self.theme.icon("own:search", "muted"))
        self.list.viewport().update()
        if not self.field.text():
            self._limit()

    # ---- events of the field and the list

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field:
            return self._on_field_event(event)
        if isinstance(event, QMouseEvent):
            return self._on_list_mouse(event)
        return super().eventFilter(watched, event)

    def _on_field_event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            size = self._keys.sizeHint()
            self._keys.resize(size)
            self._keys.move(self.field.width() - size.width() - 9, (self.field.height() - size.height()) // 2)
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                item = self.list.currentItem()
                if item is not None:
                    self._on_list_item_activated(item)
                    self.field.clear()
            case Qt.Key.Key_Down:
                self.list.setFocus()
                self.list.setCurrentRow(1)
            case Qt.Key.Key_Escape if self.field.text():
                self.field.clear()
            case _:
                return False
        return True

    def _on_list_mouse(self, event: QMouseEvent) -> bool:
        left = Qt.MouseButton.LeftButton
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == left:
            item = self.list.itemAt(event.position().toPoint())
            kind = str(item.data(KIND_ROLE) or "") if item is not None else ""
            self._drag = _PaletteDrag(self, kind, event.globalPosition().toPoint()) if kind else None
        elif event.type() == QEvent.Type.MouseMove and self._drag is not None and event.buttons() & left:
            return self._drag.move(event.globalPosition().toPoint())
        elif event.type() == QEvent.Type.MouseButtonRelease and self._drag is not None:
            drag, self._drag = self._drag, None
            return drag.finish(event.globalPosition().toPoint())
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._drag is not None:
            self.cancel_drag()
            return
        super().keyPressEvent(event)

    def cancel_drag(self) -> None:
        """Ends a drag without a trace."""
        drag, self._drag = self._drag, None
        if drag is not None:
            drag.cancel()


class _PaletteDrag:
    """One drag out of the palette: the pressed list receives all moves; the widget under the pointer is asked."""

    def __init__(self, panel: PalettePanel, kind: str, where: QPoint) -> None:
        self._panel = panel
        self._kind = kind
        self._from = where
        self._target: NodeTarget | None = None
        self._ghost: QLabel | None = None

    def move(self, where: QPoint) -> bool:
        """Returns whether this is a drag by now."""
        if self._ghost is None:
            if (where - self._from).manhattanLength() < QApplication.startDragDistance():
                return True
            self._ghost = self._made_ghost()
        target = _target_at(where)
        if target is not self._target and self._target is not None:
            self._target.leave_node()
        self._target = target if target is not None and target.preview_node(self._kind, where) else None
        # Over the canvas its preview shows the node as it will be; elsewhere a tile follows the pointer.
        self._ghost.setVisible(self._target is None)
        window = self._panel.window()
        self._ghost.move(window.mapFromGlobal(where) + QPoint(12, 8))
        self._ghost.raise_()
        self._panel.setFocus()
        return True

    def _made_ghost(self) -> QLabel:
        window = self._panel.window()
        ghost = QLabel(window)
        ghost.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        ghost.setPixmap(kind_picture(self._panel.theme, self._kind, window.devicePixelRatioF()))
        ghost.adjustSize()
        return ghost

    def finish(self, where: QPoint) -> bool:
        """Drops; returns whether there was a drag."""
        dragged = self._ghost is not None
        target = _target_at(where) if dragged else None
        if target is not None:
            target.drop_node(self._kind, where)
            self._target = None
        self.cancel()
        return dragged

    def cancel(self) -> None:
        if self._target is not None:
            self._target.leave_node()
            self._target = None
        if self._ghost is not None:
            self._ghost.hide()
            self._ghost.deleteLater()
            self._ghost = None


def _target_at(where: QPoint) -> NodeTarget | None:
    widget: QWidget | None = QApplication.widgetAt(where)
    while widget is not None:
        if isinstance(widget, NodeTarget):
            return widget
        widget = widget.parentWidget()
    return None


def kind_picture(theme: Theme, kind: str, ratio: float) -> QPixmap:
    """The tile of a kind as a pixmap."""
    side = 22
    picture = QPixmap(round(side * ratio), round(side * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_kind(painter, theme, QRectF(0, 0, side, side), kind)
    painter.end()
    return picture
