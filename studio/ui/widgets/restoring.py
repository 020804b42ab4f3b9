"""Going back to a checkpoint or on from it: at once while nothing runs and nothing reaches outside; else after a
question."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.effects import sentence
from studio.debugger.states import ENDED, RunState
from studio.ui.dialogs.messages import Choice, ask
from studio.ui.text import tr
from studio.ui.theme import Theme

_ACCEPT = QMessageBox.ButtonRole.AcceptRole
_STILL = ENDED | {RunState.IDLE, RunState.PAUSED, RunState.WAITING}


def ask_restore(parent: QWidget, workspace: Workspace, checkpoint: str) -> QMessageBox | None:
    """Restores a checkpoint; asks first, without blocking, when that stops a run. Returns the question, if any."""
    run = workspace.run
    view = next((c for c in run.checkpoints if c.checkpoint == checkpoint), None)
    if view is None:
        return None
    warning = sentence(run.effects(checkpoint) or ())
    if run.state in _STILL and not warning:
        run.restore(checkpoint)
        return None
    when = tr("the input") if view.kind == "input" else tr("superstep {number}").format(number=view.superstep)
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("Restore"))
    box.setText(tr("Go back to the moment after {when}?").format(when=when))
    text = tr("Canvas, messages and state then show that moment. Run or Step goes on from it as a new branch.")
    if run.state not in _STILL:
        text += " " + tr("The run in progress is stopped. No checkpoint is lost.")
    box.setInformativeText(f"{text}\n\n{warning}" if warning else text)
    recorded = box.addButton(tr("Restore, use recorded results"), _ACCEPT) if warning else None
    restore = box.addButton(tr("Restore"), _ACCEPT)
    box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(restore)

    def finished() -> None:
        if recorded is not None and box.clickedButton() is recorded:
            run.restore(checkpoint, recorded=True)
        elif box.clickedButton() is restore:
            run.restore(checkpoint)
        box.deleteLater()

    box.finished.connect(finished)
    box.open()
    return box


def ask_fork(theme: Theme, parent: QWidget, workspace: Workspace, checkpoint: str) -> None:
    """Runs a new branch; asks first, without blocking, if steps with outside effects would run again."""
    run = workspace.run
    warning = sentence(run.effects(checkpoint) or ())
    if not warning:
        run.fork(checkpoint)
        return
    choices = (
        Choice(tr("Use recorded results"), lambda: run.fork(checkpoint, recorded=True), default=True),
        Choice(tr("Run them again"), lambda: run.fork(checkpoint)),
        Choice(tr("Cancel"), lambda: None, cancels=True),
    )
    detail = tr("With recorded results these steps are not run: they give again what they gave.")
    ask(theme, parent, tr("Fork from here?"), f"{warning}\n{detail}", choices)
