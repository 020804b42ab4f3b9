"""The docks of the window and its layouts: *edit*, *debug*, and *compare* for the tabs that compare."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from studio.ui.window.checkpoint_dock import STRIP, TREE, CheckpointDock
from studio.ui.window.dock import PanelDock
from studio.ui.window.document_tabs import DocumentTabs
from studio.ui.window.memory import WindowMemory

LayoutName = Literal["edit", "debug", "compare"]
_BARS, _LEAST_CANVAS = 122, 240
"""Heights of menu, tool, tab and status bars together, and what the canvas keeps of a small window."""
_LOW = 560
VERSION = 1
"""Saved layouts of another version are not used."""


class WindowLayouts(QObject):
    """Shows the docks on workflow pages and hides them elsewhere; keeps one arrangement per layout."""

    changed = Signal()
    """A side was shown or hidden."""

    def __init__(
        self,
        window: QMainWindow,
        left: PanelDock,
        right: PanelDock,
        bottom: PanelDock,
        checkpoints: CheckpointDock,
        memory: WindowMemory,
    ) -> None:
        super().__init__(window)
        self._window, self._memory = window, memory
        self.left, self.right, self.bottom, self.checkpoints = left, right, bottom, checkpoints
        self.current: LayoutName = "edit"
        self._shown = False
        self._before_compare: LayoutName = "edit"
        self._before_canvas_only: tuple[bool, ...] | None = None
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        window.setDockNestingEnabled(True)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, left)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, right)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, bottom)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, checkpoints)
        window.splitDockWidget(bottom, checkpoints, Qt.Orientation.Vertical)
        for dock in self._docks():
            dock.hide()
        checkpoints.folded_changed.connect(self._on_checkpoints_folded_changed)
        checkpoints.height_wanted.connect(self._on_checkpoints_height_wanted)

    def show_for(self, page: str) -> None:
        """The docks that a kind of page has."""
        if page == "compare":
            if self.current != "compare":
                self._before_compare = self.current
            self.show_docks(True)
            self.switch("compare")
            return
        if self.current == "compare":
            self.switch(self._before_compare)
        self.show_docks(page == "workflow")

    def show_docks(self, shown: bool) -> None:
        """Whether there are docks at all: on a workflow yes, on the welcome page no."""
        if shown == self._shown:
            return
        if not shown:
            self._keep()
        self._shown = shown
        if shown:
            self._arrange()
        else:
            for dock in self._docks():
                dock.hide()
        self.changed.emit()

    def switch(self, name: LayoutName) -> None:
        """Changes to a layout; what was arranged by hand in the one before is kept."""
        if name == self.current:
            return
        if self._shown:
            self._keep()
        self.current = name
        if self._shown:
            focus = self._window.focusWidget()
            self._arrange()
            self._give_back(focus)
        self.changed.emit()

    def _give_back(self, focus: QWidget | None) -> None:
        """Docks are hidden on the way, some for good: whoever is typing in one that is there goes on typing there."""
        central = self._window.centralWidget()
        if focus is not None and focus.isVisible():
            focus.setFocus()
        elif focus is not None and isinstance(central, DocumentTabs):
            central.focus_page()

    def reset(self) -> None:
        """The default arrangement of the current layout."""
        self._memory.layouts.pop(self.current, None)
        self._memory.folded.pop(self.current, None)
        self._before_canvas_only = None
        if self._shown:
            self._default()
        self.changed.emit()

    def is_shown(self, side: str) -> bool:
        """Whether ``left``, ``right``, ``bottom`` or ``checkpoints`` is open; these are never closed, only folded."""
        folded = side == "checkpoints" and self.checkpoints.folded
        return self._shown and not folded and not self._dock(side).isHidden()

    def toggle(self, side: str) -> None:
        """Opens or closes a side."""
        dock = self._dock(side)
        if isinstance(dock, CheckpointDock) and not dock.isHidden():
            dock.set_folded(not dock.folded)
        else:
            dock.setVisible(dock.isHidden())
        self._before_canvas_only = None
        self.changed.emit()

    def open(self, side: str) -> None:
        """Opens a side if it is closed."""
        if self._shown and not self.is_shown(side):
            self.toggle(side)

    @property
    def canvas_only(self) -> bool:
        """Whether all sides are closed for the canvas."""
        return self._before_canvas_only is not None

    def toggle_canvas_only(self) -> None:
        """Gives the whole window to the canvas, and takes it back."""
        before = self._before_canvas_only
        if before is None:
            self._before_canvas_only = tuple(not dock.isHidden() for dock in self._docks())
            for dock in self._docks():
                dock.hide()
        else:
            self._before_canvas_only = None
            for dock, shown in zip(self._docks(), before, strict=True):
                dock.setVisible(shown)
        self.changed.emit()

    def remember(self) -> None:
        """Puts the current arrangement into the memory, before the window closes."""
        if self._shown:
            self._keep()

    def _keep(self) -> None:
        if self._before_canvas_only is None:
            self._memory.layouts[self.current] = bytes(self._window.saveState(VERSION).data()).hex()
            self._memory.folded[self.current] = self.checkpoints.folded

    def _arrange(self) -> None:
        self._before_canvas_only = None
        self.checkpoints.set_folded(self._memory.folded.get(self.current, self.current == "edit"))
        saved = self._memory.layouts.get(self.current, "")
        try:
            state = QByteArray(bytes.fromhex(saved))
        except ValueError:
            state = QByteArray()
        if state.isEmpty() or not self._window.restoreState(state, VERSION):
            self._default()
            return
        # An arrangement of a larger window must leave the canvas some room.
        below = self.bottom.height() + self.checkpoints.height()
        most = self._window.height() - _BARS - _LEAST_CANVAS
        if not self.bottom.isHidden() and below > most:
            height = max(self.bottom.minimumHeight(), most - self.checkpoints.height(), 120)
            self._window.resizeDocks([self.bottom], [height], Qt.Orientation.Vertical)

    def _default(self) -> None:
        size = self._window.size()
        small = size.width() < 1400 or size.height() < 820
        comparing = self.current == "compare"
        self.right.show()
        # In a very low window the canvas has the height while one edits.
        self.bottom.setVisible(not comparing and (size.height() >= _LOW or self.current != "edit"))
        self.checkpoints.show()
        self.checkpoints.set_folded(self.current == "edit")
        self.left.setVisible(not small and not comparing)
        debug = self.current == "debug"
        height = (220 if small else 304) if debug else (140 if small else 178)
        self._window.resizeDocks([self.left, self.right], [216, 300 if small else 332], Qt.Orientation.Horizontal)
        self._window.resizeDocks(
            [self.bottom, self.checkpoints],
            [height, 28 if self.checkpoints.folded else 28 + (TREE if comparing and not small else STRIP)],
            Qt.Orientation.Vertical,
        )

    def _on_checkpoints_folded_changed(self) -> None:
        self.changed.emit()

    def _on_checkpoints_height_wanted(self, height: int) -> None:
        if self._shown:
            self._window.resizeDocks([self.checkpoints], [height], Qt.Orientation.Vertical)

    def _dock(self, side: str) -> QDockWidget:
        return {"left": self.left, "right": self.right, "bottom": self.bottom, "checkpoints": self.checkpoints}[side]

    def _docks(self) -> tuple[QDockWidget, ...]:
        return (self.left, self.right, self.bottom, self.checkpoints)


DEFAULT_SIZE = QSize(1600, 1000)
LEAST_SIZE = QSize(960, 600)
_FRAME = QSize(16, 48)
"""What a window manager adds around a window, at most."""


def fit_screen(window: QMainWindow) -> None:
    """A window is never larger than its screen: before anything is laid out, so that it is laid out for its size."""
    free = window.screen().availableSize()
    window.setMinimumSize(LEAST_SIZE.boundedTo(free - _FRAME))
    window.resize(window.size().boundedTo(free))


def has_room(window: QMainWindow) -> bool:
    """Whether the screen shows a whole window with its frame; on a smaller screen it begins maximized."""
    free = window.screen().availableSize()
    wanted = DEFAULT_SIZE + _FRAME
    return free.width() >= wanted.width() and free.height() >= wanted.height()
