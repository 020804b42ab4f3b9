"""The tool bar: file and undo, run commands, input, state, model, export, search."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolBar, QWidget

from studio.ui.actions import Page
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.toolbar.action_button import ActionButton, Variant
from studio.ui.toolbar.action_set import ActionSet, shown_key
from studio.ui.toolbar.input_field import InputField
from studio.ui.toolbar.profile_button import ProfileButton
from studio.ui.toolbar.state_chip import StateChip

FULL = 900
"""A narrower tool bar has short buttons."""
LEAST = 680


class MainToolBar(QToolBar):
    """Two faces: with a workflow, and the short one of the welcome page. Disabled buttons stay where they are."""

    def __init__(self, theme: Theme, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(tr("Tool bar"), parent)
        self._theme, self._actions = theme, actions
        self.setObjectName("tool_bar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.input = InputField(theme)
        self.chip = StateChip(theme)
        self.profile = ProfileButton(theme)
        self._page_shown: Page | None = None
        self._welcome: list[QWidget] = []
        self._working: list[QWidget] = []
        self._row = QWidget(self)
        self._layout = QHBoxLayout(self._row)
        self._layout.setContentsMargins(10, 0, 10, 0)
        self._layout.setSpacing(4)
        self._fill()
        self.show_keys()
        self._row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._row.installEventFilter(self)
        self.addWidget(self._row)
        self.show_page("welcome")
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_page(self, page: Page) -> None:
        """Shows the buttons of a page."""
        if page == self._page_shown:
            return
        self._page_shown = page
        for widget in self._welcome:
            widget.setVisible(page == "welcome")
        for widget in self._working:
            widget.setVisible(page != "welcome")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._row and isinstance(event, QResizeEvent):
            compact = event.size().width() < self._theme.length(FULL)
            for button in self._row.findChildren(ActionButton):
                button.set_compact(compact)
        return super().eventFilter(watched, event)

    def set_paused(self, paused: bool) -> None:
        """Step gets a border while it is the next thing to do."""
        self._step.set_variant("bordered" if paused else "plain")

    def show_keys(self) -> None:
        """The keys of *Run* and *Step* on their buttons, as they are now."""
        for button, action in ((self._run, "run.run"), (self._step, "run.step")):
            keys = self._actions.keys(action)
            button.set_keys(shown_key(keys[0]) if keys else "")

    def _fill(self) -> None:
        new = self._button("file.new", "plus", texts=("New workflow",))
        opened = self._button("file.open", "folder-open", texts=("Open…",))
        nothing = QLabel(tr("No workflow open"))
        nothing.setProperty("role", "muted")
        self._welcome = [new, opened, self._separator(), nothing]
        save = self._button("file.save", "own:save")
        undo = self._button("edit.undo", "own:undo")
        redo = self._button("edit.redo", "own:redo")
        run = self._run = self._button("run.run", "own:play", "primary", ("Run", "Continue"))
        pause = self._button("run.pause", "own:pause")
        self._step = self._button("run.step", "own:step-superstep", texts=("Step",))
        into = self._button("run.step_node", "own:step-into")
        stop = self._button("run.stop", "own:stop")
        restart = self._button("run.restart", "own:restart")
        commands = [save, undo, redo, self._separator(), run, pause, self._step, into, stop, restart, self._separator()]
        self._working = [*commands, self.input, self.chip]
        for widget in (*self._welcome, *commands):
            self._layout.addWidget(widget)
        self._layout.addWidget(self.input, 1)
        self._layout.addWidget(self.chip)
        self._layout.addStretch(0)
        export = self._button("file.export", "own:code", "bordered", ("Export",))
        self._working.append(export)
        for widget in (self.profile, export, self._button("app.palette", "search")):
            self._layout.addWidget(widget)

    def _button(self, action: str, icon: str, variant: Variant = "plain", texts: tuple[str, ...] = ()) -> ActionButton:
        shown = tuple(tr(text) for text in texts)
        made = ActionButton(self._theme, self._actions[action], icon, variant, shown)
        made.setObjectName(f"tool.{action}")
        return made

    def _separator(self) -> QWidget:
        holder = QWidget()
        holder.setFixedWidth(13)
        line = QFrame()
        line.setProperty("line", "strong")
        line.setFixedSize(1, 20)
        layout = QHBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(line, 0, Qt.AlignmentFlag.AlignCenter)
        return holder

    def _on_theme_changed(self) -> None:
        self._row.setFixedHeight(self._theme.length(40))
        self._row.setMinimumWidth(self._theme.length(LEAST))
        self.setIconSize(QSize(16, 16))
