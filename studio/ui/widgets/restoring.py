"""Going back to a checkpoint: at once while nothing runs, since no checkpoint is lost; else after a question."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.states import ENDED, RunState
from studio.ui.text import tr

_STILL = ENDED | {RunState.IDLE, RunState.PAUSED, RunState.WAITING}


def ask_restore(parent: QWidget, workspace: Workspace, checkpoint: str) -> QMessageBox | None:
    """Restores a checkpoint; asks first, without blocking, when that stops a run. Returns the question, if any."""
    run = workspace.run
    view = next((c for c in run.checkpoints if c.checkpoint == checkpoint), None)
    if view is None:
        return None
    if run.state in _STILL:
        run.restore(checkpoint)
        return None
    when = tr("the input") if view.kind == "input" else tr("superstep {number}").format(number=view.superstep)
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("Restore"))
    box.setText(tr("Go back to the moment after {when}?").format(when=when))
    text = tr("Canvas, messages and state then show that moment. Run or Step goes on from it as a new branch.")
    box.setInformativeText(f"{text} {tr('The run in progress is stopped. No checkpoint is lost.')}")
    restore = box.addButton(tr("Restore"), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(restore)

    def finished() -> None:
        if box.clickedButton() is restore:
            run.restore(checkpoint)
        box.deleteLater()

    box.finished.connect(finished)
    box.open()
    return box
