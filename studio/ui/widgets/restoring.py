"""Going back to a checkpoint or on from it: at once while nothing runs, nothing reaches outside and the drawing is the
same; else after a question. What differs is always shown, never silently used."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.comparison import Ahead
from studio.debugger.states import ENDED, RunState
from studio.ui.dialogs.messages import Choice, ask
from studio.ui.text import tr
from studio.ui.theme import Theme

_STILL = ENDED | {RunState.IDLE, RunState.PAUSED, RunState.WAITING}


def ask_restore(theme: Theme, parent: QWidget, workspace: Workspace, checkpoint: str) -> None:
    """Restores a checkpoint; asks first, without blocking, when that stops a run, or when what goes on from there would
    reach outside or use another drawing."""
    run = workspace.run
    view = next((c for c in run.checkpoints if c.checkpoint == checkpoint), None)
    if view is None:
        return
    when = tr("the input") if view.kind == "input" else tr("superstep {number}").format(number=view.superstep)

    def told(ahead: Ahead) -> None:
        if run.state in _STILL and not ahead:
            run.restore(checkpoint)
            return
        parts = [tr("Canvas, messages and state then show that moment. Run or Step goes on from it as a new branch.")]
        if run.state not in _STILL:
            parts.append(tr("The run in progress is stopped. No checkpoint is lost."))
        choices = [Choice(tr("Restore"), lambda: run.restore(checkpoint), default=True)]
        if ahead.outside:
            use = tr("Restore, use recorded results")
            choices.insert(0, Choice(use, lambda: run.restore(checkpoint, recorded=True)))
        title = tr("Go back to the moment after {when}?").format(when=when)
        _ask(theme, parent, workspace, checkpoint, title, (" ".join(parts), *_words(ahead)), choices, ahead)

    run.look_ahead(checkpoint, told)


def ask_fork(theme: Theme, parent: QWidget, workspace: Workspace, checkpoint: str) -> None:
    """Runs a new branch; asks first, without blocking, if steps with outside effects would run again or the drawing is
    not the one of the run."""
    run = workspace.run

    def told(ahead: Ahead) -> None:
        if not ahead:
            run.fork(checkpoint)
            return
        words = list(_words(ahead))
        choices = [Choice(tr("Fork"), lambda: run.fork(checkpoint), default=True)]
        if ahead.outside:
            words.append(tr("With recorded results these steps are not run: they give again what they gave."))
            choices = [
                Choice(tr("Use recorded results"), lambda: run.fork(checkpoint, recorded=True), default=True),
                Choice(tr("Run them again"), lambda: run.fork(checkpoint)),
            ]
        _ask(theme, parent, workspace, checkpoint, tr("Fork from here?"), words, choices, ahead)

    run.look_ahead(checkpoint, told)


def ask_resume(theme: Theme, parent: QWidget, workspace: Workspace, branch: str, *, answer: bool = False) -> None:
    """Goes on with an interrupted branch, or (``answer``) shows the question of one that waits; asks first if it goes
    on with another drawing."""
    run = workspace.run
    ends = [c.checkpoint for c in run.checkpoints if c.branch == branch]

    def go_on() -> None:
        run.show_branch(branch) if answer else run.resume(branch)

    def told(ahead: Ahead) -> None:
        unfit = next((c.problem for c in run.checkpoints if c.checkpoint == ends[-1]), "")
        if not ahead.differs or ahead.old is None or unfit:  # one that does not fit asks how its nodes are mapped
            go_on()
            return
        fork = tr("From there it goes on as a fork of {branch}; the branch itself stays as it is.")
        name = next((b.name for b in run.branches if b.branch == branch), branch)
        words = (*_words(Ahead(ahead.differs)), fork.format(branch=name))
        choices = [Choice(tr("Show it") if answer else tr("Go on"), go_on, default=True)]
        _ask(theme, parent, workspace, ends[-1], tr("Go on with the new drawing?"), words, choices, ahead)

    if ends:
        run.look_ahead(ends[-1], told)
    else:
        go_on()


def _words(ahead: Ahead) -> tuple[str, ...]:
    """What differs, with where it is used, and what reaches outside."""
    found = []
    if ahead.differs:
        used = tr("What goes on from here uses the drawing as it is now.")
        found.append("\n".join((tr("The drawing has changed since this run:"), *ahead.differs, used)))
    if ahead.outside:
        found.append(ahead.outside)
    return tuple(found)


def _ask(
    theme: Theme, parent: QWidget, workspace: Workspace, checkpoint: str, title: str,
    words: tuple[str, ...] | list[str], choices: list[Choice], ahead: Ahead,
) -> None:  # fmt: skip
    old = ahead.old
    if ahead.differs and old is not None:
        choices.append(Choice(tr("Open the old drawing"), lambda: workspace.drawing_offered.emit(old, checkpoint)))
    choices.append(Choice(tr("Cancel"), lambda: None, cancels=True))
    ask(theme, parent, title, "\n\n".join(words), choices)
