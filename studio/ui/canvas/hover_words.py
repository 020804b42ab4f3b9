"""What the card beside the pointer says: last value, type, time and condition of what is under it."""

from __future__ import annotations

from dataclasses import dataclass

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import MessageView
from studio.bridge.workspace import Workspace
from studio.document import types
from studio.document.conditions import describe
from studio.document.lines import Line, name_of
from studio.document.model import Workflow
from studio.ui.canvas.picking import Hit
from studio.ui.canvas.run_marks import Lines, queued_on, reason_text
from studio.ui.canvas.scene import CanvasScene
from studio.ui.paint import kind_name
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import tr

TEXT = 400
"""At most so many characters of a value are shown."""
MOST_QUEUED = 3


@dataclass(frozen=True, slots=True)
class HoverWords:
    """A title and rows of a label and a text; a row without a label is a value in a fixed-width font."""

    title: str
    detail: str
    rows: tuple[tuple[str, str], ...]


def hover_words(scene: CanvasScene, workspace: Workspace, hit: Hit) -> HoverWords | None:
    """What to say about something under the pointer; None for what says everything itself."""
    if hit.on_line:
        edge = scene.line_layer.items.get(hit.id)
        if edge is None:
            return None
        return _of_line(workspace, scene.line_layer.lines, edge.line, pill=hit.kind == "pill")
    if hit.kind in ("port_in", "port_out"):
        return _of_port(workspace, hit.id, out=hit.kind == "port_out")
    if hit.kind in ("card", "octagon", "resize"):
        return _of_item(scene, workspace, hit.id)
    return None


def _of_item(scene: CanvasScene, workspace: Workspace, item_id: str) -> HoverWords | None:
    workflow, run = workspace.document.workflow, workspace.run
    inside = scene.contents.inside(item_id)
    node, edge = workflow.node(item_id), workflow.edge(item_id)
    kind = node.kind if node is not None else edge.kind if edge is not None else "frame"
    rows: list[tuple[str, str]] = []
    view = run.nodes.get(item_id)
    if view is not None and view.invocations:
        times = tr("once") if view.invocations == 1 else tr("{n} times").format(n=view.invocations)
        rows.append((tr("Ran"), f"{times}, {seconds_text(view.seconds)}"))
    if inside:
        names = [name_of(workflow, i) for i in inside if workflow.node(i) is not None]
        rows.append((tr("Inside"), ", ".join(names[:8]) + (" …" if len(names) > 8 else "")))
    sent = _last(run, source=item_id)
    if sent is not None:
        rows += _value(run, tr("Sent"), sent)
    if view is not None and view.error:
        rows.append((tr("Failed"), _short(view.error)))
    for place in (item_id, *inside):
        rows += [(_severity(p.severity), p.message) for p in workspace.problems.at(place)[:3]]
    return HoverWords(name_of(workflow, item_id), f"{kind_name(kind)} · {item_id}", tuple(rows[:12]))


def _of_port(workspace: Workspace, node_id: str, *, out: bool) -> HoverWords | None:
    workflow, run = workspace.document.workflow, workspace.run
    node = workflow.node(node_id)
    if node is None:
        return _junction_port(workflow, node_id)
    named = types.sends(node) if out else types.accepts(node)
    rows = [(tr("Sends") if out else tr("Takes"), types.in_words(named) if named else tr("not declared"))]
    last = _last(run, source=node_id) if out else _last(run, target=node_id)
    if last is not None:
        rows += _value(run, tr("Last"), last)
    return HoverWords(name_of(workflow, node_id), tr("Output") if out else tr("Input"), tuple(rows))


def _junction_port(workflow: Workflow, item_id: str) -> HoverWords:
    return HoverWords(name_of(workflow, item_id), tr("Drag to add a line"), ())


def _of_line(workspace: Workspace, lines: Lines, line: Line, *, pill: bool) -> HoverWords:
    workflow, run = workspace.document.workflow, workspace.run
    title = f"{name_of(workflow, line.source)} → {name_of(workflow, line.target)}"
    if pill:
        waiting = [q for q in run.queued if any(found.id == line.id for found in queued_on(lines, q))]
        rows: list[tuple[str, str]] = []
        for queued in waiting[:MOST_QUEUED]:
            rows += [(tr("Waits"), queued.type_name), ("", _short(queued.text))]
        if len(waiting) > MOST_QUEUED:
            rows.append((tr("More"), str(len(waiting) - MOST_QUEUED)))
        count = len(waiting)
        detail = tr("1 message queued") if count == 1 else tr("{n} messages queued").format(n=count)
        return HoverWords(title, detail, tuple(rows))
    rows = [(tr("Condition"), describe(line.condition))] if line.condition is not None else []
    found = _last_on(run, lines, line)
    if found is not None:
        message, taken, reason = found
        if line.condition is not None or line.kind == "default":
            said = tr("true") if taken else tr("false: {why}").format(why=reason_text(reason, line))
            rows.append((tr("Was"), said))
        rows += _value(run, tr("Took") if taken else tr("Did not take"), message)
    rows += [(_severity(p.severity), p.message) for p in workspace.problems.at(line.id)[:3]]
    return HoverWords(title, kind_name(line.kind) if line.kind == "handoff" else tr("Edge"), tuple(rows))


def _last(run: RunModel, *, source: str = "", target: str = "") -> MessageView | None:
    """The last message that a node sent, or that was delivered to it."""
    for message in reversed(run.messages):
        if source and message.source == source:
            return message
        if target and any(to == target and taken for _, to, taken, _ in message.routes):
            return message
    return None


def _last_on(run: RunModel, lines: Lines, line: Line) -> tuple[MessageView, bool, str] | None:
    """The last message that came to a line, whether it took it, and the reason if not."""
    for message in reversed(run.messages):
        for edge, target, taken, reason in message.routes:
            if any(found.id == line.id for found in lines.leading(edge, message.source, target)):
                return message, taken, reason
    return None


def _value(run: RunModel, label: str, message: MessageView) -> list[tuple[str, str]]:
    where = tr("superstep {n}").format(n=message.superstep) if message.superstep else tr("input")
    invocation = run.invocations.get(message.invocation or "")
    if invocation is not None and invocation.ended is not None:
        where += tr(", at {time}").format(time=seconds_text(invocation.ended))
    return [(label, f"{message.type_name}, {where}"), ("", _short(message.text))]


def _short(text: str) -> str:
    return text if len(text) <= TEXT else text[:TEXT] + "…"


def _severity(severity: str) -> str:
    return {"error": tr("Error"), "warning": tr("Warning")}.get(severity, tr("Hint"))
