"""What the menus of a checkpoint and of a branch offer, and the question before a branch is deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QMenu, QWidget

from studio.bridge.run_model import RunModel
from studio.ui.dialogs.messages import Choice, ask
from studio.ui.paint.numbers import size_text
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; ``why`` it cannot be chosen, or "". An entry without a text is a line."""

    text: str = ""
    icon: str = ""
    run: Callable[[], None] = lambda: None
    why: str = ""
    keys: str = ""


def make_menu(theme: Theme, parent: QWidget, entries: Sequence[Entry]) -> QMenu:
    """A menu that deletes itself when it closes."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    for entry in entries:
        if not entry.text:
            menu.addSeparator()
            continue
        text = f"{entry.text}\t{entry.keys}" if entry.keys else entry.text
        action = menu.addAction(theme.icon(entry.icon), text) if entry.icon else menu.addAction(text)
        action.setEnabled(not entry.why)
        action.setToolTip(tip(entry.why))
        action.triggered.connect(lambda _checked=False, run=entry.run: run())
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def ask_delete(theme: Theme, parent: QWidget, run: RunModel, branch: str) -> None:
    """Says in numbers what goes, and deletes the branch if the person wants it."""
    view = next((b for b in run.branches if b.branch == branch), None)
    if view is None:
        return
    checkpoints, size, marked = run.removal_of(branch)
    parts = [
        counted(checkpoints, tr("1 checkpoint"), tr("{count} checkpoints")) + f", {size_text(size)}",
        tr("The messages, outputs and events of this branch go with them."),
    ]
    if marked:
        parts.append(counted(marked, tr("1 of them is named or pinned."), tr("{count} of them are named or pinned.")))
    if run.forks_of(branch):
        parts.append(tr("Branches that were forked from it stay, and keep what they need of it."))
    parts.append(tr("It can be put back until the file is compacted."))
    title = tr("Delete {branch} of run {number}?").format(branch=view.name, number=view.number)
    choices = (
        Choice(tr("Delete"), lambda: run.delete_branch(branch)),
        Choice(tr("Cancel"), lambda: None, default=True, cancels=True),
    )
    ask(theme, parent, title, "\n".join(parts), choices)


def ask_remove_from_disk(theme: Theme, parent: QWidget, run: RunModel) -> None:
    """Asks before runs from before are deleted from disk; that cannot be undone."""
    choices = (
        Choice(tr("Delete"), run.remove_from_disk),
        Choice(tr("Cancel"), lambda: None, default=True, cancels=True),
    )
    detail = tr("{size} of runs from before are deleted from disk, with all their messages. This cannot be undone.")
    title = tr("Delete the runs from before?")
    ask(theme, parent, title, detail.format(size=size_text(run.left_on_disk)), choices)
