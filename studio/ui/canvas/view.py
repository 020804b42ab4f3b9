"""The canvas of one workspace: drawing with mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from studio.bridge.workspace import Workspace
from studio.document.changes import ChangeSet
from studio.document.geometry import GRID, bounds
from studio.document.lines import Line
from studio.document.model import SubWorkflowNode, Workflow
from studio.document.problems import Problem
from studio.settings.preferences import Preferences
from studio.ui.canvas import keys, navigate
from studio.ui.canvas.difference_marks import DifferenceMarks
from studio.ui.canvas.gestures import PlaceGesture, Pointer
from studio.ui.canvas.group_card import GroupCard
from studio.ui.canvas.motion import Motion
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.overlays import Overlays
from studio.ui.canvas.pointing import Pointing
from studio.ui.canvas.prompts import Prompts
from studio.ui.canvas.run_marks import queued_on
from studio.ui.canvas.told import Told
from studio.ui.canvas.words import canvas_words, item_words
from studio.ui.text import tr
from studio.ui.theme import Theme

LEAST_READABLE, READABLE_ZOOM = 0.45, 0.6
"""A run does not fit its drawing below the first; what runs is then shown at the second."""
_SHIFT = Qt.KeyboardModifier.ShiftModifier


class CanvasView(Pointing):
    """Shows and edits one workspace. What the window has as actions are public methods here."""

    templates_requested = Signal()
    """The empty canvas was asked for templates."""
    minimap_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._leaving = False
        """Esc was pressed: the next Tab leaves the canvas."""
        self._aligning = False
        """L was pressed: the next arrow aligns or distributes."""
        self._fresh = True
        self._follow: Callable[[], None] | None = None
        """Fits again when the view gets another size; None once the view was moved or the drawing was edited."""
        self._renewed = False
        """The whole drawing was replaced: it is fitted as soon as its items are there."""
        self.reason = Told(theme, self)
        self._told = Told(theme, self)
        self.message_shown.connect(self._told.tell)
        self.offered.connect(self._on_offered)
        self.overlays = Overlays(self)
        self.overlays.zoom.minimap_toggled.connect(self.minimap_toggled)
        self.prompts = Prompts(self)
        self.difference = DifferenceMarks(self.canvas_scene)
        self.difference.marked.connect(self.touch_far)
        self._motion = Motion(self.canvas_scene)
        self.canvas_scene.about_to_clear.connect(self._on_scene_about_to_clear)
        self.canvas_scene.messages_arrived.connect(self._on_scene_messages_arrived)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas_scene.refreshed.connect(self._on_scene_refreshed_names)
        self._describe()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workspace, or nothing."""
        self.cancel_gesture()
        self.arranging.cancel()
        self.value_card.dismiss()
        self.prompts.close()
        if self.workspace is not None:
            self.workspace.selection.reveal_requested.disconnect(self.reveal)
            self.workspace.document.changed.disconnect(self._on_document_changed)
            self.workspace.compared.changed.disconnect(self._on_compared_changed)
        if workspace is not None:
            self._aim(workspace.document.workflow)
        self.canvas_scene.set_workspace(workspace)
        self.overlays.zoom.arrange.setEnabled(not self.read_only)
        self._on_compared_changed()
        if workspace is not None:
            workspace.selection.reveal_requested.connect(self.reveal)
            workspace.document.changed.connect(self._on_document_changed)
            workspace.compared.changed.connect(self._on_compared_changed)
            self._fresh = not self.isVisible()
            self._follow = self.show_all
            if not self._fresh:
                self.show_all()

    def prefer(self, preferences: Preferences) -> None:
        """Takes over what a person prefers."""
        self.motion = not preferences.reduce_motion
        self.wheel_zooms = preferences.wheel == "zoom"

    def _aim(self, workflow: Workflow) -> None:
        """Takes the zoom that will show everything before the items are made, so that they are made for its level."""
        box = bounds(workflow, workflow.places)
        if box is not None:
            motion, self.motion = self.motion, False
            self.fit_rect(QRectF(box[0], box[1], box[2] - box[0], box[3] - box[1]))
            self.motion = motion

    def show_all(self) -> None:
        """Fits everything at once, and again while the view gets other sizes, until it is moved or edited."""
        motion, self.motion = self.motion, False
        self.fit_all()
        self.motion = motion
        self._follow = self.show_all

    def show_readable(self) -> None:
        """Shows everything if it can be read then; else what runs, or is selected, or starts, at 60 % or more."""
        motion, self.motion = self.motion, False
        everything = self.canvas_scene.bounds()
        if self.fitting(everything)[0] >= LEAST_READABLE:
            self.fit_all()
        else:
            about = self._subject()
            zoom = max(self.zoom, READABLE_ZOOM)
            seen = self.seen_rect().adjusted(16, 16, -16, -16)
            if self.zoom < READABLE_ZOOM or not seen.contains(about):
                zoom = min(zoom, 1.0)
                self.go(zoom, self._within(everything, about.center(), zoom))
        self.motion = motion
        self._follow = self.show_readable

    def _within(self, everything: QRectF, center: QPointF, zoom: float) -> QPointF:
        """The middle nearest to a point with which the view shows no more emptiness than it must."""
        area = self.viewport().rect()
        across = max(0.0, everything.width() / 2 + 32 - area.width() / 2 / zoom)
        down = max(0.0, everything.height() / 2 + 32 - area.height() / 2 / zoom)
        middle = everything.center()
        x = min(max(center.x(), middle.x() - across), middle.x() + across)
        y = min(max(center.y(), middle.y() - down), middle.y() + down)
        return QPointF(x, y)

    def _subject(self) -> QRectF:
        """The rectangle around what runs; else around what is selected; else the start node."""
        scene, selected = self.canvas_scene, self.selection_items
        nodes = [(i, item) for i, item in scene.items_by_id.items() if isinstance(item, NodeItem)]
        running = [i for i, item in nodes if item.card.status == "running"]
        start = [self.workflow.start] if self.workflow.start in scene.items_by_id else []
        return scene.bounds(running or selected or start or None)

    def go(self, zoom: float, center: QPointF) -> None:
        self._follow = None
        super().go(zoom, center)

    def set_zoom(self, zoom: float, anchor: QPointF | None = None) -> None:
        self._follow = None
        super().set_zoom(zoom, anchor)

    def covered(self) -> QRectF:
        return self.overlays.covered() if hasattr(self, "overlays") else QRectF()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel):
            self._follow = None
        return super().viewportEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._fresh:
            self._fresh = False
            self.show_all()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "overlays"):
            self.overlays.place()
        if hasattr(self, "_follow") and self._follow is not None and self.isVisible():
            self._follow()

    # ---- revealing and opening

    def reveal(self, item_id: str) -> None:
        """Scrolls an item, line or case into view."""
        self.canvas_scene.flush()
        item_id = self.canvas_scene.contents.hidden.get(item_id, item_id)
        rect = self.canvas_scene.bounds((item_id,))
        if not rect.isNull():
            self.show_rect(rect)
            if self.motion:
                self._motion.flash(rect)

    def finish_motion(self) -> None:
        super().finish_motion()
        self._motion.stop()

    def _on_document_changed(self, changes: ChangeSet) -> None:
        if changes.everything:
            self._renewed = True
        else:
            self._follow = None
        # A step of undo, or of another panel, while something is dragged: what the gesture knows is no longer so.
        self.value_card.dismiss()
        self._told.withdraw()
        self.cancel_gesture()

    def _on_offered(self, problem: Problem) -> None:
        if problem.fix is not None:
            self._told.offer(problem.message, problem.fix.text, partial(self.mend, problem, self.workflow))

    def paint_over_far(self, painter: QPainter) -> None:
        self.difference.paint_far(painter)
        super().paint_over_far(painter)

    def _on_compared_changed(self) -> None:
        self.difference.show_difference(self.workspace.compared.found if self.workspace is not None else None)
        self.viewport().update()

    def _on_scene_about_to_clear(self) -> None:
        self.cancel_gesture()
        self._motion.stop()

    def _on_scene_messages_arrived(self, lines: list[str]) -> None:
        if self.motion and self.isVisible():
            items = self.canvas_scene.line_layer.items
            self._motion.fly(items[i] for i in lines if i in items)

    def look_at(self, point: QPointF) -> None:
        """Moves a point of the scene into the middle, at once."""
        self.finish_motion()
        self._look_at(self.zoom, point)

    def open_item(self, item_id: str) -> None:
        """Puts the focus into the first inspector field of an item; asks to open a sub-workflow."""
        if self.workspace is None:
            return
        self.select((item_id,))
        node = self.workflow.node(item_id)
        if isinstance(node, SubWorkflowNode) and (node.path or node.embedded):
            self.open_requested.emit(item_id)
            return
        if isinstance(self.canvas_scene.items_by_id.get(item_id), GroupCard) and not self.read_only:
            self.toggle_collapsed()
            return
        if item_id in self.canvas_scene.line_layer.items:
            field = "condition"
        else:
            field = "text" if any(n.id == item_id for n in self.workflow.notes) else "name"
        self.workspace.selection.field_requested.emit(item_id, field)

    def look_at_queued(self, line_id: str) -> None:
        """Shows the first message that waits on a line; the next one when it is shown already."""
        if self.workspace is None:
            return
        layer, selection = self.canvas_scene.line_layer, self.workspace.selection
        waiting = [
            q.message
            for q in self.workspace.run.queued
            if any(line.id == line_id for line in queued_on(layer.lines, q))
        ]
        if waiting:
            at = waiting.index(selection.message) + 1 if selection.message in waiting else 0
            selection.look_at_message(waiting[at % len(waiting)])

    # ---- searching

    def open_search(
        self,
        at: QPointF | None = None,
        *,
        connect_to: str = "",
        backwards: bool = False,
        on_line: Line | None = None,
    ) -> None:
        """Opens the search for a new node at a point of the scene (None: at the pointer)."""
        if not self.may_edit():
            return
        point = at if at is not None else self.pointer_scene()
        if on_line is not None:
            self.prompts.add_on_line(point, on_line)
        elif connect_to:
            self.prompts.add_connected(point, connect_to, backwards=backwards)
        else:
            self.prompts.add(point)

    def open_search_in_middle(self) -> None:
        self.open_search(self.seen_rect().center())

    def open_insert(self, item_id: str) -> None:
        """Opens the search for a node after this one; on a line: for a node on it."""
        if not self.may_edit():
            return
        edge = self.canvas_scene.line_layer.items.get(item_id)
        if edge is not None:
            self.open_search(edge.sceneBoundingRect().center(), on_line=edge.line)
        elif item_id in self.canvas_scene.items_by_id and self._connects(item_id):
            self.prompts.insert_after(item_id)

    def open_connect(self, item_id: str) -> None:
        """Opens the list of what an item can be connected to."""
        if self.may_edit() and item_id in self.canvas_scene.items_by_id and self._connects(item_id):
            self.prompts.connect_to(item_id)

    def _connects(self, item_id: str) -> bool:
        return self.workflow.node(item_id) is not None or self.workflow.edge(item_id) is not None

    # ---- palette (see the protocol of the palette panel)

    def preview_node(self, kind: str, where: QPoint) -> bool:
        """Something from the palette is over the canvas, at a point of the screen; False: not over it, no preview."""
        at = self._pointer_at(where)
        if self.workspace is None or self.read_only or not self.viewport().rect().contains(at.view.toPoint()):
            self.leave_node()
            return False
        if isinstance(self.gesture, PlaceGesture) and self.gesture.kind == kind:
            self.gesture.move(at)
        else:
            self.begin(PlaceGesture(self, kind), at)
        return True

    def drop_node(self, kind: str, where: QPoint) -> bool:
        """It was let go there; returns whether a node was made."""
        if not self.preview_node(kind, where):
            return False
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.end(self._pointer_at(where))
        return True

    def leave_node(self) -> None:
        """It went elsewhere, or the drag was cancelled."""
        if isinstance(self.gesture, PlaceGesture):
            self.cancel_gesture()

    def _pointer_at(self, where: QPoint) -> Pointer:
        view = QPointF(self.viewport().mapFromGlobal(where))
        return Pointer(self.to_scene(view), view)

    # ---- minimap

    @property
    def minimap_shown(self) -> bool:
        return self.overlays.minimap_shown

    def toggle_minimap(self) -> bool:
        """Shows or hides the minimap; returns what it is now."""
        self.overlays.show_minimap(not self.overlays.minimap_shown)
        return self.overlays.minimap_shown

    # ---- keyboard

    @property
    def focus_or_selection(self) -> str | None:
        """What keys are about: the focused item, else the only selected one."""
        if self.canvas_scene.focus_id is not None:
            return self.canvas_scene.focus_id
        return self.selection_items[0] if len(self.selection_items) == 1 else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        self._leaving = self._leaving and key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        if self._aligning and key not in keys.MODIFIERS:
            self._aligning = False
            if self._align_key(key, shift=bool(event.modifiers() & _SHIFT)):
                event.accept()
                return
        if key == Qt.Key.Key_Escape:
            self._escape()
        elif key == Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self.space_held, self.space_used = True, False
        elif key in keys.ARROWS and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._arrow(key, shift=bool(event.modifiers() & _SHIFT))
        elif self.key_shift is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.end_key_move()
        else:
            function = keys.function_of(self, event)
            if function is None:
                event.ignore()
                return
            function(self)
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat():
            super().keyReleaseEvent(event)
            return
        used, self.space_held = self.space_used, False
        focus = self.canvas_scene.focus_id
        if not used and focus is not None and self.workspace is not None:
            if event.modifiers() & _SHIFT:
                self.workspace.selection.toggle(focus)
                self.canvas_scene.set_focus_id(focus)
            else:
                self.select((focus,))
        event.accept()

    def _escape(self) -> None:
        if self.cancel_gesture():
            return
        self.prompts.close()
        self.select_none()
        self._leaving = True

    def _arrow(self, key: int, *, shift: bool) -> None:
        direction, x, y = keys.ARROWS[key]
        if self.key_shift is not None and self.gesture is not None:
            step = 1.0 if shift else GRID
            self.key_shift += QPointF(x * step, y * step)
            self.gesture.move(Pointer(self.key_shift, QPointF(), alt=True))
            return
        here = self.focus_or_selection
        there = navigate.towards(self.canvas_scene, here, direction) if here else navigate.first(self.canvas_scene)
        self.set_focus(there)

    def set_focus(self, item_id: str | None) -> None:
        """Moves the keyboard focus inside the canvas to an item, scrolls to it and announces it."""
        if item_id is None:
            return
        self.canvas_scene.set_focus_id(item_id)
        self.show_rect(self.canvas_scene.bounds((item_id,)))
        self._describe_focus()

    def _describe_focus(self) -> None:
        """What a screen reader says of the focused item: as it is now, not as it was when the focus came."""
        focus = self.canvas_scene.focus_id
        if focus is not None and self.workspace is not None and not self.canvas_scene.later.busy:
            words = item_words(self.canvas_scene, self.workspace, focus)
            if words != self.accessibleDescription():
                self.setAccessibleDescription(words)

    def start_align(self) -> None:
        """The next arrow aligns the selection, with Shift it distributes it; Enter puts middles in line."""
        if not self.may_edit():
            return
        self._aligning = True
        self.message_shown.emit(tr("Arrow: align. Shift+arrow: distribute. Enter: put the middles in line."))

    def _align_key(self, key: int, *, shift: bool) -> bool:
        """What a key after L does; returns whether it was one of those."""
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            box = self.canvas_scene.bounds(self._chosen())
            self.align("along" if box.width() >= box.height() else "across")
        elif key in keys.ARROWS:
            direction = keys.ARROWS[key][0]
            if shift:
                self.distribute(keys.AXES[direction])
            else:
                self.align(keys.SIDES[direction])
        else:
            return key == Qt.Key.Key_Escape
        return True

    def focusNextPrevChild(self, following: bool) -> bool:
        if self._leaving or not self.canvas_scene.items_by_id or self.workspace is None:
            self._leaving = False
            return super().focusNextPrevChild(following)
        here = self.focus_or_selection
        there = (
            navigate.along(self.canvas_scene, here, 1 if following else -1)
            if here
            else navigate.first(self.canvas_scene)
        )
        if there is None:
            return super().focusNextPrevChild(following)
        self.set_focus(there)
        return True

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.space_held = False
        if event.reason() == Qt.FocusReason.ActiveWindowFocusReason:
            self.cancel_gesture()
        super().focusOutEvent(event)

    def _on_scene_refreshed_names(self, moved: bool) -> None:
        if moved:
            self._describe()
        self._describe_focus()
        if self._renewed:
            self._renewed = False
            self.show_all()

    def _describe(self) -> None:
        name = canvas_words(self.workflow)
        if name != self.accessibleName():
            self.setAccessibleName(name)
