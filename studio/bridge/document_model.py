"""The open document: the only way to change it, its undo stack, and one ``changed`` signal per command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from weakref import ref

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QUndoCommand, QUndoStack

from studio.document.bends import apply_tidily
from studio.document.changes import ChangeSet
from studio.document.edits import Applied, Batch, Edit, ReplaceAll, SetWorkflow
from studio.document.model import Workflow
from studio.document.telling_apart import told_apart

_MERGE_ID = 1
_MANY = 200
"""From this many changed ids on, a step keeps the documents before and after it."""
READ_ONLY = "This is the drawing of an earlier run. It cannot be changed; open it as a copy to edit it."
_REST = 3.0
"""Seconds without an edit after which the next one is a step of its own."""

_stacks: set[QUndoStack] = set()
"""Those of all documents. The garbage collector, finding a stack together with its commands, may delete the commands
before the stack, which then deletes them once more; a stack that can be reached is deleted by its document in C++."""


@dataclass(frozen=True, slots=True)
class _Large:
    """Both documents of a large step: its inverse would be as large, and going there is free of work."""

    before: Workflow
    after: Workflow
    changes: ChangeSet


class _Command(QUndoCommand):
    """The one undo command: an edit and its inverse. Same ``merge_key`` in one run of typing: one step."""

    def __init__(self, model: DocumentModel, edit: Edit, text: str, merge_key: str | None) -> None:
        super().__init__(text)
        self._of = ref(model)  # what holds the stack would else hold the document
        self._edit = edit
        self._inverse: Edit | None = None
        self._merge_key = merge_key
        self._large: _Large | None = None
        self._first: Applied | None = apply_tidily(edit, model.workflow)
        """What doing it for the first time gives. An edit that cannot be done fails here, in Python's own way; an error
        inside :meth:`redo` would pass through Qt's undo stack."""
        self._typing = model._typing
        self._made = model._clock()

    @property
    def _model(self) -> DocumentModel:
        model = self._of()
        assert model is not None, "a document outlives its commands"
        return model

    def id(self) -> int:
        return _MERGE_ID if self._merge_key else -1

    def redo(self) -> None:
        before = self._model.workflow
        if self._large is not None and self._large.before is before:
            self._model._take(self._large.after, self._large.changes)
            return
        first, self._first = self._first, None
        done = first if first is not None else apply_tidily(self._edit, before)
        self._inverse = done.inverse
        self._large = _Large(before, done.workflow, done.changes) if done.changes.size >= _MANY else None
        step = self.text() if first is not None else ""
        self._model._take(done.workflow, done.changes, step)

    def undo(self) -> None:
        assert self._inverse is not None
        self._model._typing += 1
        if self._large is not None and self._large.after is self._model.workflow:
            self._model._take(self._large.before, self._large.changes.reversed())
            return
        done = self._inverse.apply(self._model.workflow)
        self._model._take(done.workflow, done.changes)

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Command) or other._merge_key != self._merge_key:
            return False
        if other._typing != self._typing or other._made - self._made > _REST:
            return False
        assert self._inverse is not None
        assert other._inverse is not None
        self._large = None
        self._edit = Batch((self._edit, other._edit))
        self._inverse = Batch((other._inverse, self._inverse))
        self._made = other._made
        return True


class DocumentModel(QObject):
    """One open workflow. Views read :attr:`workflow`, send edits to :meth:`execute`, update from :attr:`changed`."""

    changed = Signal(object)
    """ChangeSet; once per command, undo and redo."""
    path_changed = Signal(object)
    """Path | None, after save as and load."""
    dirty_changed = Signal(bool)
    refused = Signal(str)
    """Why an edit was not taken, a sentence; only of a document that is :attr:`read_only`."""

    def __init__(
        self,
        workflow: Workflow,
        path: Path | None = None,
        parent: QObject | None = None,
        clock: Callable[[], float] = monotonic,
        stack: QUndoStack | None = None,
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._typing = 0
        """Counts runs of typing: a change of the focus or an undo ends one."""
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.focusObjectChanged.connect(self._on_app_focus_object_changed)
        self._workflow, self.mended = told_apart(workflow)
        """``mended``: the ids that two things had in what came last from a file, see :func:`told_apart`."""
        self._path = path
        self._step = ""
        self.undo_stack = stack if stack is not None else self._own_stack()
        self.undo_stack.cleanChanged.connect(self._on_undo_stack_clean_changed)

    def _own_stack(self) -> QUndoStack:
        """A stack that ends with the document, and before it only in Qt: see :data:`_stacks`."""
        stack = QUndoStack(self)
        _stacks.add(stack)

        def end() -> None:
            stack.blockSignals(True)
            stack.clear()
            _stacks.discard(stack)

        self.destroyed.connect(end)
        return stack

    @property
    def workflow(self) -> Workflow:
        """The document as it is now; frozen."""
        return self._workflow

    @property
    def path(self) -> Path | None:
        """The file, or None if it was never saved."""
        return self._path

    @property
    def folder(self) -> Path | None:
        """That of the file, or None if there is none."""
        return self.path.parent if self.path is not None else None

    @property
    def read_only(self) -> bool:
        """Whether it is there to be looked at and run, and takes no edit."""
        return False

    @property
    def step(self) -> str:
        """While :attr:`changed` is told: the text of the new step that it comes from; "" for undo, redo and the rest.
        The undo stack takes a step in only after that."""
        return self._step

    @property
    def dirty(self) -> bool:
        """Whether there are changes since the last save."""
        return not self.undo_stack.isClean()

    def execute(self, edit: Edit, text: str, merge_key: str | None = None) -> None:
        """Applies an edit as one undo step. ``text`` names it in the menu ("Move Writer").

        Edits in a row with the same ``merge_key`` (``"writer.instructions"``) become one step, while the focus stays
        and nobody rests for long between two of them.
        """
        self.undo_stack.push(_Command(self, edit, text, merge_key))

    def replace_all(self, workflow: Workflow, text: str) -> None:
        """Takes another document in place of this one, as one undo step: from the disk, a kept version, a journal."""
        workflow, self.mended = told_apart(workflow)
        self.execute(ReplaceAll(workflow), text)

    def name_after(self, name: str) -> None:
        """Gives a workflow without a name of its own the name of its first file: part of the save, not a step to undo.
        Steps that were made before keep what they do."""
        done = SetWorkflow({"name": name}).apply(self._workflow)
        self._take(done.workflow, done.changes)

    def mark_saved(self, path: Path) -> None:
        """Says that the document as it is now is in this file."""
        self.undo_stack.setClean()
        if path != self._path:
            self._path = path
            self.path_changed.emit(path)

    def _refuse(self) -> None:
        """Says why nothing changed; what moved or was typed in a view goes back to what the document says."""
        self.refused.emit(READ_ONLY)
        self._take(self._workflow, ChangeSet(everything=True))

    def _take(self, workflow: Workflow, changes: ChangeSet, step: str = "") -> None:
        self._workflow = workflow
        self._step = step
        self.changed.emit(changes)

    def _on_app_focus_object_changed(self, _focus: QObject | None) -> None:
        self._typing += 1

    def _on_undo_stack_clean_changed(self, clean: bool) -> None:
        self.dirty_changed.emit(not clean)
