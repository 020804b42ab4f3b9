"""What one can do on the canvas, as methods: keys, menus, the tool bar and tests call the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QWidget

from studio.bridge.document_model import READ_ONLY
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.edits import Batch, Edit, SetPlaces
from studio.document.geometry import GRID, Box, at_port, behind, free_place, moved, size_of, snapped, turned
from studio.document.layout import Flow
from studio.document.lines import Line, name_of
from studio.document.model import Place, Workflow
from studio.document.problems import Problem
from studio.document.ready_groups import PATTERNS, add_ready_group
from studio.document.room import GAP, with_room
from studio.ui.canvas.arranging import Arranging
from studio.ui.canvas.camera import Camera
from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.pasting import pasted
from studio.ui.canvas.ready import ready_group, room_for
from studio.ui.paint import kind_name
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted


class Editing(Camera):
    """Edits of the selection. Everything that changes the document goes through :meth:`execute`."""

    message_shown = Signal(str)
    """Why something was not done; a whole sentence."""
    offered = Signal(Problem)
    """Something was not done, and its quick fix would be what was meant."""
    open_requested = Signal(str)
    """A sub-workflow node should be opened: its id."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.snap = True
        """Whether dragging keeps to the grid."""

        self.arranging = Arranging(self)
        self._pasted: tuple[Place, int] | None = None
        """Where something was pasted last at the pointer, and how often there."""

    # ---- document and selection

    @property
    def workspace(self) -> Workspace | None:
        return self.canvas_scene.workspace

    @property
    def workflow(self) -> Workflow:
        return self.canvas_scene.workflow

    @property
    def selection_items(self) -> tuple[str, ...]:
        """Ids of what is selected; lines have ids of their own."""
        return self.workspace.selection.items if self.workspace else ()

    def select(self, ids: Iterable[str]) -> None:
        """Selects exactly these."""
        if self.workspace is not None:
            self.workspace.selection.select(ids)

    def name_of(self, item_id: str) -> str:
        """What people call an item."""
        line = self.canvas_scene.line_layer.items.get(item_id)
        if line is not None:
            return f"{name_of(self.workflow, line.line.source)} → {name_of(self.workflow, line.line.target)}"
        return tr("note") if any(n.id == item_id for n in self.workflow.notes) else name_of(self.workflow, item_id)

    @property
    def read_only(self) -> bool:
        """Whether the drawing is there to be looked at only."""
        return self.workspace is not None and self.workspace.document.read_only

    def may_edit(self) -> bool:
        """Whether there is a drawing that can be changed; tells why not."""
        if self.read_only:
            self.tell(READ_ONLY)
        return self.workspace is not None and not self.read_only

    def execute(self, edit: Edit, text: str) -> None:
        """Changes the document and shows it at once. Places that are so already are no step to undo."""
        if self.workspace is None or not self.may_edit():
            return
        if isinstance(edit, SetPlaces) and all(self.workflow.places.get(i) == p for i, p in edit.places.items()):
            self.tell(tr("Everything is in its place already."))
            return
        self.workspace.document.execute(edit, text)
        self.canvas_scene.flush()

    def execute_all(self, edits: Sequence[Edit], text: str) -> None:
        """Several edits as one step."""
        self.execute(edits[0] if len(edits) == 1 else Batch(tuple(edits)), text)

    def tell(self, text: str) -> None:
        """Says why something was not done."""
        self.message_shown.emit(text)

    def refuse(self, problem: Problem) -> None:
        """Says why something was not done, and offers what can be done instead."""
        self.tell(problem.message)
        if problem.fix is not None:
            self.offered.emit(problem)

    def mend(self, problem: Problem, workflow: Workflow) -> None:
        """Does what was offered for this drawing, if it is still the same, and shows what is to be filled in."""
        if problem.fix is None or workflow is not self.workflow:
            return
        had = set(self.canvas_scene.items_by_id)
        self.execute(problem.fix.edit, problem.fix.text)
        if problem.field and self.workspace is not None:
            self.select((problem.place,))
            self.workspace.selection.field_requested.emit(problem.place, problem.field)
        elif new := tuple(i for i in self.canvas_scene.items_by_id if i not in had):
            self._chose_new(new, show=False)

    def _do(self, edit: Edit | Problem, text: str) -> bool:
        if isinstance(edit, Problem):
            self.refuse(edit)
            return False
        self.execute(edit, text)
        return True

    # ---- adding

    def add_node(self, kind: str, at: QPointF | None = None, *, on_line: Line | None = None) -> str | None:
        """Adds something of a kind with its top left corner at a point of the scene (None: in the middle of the view,
        where it covers nothing), on a line if one is given, and selects it. Returns its id."""
        if not self.may_edit():
            return None
        if kind in PATTERNS:
            return self.add_pattern(kind, at)
        workflow = self.workflow
        place = Place(x=at.x(), y=at.y()) if at is not None else self._middle_place(kind)
        text = tr("Add {name}").format(name=kind_name(kind).lower() if kind != "agent" else tr("agent"))
        edit, new_id = commands.new_node(workflow, kind, place=place)
        if on_line is not None:
            put = commands.insert_on_edge(workflow, on_line.id, kind, place=place)
            if isinstance(put, Problem):
                self.tell(put.message)
            else:
                room = commands.make_room(put[0].apply(workflow).workflow, put[1])
                edit, new_id = Batch((put[0], room)), put[1]
        self.execute(edit, text)
        self._chose_new((new_id,), show=at is None)
        return new_id

    def add_pattern(self, kind: str, at: QPointF | None = None) -> str | None:
        """Adds a ready group of nodes and edges in its frame, and selects it. Returns the id of the frame."""
        if not self.may_edit():
            return None
        place = Place(x=at.x(), y=at.y()) if at is not None else self._middle_place(kind)
        edit, group = add_ready_group(self.workflow, ready_group(kind, self.workflow.flow), kind, place)
        self.execute(edit, tr("Add {name}").format(name=kind_name(kind).lower()))
        self._chose_new((group,), show=at is None)
        return group

    def _middle_place(self, kind: str) -> Place:
        size = room_for(kind, self.workflow.flow)
        middle = self.seen_rect().center()
        wanted = Place(x=snapped(middle.x() - size[0] / 2), y=snapped(middle.y() - size[1] / 2))
        return free_place(self.workflow, size, wanted, frames=kind in PATTERNS)

    def _chose_new(self, ids: tuple[str, ...], *, show: bool = True) -> None:
        """Selects what is new; ``show``: and scrolls to it. What was put down on purpose stays under the pointer."""
        if self.read_only:
            return
        self.select(ids)
        self.canvas_scene.set_focus_id(ids[0] if len(ids) == 1 and self.hasFocus() else None)
        if show:
            self.show_rect(self.canvas_scene.bounds(ids))

    def add_connected(
        self, kind: str, anchor: str, at: QPointF | None = None, *, backwards: bool = False
    ) -> str | None:
        """Adds something after (or before) an item and connects both, in one step."""
        if not self.may_edit():
            return None
        workflow = self.workflow
        if at is None:
            place = self._place_beside(kind, anchor, backwards=backwards)
        else:
            size = room_for(kind, workflow.flow)
            place = at_port((at.x(), at.y()), size, down=workflow.flow == "down", out=backwards)
        edit, new_id = commands.new_node(workflow, kind, place=place)
        grown = edit.apply(workflow).workflow
        joined = commands.connect(grown, new_id, anchor) if backwards else commands.connect(grown, anchor, new_id)
        if isinstance(joined, Problem):
            self.tell(joined.message)
            return None
        text = tr("Add {name} after {anchor}") if not backwards else tr("Add {name} before {anchor}")
        self.execute(Batch((edit, joined)), text.format(name=kind_name(kind).lower(), anchor=name_of(workflow, anchor)))
        self._chose_new((new_id,), show=at is None)
        return new_id

    def _place_beside(self, kind: str, anchor: str, *, backwards: bool) -> Place:
        size, down = room_for(kind, self.workflow.flow), self.workflow.flow == "down"
        return free_place(self.workflow, size, behind(self._box(anchor), size, down=down, before=backwards))

    def _box(self, item_id: str) -> Box:
        """Where something is drawn, without the footer of a card: ports are in the middle of the rest."""
        at, (width, height) = self.canvas_scene.items_by_id[item_id].pos(), size_of(self.workflow, item_id)
        return at.x(), at.y(), at.x() + width, at.y() + height

    def insert_after(self, kind: str, item_id: str) -> str | None:
        """Adds something after an item: on its only line, if it has just one, else beside it."""
        lines = [line for line in self.canvas_scene.line_layer.lines.after(item_id) if line.kind != "into_switch"]
        if len(lines) == 1 and lines[0].source == item_id:
            return self.add_node(kind, self._between(lines[0], kind), on_line=lines[0])
        return self.add_connected(kind, item_id)

    def _between(self, line: Line, kind: str) -> QPointF:
        """Behind the source of a line, halfway to its target, in line with the port of the source."""
        size, down = room_for(kind, self.workflow.flow), self.workflow.flow == "down"
        box, second = self._box(line.source), self.canvas_scene.items_by_id[line.target].rect
        room = second.top() - box[3] if down else second.left() - box[2]
        gap = (room - turned(size, down=down)[0]) / 2
        if room >= 0 > gap:  # what follows moves aside, and the line stays straight
            place = behind(box, size, down=down, gap=GAP)
        else:
            place = free_place(self.workflow, size, behind(box, size, down=down, gap=gap))
        return QPointF(place.x, place.y)

    # ---- changing

    def connect_items(self, source: str, target: str, *, mend: bool = False) -> bool:
        """Draws an edge; tells why if that is not possible. ``mend``: does what would be offered instead."""
        text = tr("Connect {source} with {target}")
        names = {"source": name_of(self.workflow, source), "target": name_of(self.workflow, target)}
        edit = commands.connect(self.workflow, source, target)
        if mend and isinstance(edit, Problem) and edit.fix is not None:
            self.mend(edit, self.workflow)
            return True
        made = edit if isinstance(edit, Problem) else with_room(self.workflow, edit)
        return self._do(made, text.format(**names))

    def delete_selection(self) -> None:
        """Deletes what is selected, edges of deleted nodes included."""
        self.delete_ids(self.selection_items)

    def delete_ids(self, ids: Iterable[str], text: str = "") -> None:
        """Deletes items and lines in one step."""
        ids = tuple(ids)
        if not ids:
            return
        if not self.may_edit():  # what is selected stays selected
            return
        one = tr("Delete {name}").format(name=self.name_of(ids[0]))
        text = text or (one if len(ids) == 1 else tr("Delete {n} items").format(n=len(ids)))
        edit = commands.delete_items(self.workflow, self.with_hidden(ids))
        self.select(())
        self.execute(edit, text)

    def with_hidden(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The items, and what collapsed groups among them hide: a card stands for all of it."""
        hidden = self.canvas_scene.contents.hidden
        chosen = tuple(ids)
        return (*chosen, *(i for i, group in hidden.items() if group in chosen))

    def disconnect_port(self, item_id: str, *, incoming: bool) -> None:
        """Removes all edges of one port."""
        layer = self.canvas_scene.line_layer
        ends = ((i, layer.items[i].line) for i in layer.at(item_id))
        self.delete_ids([i for i, line in ends if (line.target if incoming else line.source) == item_id])

    def duplicate_selection(self) -> None:
        """A copy of the selection beside it, selected."""
        if self.selection_items:
            edit = commands.duplicate(self.workflow, self.with_hidden(self.selection_items))
            self.execute(edit, tr("Duplicate"))
            self._chose_new(self._placed(commands.pasted_ids(edit)))

    def copy_selection(self) -> bool:
        """To the clipboard, as JSON text. Whether there is something that can stand without the rest."""
        chosen = self.with_hidden(self.selection_items)
        if chosen and all(i in self.canvas_scene.line_layer.items for i in chosen):
            self.tell(tr("Edges are copied together with the nodes at their ends: select these too."))
            return False
        if chosen:
            QGuiApplication.clipboard().setText(commands.copy_items(self.workflow, chosen))
        return bool(chosen)

    def cut_selection(self) -> None:
        """Copies, then deletes what was copied."""
        if self.copy_selection():
            ids = self.selection_items
            one = tr("Cut {name}").format(name=self.name_of(ids[0]))
            self.delete_ids(ids, one if len(ids) == 1 else tr("Cut {n} items").format(n=len(ids)))

    def paste(self, at: QPointF | None = None, *, keep_outer: bool = False) -> None:
        """Nodes from the clipboard, at a point of the scene (None: at the pointer if it is over the canvas, else
        beside where they were). ``keep_outer``: connected with what the originals are connected with."""
        if self.workspace is None:
            return
        place = self._paste_place(at)
        text = QGuiApplication.clipboard().text()
        edit = pasted(self.workflow, text, place, keep_outer=keep_outer)
        step = tr("Paste with edges") if keep_outer else tr("Paste")
        if self._do(edit, step) and not isinstance(edit, Problem):
            self._chose_new(self._placed(commands.pasted_ids(edit)), show=place is None)

    def _paste_place(self, at: QPointF | None) -> Place | None:
        """Pasted again with the pointer at rest, things do not cover each other."""
        if at is None and not self.viewport().underMouse():
            return None
        at = at if at is not None else self.pointer_scene()
        place = Place(x=snapped(at.x()), y=snapped(at.y()))
        before = self._pasted
        times = before[1] + 1 if before is not None and before[0] == place else 0
        self._pasted = (place, times)
        return moved(place, 3 * GRID * times, 3 * GRID * times)

    def pointer_scene(self) -> QPointF:
        """Where the pointer is in the scene; the middle of the view if it is elsewhere."""
        at = self.viewport().mapFromGlobal(QCursor.pos())
        inside = self.viewport().rect().contains(at)
        return self.to_scene(QPointF(at)) if inside else self.seen_rect().center()

    def _placed(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(i for i in ids if i in self.canvas_scene.items_by_id)

    def select_all(self) -> None:
        """Everything, lines included."""
        self.select((*self.canvas_scene.items_by_id, *self.canvas_scene.line_layer.items))

    def select_none(self) -> None:
        self.select(())

    def rename(self) -> None:
        """Puts the focus into the name field of the inspector."""
        if len(self.selection_items) == 1 and self.workspace is not None:
            item_id = self.selection_items[0]
            note = any(n.id == item_id for n in self.workflow.notes)
            line = item_id in self.canvas_scene.line_layer.items
            field = "text" if note else "label" if line else "name"
            self.workspace.selection.field_requested.emit(item_id, field)

    def toggle_breakpoint(self, item_id: str | None = None) -> None:
        """On the given node, else on every selected one."""
        if self.workspace is None:
            return
        for node in (item_id,) if item_id else self.selection_items:
            if self.workflow.node(node) is not None:
                self.workspace.run.toggle_breakpoint(node)
        self.canvas_scene.flush()

    def set_start(self, node: str) -> None:
        """Makes a node the start; it stays what it is if it is the start already."""
        if self.workflow.start == node:
            self.tell(tr("This is the start node already."))
            return
        self.execute(commands.set_start(self.workflow, node), tr("Set {name} as start").format(name=self.name_of(node)))

    def set_output(self, node: str, on: bool) -> None:
        """Makes a node an output of the workflow, or no longer."""
        text = tr("Make {name} an output") if on else tr("No output of {name}")
        self.execute(commands.set_output(self.workflow, node, on), text.format(name=self.name_of(node)))

    def arrange(self, flow: Flow | None = None) -> None:
        """Places the selection, or everything, in layers from left to right or from top to bottom (None: as the lines
        run); of a large drawing a little later, if nothing was edited meanwhile."""
        drawn = [i for i in self.selection_items if i in self.canvas_scene.items_by_id]
        if self.canvas_scene.items_by_id and self.may_edit():
            chosen = drawn if len(drawn) > 1 else None
            self.arranging.find(self.workflow, chosen, partial(self._take_arranged, fit=chosen is None), flow)

    def _take_arranged(self, workflow: Workflow, edit: Edit, *, fit: bool) -> None:
        if workflow is not self.workflow:
            self.tell(tr("The drawing was changed before it could be arranged."))
            return
        self.execute(edit, tr("Arrange"))
        if fit:
            self.fit_all()

    def frame_items(self, ids: Iterable[str]) -> None:
        """Draws a frame around items."""
        members = [i for i in ids if i in self.canvas_scene.items_by_id]
        if members:
            edit, group = commands.new_frame(self.workflow, members)
            self.execute(edit, counted(len(members), tr("Frame around 1 item"), tr("Frame around {count} items")))
            self._chose_new((group,), show=False)

    def toggle_snap(self) -> bool:
        """Snapping to the grid on or off; returns what it is now."""
        self.snap = not self.snap
        return self.snap

    # ---- finding

    def line_at(self, at: QPointF, reach: float) -> EdgeItem | None:
        """The edge that passes a point of the scene within ``reach``."""
        if self.level == Level.FAR:
            return None
        area = QRectF(at.x() - reach, at.y() - reach, 2 * reach, 2 * reach)
        near = [i for i in self.canvas_scene.items(area) if isinstance(i, EdgeItem) and i.near(at, reach)]
        return near[0] if near else None

    def touch_far(self) -> None:
        """Repaints the far picture, which no item does."""
        if self.level == Level.FAR:
            self.viewport().update()
