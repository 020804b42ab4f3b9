"""What one can do with what is drawn already: line up, spread out, bend, frame, collapse, take out of the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QPointF

from studio.document import commands
from studio.document.aligning import Axis, Side
from studio.document.bends import bends_of
from studio.document.edits import Batch, Edit, SetPlaces
from studio.document.geometry import CARD, free_place, snapped
from studio.document.model import Place
from studio.document.problems import Problem
from studio.document.telling_apart import told_apart
from studio.files import FileProblem, read_workflow
from studio.ui.canvas import navigate, routing
from studio.ui.canvas.editing import Editing
from studio.ui.canvas.picking import pick
from studio.ui.canvas.scene import CanvasScene
from studio.ui.dialogs import sub_workflows
from studio.ui.text import tr


class Shaping(Editing):
    """Commands on the selection, beside adding, deleting and copying."""

    def _chosen(self) -> list[str]:
        """What of the selection is drawn with a place of its own; the focused item if nothing is selected."""
        items = self.canvas_scene.items_by_id
        chosen = [i for i in self.selection_items if i in items]
        focus = self.canvas_scene.focus_id
        return chosen or ([focus] if focus in items and focus is not None else [])

    # ---- selecting

    def select_before(self) -> None:
        """Adds everything that leads to the selection."""
        self._grow(navigate.upstream)

    def select_behind(self) -> None:
        """Adds everything that the selection leads to."""
        self._grow(navigate.downstream)

    def select_connected(self) -> None:
        """Adds everything that edges join with the selection, in either direction."""
        self._grow(navigate.connected)

    def _grow(self, reach: Callable[[CanvasScene, str], list[str]]) -> None:
        chosen = self._chosen()
        self.select(dict.fromkeys([*chosen, *(i for item in chosen for i in reach(self.canvas_scene, item))]))

    # ---- places

    def align(self, side: Side) -> None:
        """Lines the selection up by an edge, or by middles."""
        chosen = self._chosen()
        if len(chosen) < 2:
            self.tell(tr("Select two items to align."))
            return
        self.execute(commands.align(self.workflow, chosen, side), tr("Align {n} items").format(n=len(chosen)))

    def distribute(self, axis: Axis) -> None:
        """Spreads the selection out with equal gaps."""
        chosen = self._chosen()
        if len(chosen) < 3:
            self.tell(tr("Select three items to distribute."))
            return
        self.execute(commands.distribute(self.workflow, chosen, axis), tr("Distribute {n} items").format(n=len(chosen)))

    def toggle_kept(self) -> None:
        """Whether arranging leaves the selection where it is: no longer if all of it is kept already."""
        places = self.workflow.places
        chosen = [i for i in self._chosen() if i in places]
        if chosen:
            on = not all(places[i].kept for i in chosen)
            name = self.name_of(chosen[0]) if len(chosen) == 1 else tr("{n} items").format(n=len(chosen))
            text = tr("Keep the place of {name}") if on else tr("Let {name} be arranged")
            self.execute(commands.keep_places(self.workflow, chosen, on), text.format(name=name))

    # ---- wires

    def delete_and_join(self) -> None:
        """Deletes the selection; the neighbours of deleted nodes are joined."""
        chosen = self.selection_items
        if not chosen:
            return
        if not self.may_edit():
            return
        one = tr("Delete {name}, join its neighbours").format(name=self.name_of(chosen[0]))
        text = one if len(chosen) == 1 else tr("Delete {n} items, join their neighbours").format(n=len(chosen))
        edit = commands.delete_and_join(self.workflow, self.with_hidden(chosen))
        self.select(())
        self.execute(edit, text)

    def take_out(self, node_id: str) -> None:
        """Takes a node out of its wires and joins its neighbours."""
        self._do(commands.take_out(self.workflow, node_id), tr("Take out {name}").format(name=self.name_of(node_id)))

    def duplicate_with_edges(self) -> None:
        """A copy of the selection, connected with what the originals are connected with."""
        if self.selection_items:
            edit = commands.duplicate(self.workflow, self.with_hidden(self.selection_items), keep_outer=True)
            self.execute(edit, tr("Duplicate with edges"))
            self._chose_new(self._placed(commands.pasted_ids(edit)))

    def paste_with_edges(self, at: QPointF | None = None) -> None:
        """Nodes from the clipboard, connected with what the originals are connected with."""
        self.paste(at, keep_outer=True)

    # ---- workflows inside

    def extract_selection(self) -> None:
        """Puts the selected nodes into an embedded sub-workflow."""
        result = commands.extract(self.workflow, self.with_hidden(self._chosen()))
        if isinstance(result, Problem):
            self.refuse(result)
            return
        self.execute(result[0], tr("Extract to a sub-workflow"))
        self._chose_new((result[1],))

    def inline(self, node_id: str) -> None:
        """Puts the nodes of an embedded sub-workflow in its place."""
        had = set(self.canvas_scene.items_by_id)
        text = tr("Put the nodes of {name} here").format(name=self.name_of(node_id))
        if self._do(commands.inline(self.workflow, node_id), text):
            self._chose_new(tuple(i for i in self.canvas_scene.items_by_id if i not in had))

    def embed_copy(self, node_id: str) -> None:
        """Replaces the link of a sub-workflow by a copy of its file."""
        if self.workspace is not None and (why := sub_workflows.embed(self.workspace.document, node_id)):
            self.tell(why)
        self.canvas_scene.flush()

    def add_file(self, file: Path, at: QPointF, *, linked: bool) -> str | None:
        """Adds a workflow file as a sub-workflow, linked or as a copy. Returns its id; None: it says why not."""
        document = self.workspace.document if self.workspace is not None else None
        if document is None:
            return None
        if document.path is not None and file.absolute() == document.path:
            self.tell(tr("A workflow cannot be inside itself."))
            return None
        try:
            inner = told_apart(read_workflow(file))[0]
        except (FileProblem, OSError) as problem:
            reason = f"{problem.message} {problem.way_out}" if isinstance(problem, FileProblem) else problem.strerror
            self.tell(tr("{name} cannot be added: {reason}").format(name=file.name, reason=reason or ""))
            return None
        values: dict[str, object] = {"embedded": inner}
        if linked:
            values = {"path": sub_workflows.written(document.path, file.absolute())}
        return self._add_filled("sub_workflow", inner.name, at, values)

    def add_text(self, text: str, name: str, at: QPointF) -> str | None:
        """Adds a text as a template."""
        return self._add_filled("template", name, at, {"text": text})

    def _add_filled(self, kind: str, name: str, at: QPointF, values: Mapping[str, object]) -> str | None:
        if not self.may_edit():
            return None
        wanted = Place(x=snapped(at.x() - CARD[0] / 2), y=snapped(at.y() - CARD[1] / 2))
        made, node = commands.new_node(self.workflow, kind, name, free_place(self.workflow, CARD, wanted))
        edit: Edit = Batch((made, commands.set_fields(made.apply(self.workflow).workflow, node, values)))
        hit = pick(self.canvas_scene, self.far, at)
        if hit.on_line:
            edit = self._through(hit.id, node, Batch((edit, SetPlaces({node: wanted})))) or edit
        self.execute(edit, tr("Add {name}").format(name=name))
        self._chose_new((node,), show=False)
        return node

    def _through(self, line_id: str, node: str, made: Edit) -> Edit | None:
        """The edit with a line led through the new node, and room for it; None: it says why not."""
        wired = commands.drop_on_edge(made.apply(self.workflow).workflow, line_id, node)
        if isinstance(wired, Problem):
            self.tell(wired.message)
            return None
        edit = Batch((made, wired))
        return Batch((edit, commands.make_room(edit.apply(self.workflow).workflow, node)))

    # ---- bends

    def add_bend(self, line_id: str, at: QPointF) -> None:
        """A bend where a line passes a point of the scene."""
        edge = self.canvas_scene.line_layer.items.get(line_id)
        if edge is None:
            return
        bends = list(bends_of(self.workflow, line_id))
        point = (snapped(at.x()), snapped(at.y())) if self.snap else (at.x(), at.y())
        bends.insert(edge.part_of(at), point)
        self.execute(commands.set_bends(line_id, bends), tr("Add a bend"))

    def add_bend_in_middle(self, line_id: str) -> None:
        """A bend halfway along a line, for the keyboard."""
        edge = self.canvas_scene.line_layer.items.get(line_id)
        if edge is not None:
            self.add_bend(line_id, routing.polyline(edge.points).pointAtPercent(0.5))

    def remove_bend(self, line_id: str, at: QPointF) -> None:
        """Takes the bend nearest to a point away."""
        edge = self.canvas_scene.line_layer.items.get(line_id)
        index = edge.bend_at(at, float("inf")) if edge is not None else None
        if index is not None:
            bends = bends_of(self.workflow, line_id)
            self.execute(commands.set_bends(line_id, (*bends[:index], *bends[index + 1 :])), tr("Remove a bend"))

    def remove_bends(self, line_id: str) -> None:
        """The line finds its own way again."""
        if not bends_of(self.workflow, line_id):
            self.tell(tr("This edge has no bends."))
            return
        self.execute(commands.set_bends(line_id, ()), tr("Remove bends"))

    # ---- kinds of edges and outputs

    def to_switch(self, edge: str) -> None:
        """Makes a switch of the edges of a source."""
        self._made_junction(commands.to_switch(self.workflow, edge), tr("Turn into a switch"))

    def to_fan_out(self, node: str) -> None:
        """Puts a bar in place of the direct edges of a node."""
        self._made_junction(commands.to_fan_out(self.workflow, node), tr("Turn into a fan-out"))

    def _made_junction(self, made: tuple[Edit, str] | Problem, text: str) -> None:
        if isinstance(made, Problem):
            self.tell(made.message)
        else:
            self.execute(made[0], text)
            self._chose_new((made[1],), show=False)

    def toggle_output(self, node: str) -> None:
        """Makes a node an output of the workflow, or no longer."""
        outputs = self.workflow.outputs
        self.set_output(node, not (isinstance(outputs, tuple) and node in outputs))

    # ---- frames

    def _frames(self) -> list[str]:
        frames = {g.id for g in self.workflow.groups}
        return [i for i in self._chosen() if i in frames]

    def toggle_frame(self) -> None:
        """Draws a frame around the selection; takes frames away if only frames are selected."""
        chosen, frames = self._chosen(), self._frames()
        if not self.may_edit():
            return
        if frames and len(frames) == len(chosen):
            members = [m for g in self.workflow.groups if g.id in frames for m in g.members]
            text = tr("Remove {name}").format(name=self.name_of(frames[0]))
            edit = commands.delete_items(self.workflow, frames)
            self.select(())
            self.execute(edit, text if len(frames) == 1 else tr("Remove {n} frames").format(n=len(frames)))
            self.select(m for m in members if m in self.canvas_scene.items_by_id)
        else:
            self.frame_items(chosen)

    def toggle_collapsed(self) -> None:
        """Draws the selected frames, or those around the selection, as one card each, or opens them again."""
        chosen = self._chosen()
        frames = self._frames() or [g.id for g in self.workflow.groups if set(chosen) & set(g.members)][:1]
        if not frames:
            self.tell(tr("Select a frame to collapse it."))
            return
        places = self.workflow.places
        collapse = not all(i in places and places[i].collapsed for i in frames)
        now = self.workflow
        edits = [commands.set_collapsed(now, i, collapse) for i in frames]
        text = tr("Collapse {name}") if collapse else tr("Open {name}")
        self.select(frames)
        self.execute_all(edits, text.format(name=self.name_of(frames[0])))
        self.select(frames)
