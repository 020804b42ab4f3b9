"""What a checkpoint holds, without restoring it: queued messages, joins, requests, state, memories, sizes."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_views import CheckpointView
from studio.bridge.workspace import Workspace
from studio.debugger.details import Details, Waiting
from studio.debugger.run_comparison import shown_value
from studio.document.lines import name_of
from studio.ui.inspector.small_parts import Facts
from studio.ui.paint.numbers import size_text
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Elided, Label
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import counted, target_names


def add_details(
    theme: Theme, column: QVBoxLayout, workspace: Workspace, view: CheckpointView, parent: str, found: Details | None
) -> None:
    """Adds the sections; without ``found`` only what the list knows."""
    section = Section(theme, tr("Contents"))
    facts = Facts(theme, 110)
    if found is not None:
        _add_facts(facts, workspace, found)
    facts.add(tr("Parent"), parent)
    if found is not None:
        weight = found.weight
        own, shared = size_text(weight.own), size_text(weight.shared)
        facts.add(tr("Size on disk"), tr("{own} own, {shared} shared").format(own=own, shared=shared))
        facts.add(tr("Drawing"), found.drawing[:12] or tr("not kept"))
        facts.add(tr("Graph"), found.signature[:12])
    else:
        facts.add(tr("Size on disk"), size_text(view.bytes))
    section.add(facts)
    column.addWidget(section)
    if found is not None:
        _add_messages(theme, column, workspace, found)
        _add_state(theme, column, found)
        _add_memories(theme, column, workspace, found)


def _add_facts(facts: Facts, workspace: Workspace, found: Details) -> None:
    queued, joins, asked = found.queued, found.joins, found.requests
    facts.add(tr("Queued"), _lines(workspace, queued) if queued else tr("nothing"))
    facts.add(tr("Join buffer"), _lines(workspace, joins) if joins else tr("empty"))
    facts.add(tr("Open requests"), ", ".join(_name(workspace, r.source) for r in asked) if asked else tr("none"))
    facts.add(tr("Shared state"), counted(len(found.state), tr("1 key"), tr("{count} keys")))


def _lines(workspace: Workspace, waiting: Iterable[Waiting]) -> str:
    """ "2: Writer → Review, Critic"."""
    found = list(waiting)
    ways = []
    for message in found:
        workflow = workspace.document.workflow
        targets = target_names(workflow, message.target or None, ())
        ways.append(f"{_name(workspace, message.source)} → {', '.join(targets)}" if targets
                    else _name(workspace, message.source))  # fmt: skip
    return f"{len(found)}: {', '.join(dict.fromkeys(ways))}"


def _name(workspace: Workspace, node: str) -> str:
    return name_of(workspace.document.workflow, node)


def _row(theme: Theme, name: str, text: str) -> QWidget:
    row = QWidget()
    row.setFixedHeight(theme.length(25))
    layout = QHBoxLayout(row)
    layout.setContentsMargins(12, 0, 12, 0)
    layout.setSpacing(6)
    label = Label(theme, name, "code-small")
    label.setFixedWidth(110)
    label.setToolTip(tip(name))
    value = Elided(theme, " ".join(text.split()), "code-small", "text2")
    value.setToolTip(tip(text if len(text) < 2000 else f"{text[:2000]} …"))
    layout.addWidget(label)
    layout.addWidget(value, 1)
    return row


def _add_messages(theme: Theme, column: QVBoxLayout, workspace: Workspace, found: Details) -> None:
    waiting = [*found.queued, *found.joins, *found.requests]
    if waiting:
        section = Section(theme, tr("What waits"))
        section.set_summary(str(len(waiting)))
        section.set_open(False)
        for message in waiting:
            section.add(_row(theme, _name(workspace, message.source), message.text))
        column.addWidget(section)


def _add_state(theme: Theme, column: QVBoxLayout, found: Details) -> None:
    if found.state:
        section = Section(theme, tr("Shared state"))
        section.set_summary(str(len(found.state)))
        for key, value in found.state.items():
            section.add(_row(theme, key, shown_value(value)))
        column.addWidget(section)


def _add_memories(theme: Theme, column: QVBoxLayout, workspace: Workspace, found: Details) -> None:
    if found.memories:
        section = Section(theme, tr("Saved node states"))
        section.set_summary(str(len(found.memories)))
        section.set_open(False)
        for memory in found.memories:
            talk = counted(len(memory.talk), tr("1 message"), tr("{count} messages")) if memory.talk else ""
            kept = len(memory.collected)
            waits = counted(kept, tr("1 message waits for a turn token"), tr("{count} messages wait for a turn token"))
            parts = ", ".join(part for part in memory.parts if part not in ("buffer", "turn"))
            text = ", ".join(filter(None, (talk, waits if kept else "", parts)))
            section.add(_row(theme, _name(workspace, memory.node), text))
        column.addWidget(section)
