"""Queued messages as chips on the edges they will travel."""

from __future__ import annotations

from collections.abc import Iterable

from studio.assembly.texts import type_name, value_text
from studio.bridge.run_views import QueuedView
from studio.checkpoints import QueuedMessage
from studio.debugger.forks import QueueEdits, edited
from studio.document.model import DirectEdge, Edge, FanInEdge, FanOutEdge, SwitchEdge, Workflow
from studio.document.turns import collector_id, is_start


def queued_views(queued: Iterable[QueuedMessage], workflow: Workflow | None, edits: QueueEdits) -> list[QueuedView]:
    """One view per message, in delivery order, with the edits that wait to be run."""
    messages = tuple(queued)
    new = {m.id for m in edits.added}
    shown = edited(messages, edits.within(messages))
    return [_view(m, workflow, changed=m.id in edits.texts or m.id in new) for m in shown]


def _view(message: QueuedMessage, workflow: Workflow | None, *, changed: bool) -> QueuedView:
    return QueuedView(
        message.id,
        message.source,
        message.target or _start_behind(workflow, message.source),
        tuple(edge.id for edge in workflow.edges if _carries(edge, message)) if workflow is not None else (),
        type_name(message.data),
        value_text(message.data),
        message.data,
        changed,
        message.purpose,
    )


def _start_behind(workflow: Workflow | None, source: str) -> str | None:
    """The start, for what the node in front of it sends: no edge of the drawing leads there."""
    return workflow.start if workflow is not None and is_start(workflow, source) else None


def _carries(edge: Edge, message: QueuedMessage) -> bool:
    source, target = message.source, message.target
    match edge:
        case DirectEdge():
            return source in (edge.source, edge.id) and target in (None, edge.target)
        case FanOutEdge():
            return source in (edge.source, edge.id) and (target is None or target in edge.targets)
        case SwitchEdge():
            targets = {*(case.target for case in edge.cases), edge.default}
            return source in (edge.source, edge.id) and (target is None or target in targets)
        case FanInEdge():
            collected = any(source == collector_id(edge, s) for s in edge.sources)
            return (collected or source in edge.sources) and target in (None, edge.target)
        case _:
            return False
