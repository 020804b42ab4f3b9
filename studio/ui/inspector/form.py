"""Binds fields to what they edit: values in, edits out, problems under the field, typing undone before the document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, SignalInstance
from PySide6.QtWidgets import QWidget

from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.ui.inspector.option_facts import facts_of
from studio.ui.inspector.target import MIXED, Target
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.chips_field import ChipsField
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.text_fields import LineField, TextBox


class Refused(Exception):
    """What was typed is not a value of the field; the text says what would be."""


@dataclass(slots=True)
class Binding:
    """One field: ``shown`` turns a value into what the editor shows, ``typed`` back (may raise ``Refused``)."""

    name: str
    field: Field | CheckField
    editor: QWidget
    shown: Callable[[Any], object]
    typed: Callable[[Any], object]
    marked: bool
    refusal: str = ""
    first_step: int = -1
    """Index of the undo stack before the first change since the editor was last given a value; -1: none yet."""


def same(value: Any) -> Any:
    """No conversion."""
    return value


class Form(QObject):
    """The fields of one inspector page."""

    def __init__(self, theme: Theme, workspace: Workspace, target: Target, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme, self.workspace, self.target = theme, workspace, target
        self._bindings: dict[str, Binding] = {}
        self._followers: list[Callable[[], None]] = []

    def bind(
        self,
        name: str,
        field: Field | CheckField,
        *,
        shown: Callable[[Any], object] = same,
        typed: Callable[[Any], object] = same,
        marked: bool = True,
    ) -> Field | CheckField:
        """Connects a field to a field of the target; ``marked``: it shows the changed marker."""
        editor = field if isinstance(field, CheckField) else field.editor
        binding = Binding(name, field, editor, shown, typed, marked)
        self._bindings[name] = binding
        edited: SignalInstance = editor.edited  # type: ignore[attr-defined]
        edited.connect(lambda value, b=binding: self._on_edited(b, value))
        facts = facts_of(getattr(self.target, "kind", ""), name)
        if facts is not None:
            field.set_facts(facts.words, bool(facts.not_exported))
        field.reset.connect(lambda b=binding: self.target.write(b.name, self.target.default(b.name)))
        # Queued: the fix may take the button away that asks for it.
        field.fix_requested.connect(lambda b=binding: self._on_fix_requested(b), Qt.ConnectionType.QueuedConnection)
        if isinstance(editor, LineField | TextBox):
            editor.undo_requested.connect(self.workspace.document.undo_stack.undo)
            editor.redo_requested.connect(self.workspace.document.undo_stack.redo)
            editor.left.connect(lambda b=binding: self._show_problem(b))
        return field

    def workflow(self) -> Workflow:
        """The document as it is now."""
        return self.workspace.document.workflow

    @property
    def item(self) -> str:
        """The id of the one item that is edited; "" for several, or the workflow."""
        ids: tuple[str, ...] = getattr(self.target, "ids", ())
        return ids[0] if len(ids) == 1 else ""

    def follow(self, refresh: Callable[[], None]) -> None:
        """Also calls ``refresh`` whenever the form shows new values."""
        self._followers.append(refresh)

    def refresh(self) -> None:
        """Shows what the document says. Raises ``KeyError`` when the target is gone."""
        for binding in self._bindings.values():
            self._show(binding)
        for follower in self._followers:
            follower()

    def refresh_problems(self) -> None:
        """Shows the problems of each field."""
        for binding in self._bindings.values():
            self._show_problem(binding)

    def focus(self, name: str) -> bool:
        """Puts the focus into a field; False if there is none of this name."""
        binding = self._bindings.get(name)
        if binding is None:
            return False
        widget = binding.field.box if isinstance(binding.field, CheckField) else binding.editor
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(widget, LineField):
            widget.selectAll()
        return True

    def field(self, name: str) -> Field | CheckField:
        """The field of this name. Raises ``KeyError``."""
        return self._bindings[name].field

    @property
    def names(self) -> frozenset[str]:
        """The fields that are bound."""
        return frozenset(self._bindings)

    def changed_count(self, *names: str) -> int:
        """How many of these fields differ from their default."""
        return sum(self._differs(self._bindings[n]) for n in names)

    def summary(self, *names: str) -> str:
        """For a section's header: "2 changed" or "all default"."""
        count = self.changed_count(*names)
        return tr("{count} changed").format(count=count) if count else tr("all default")

    def _differs(self, binding: Binding) -> bool:
        value = self.target.read(binding.name)
        return value is not MIXED and value != self.target.default(binding.name)

    def _show(self, binding: Binding) -> None:
        value = self.target.read(binding.name)
        editor: Any = binding.editor
        if value is MIXED:
            self._show_mixed(editor)
        elif not binding.refusal:
            shown = binding.shown(value)
            if isinstance(editor, LineField | TextBox) and not self._says(binding, value):
                binding.first_step = -1
                editor.show_value(shown)
            elif not isinstance(editor, LineField | TextBox):
                editor.show_value(shown)
        if binding.marked:
            binding.field.set_changed(self._differs(binding))

    def _says(self, binding: Binding, value: object) -> bool:
        """Whether the text in the editor already means this value ("0.30" is 0.3): then the text stays."""
        editor: Any = binding.editor
        text = editor.text() if isinstance(editor, LineField) else editor.toPlainText()
        if not editor.hasFocus():
            return bool(text == binding.shown(value))
        try:
            return bool(binding.typed(text) == value)
        except Refused:
            return False

    def _show_mixed(self, editor: Any) -> None:
        if isinstance(editor, LineField | TextBox):
            editor.show_value("")
            editor.setPlaceholderText(tr("mixed"))
        elif isinstance(editor, ChipsField):
            editor.show_value(())
        else:
            editor.show_value(None)

    def _on_edited(self, binding: Binding, raw: object) -> None:
        try:
            value = binding.typed(raw)
        except Refused as refused:
            binding.refusal = str(refused)
            return
        binding.refusal = ""
        binding.field.set_problem("error", "")
        if self.target.read(binding.name) == value:
            return
        stack = self.workspace.document.undo_stack
        if binding.first_step >= 0 and self._back_at_start(binding) and stack.index() == binding.first_step + 1:
            stack.undo()
            return
        before = stack.index()
        self.target.write(binding.name, value)
        if binding.first_step < 0 and stack.index() == before + 1:
            binding.first_step = before

    def _back_at_start(self, binding: Binding) -> bool:
        """Whether the field's own undo has taken back everything that was typed."""
        editor = binding.editor
        if isinstance(editor, LineField):
            return editor.isRedoAvailable() and not editor.isUndoAvailable()
        if not isinstance(editor, TextBox):
            return False
        return editor.document().isRedoAvailable() and not editor.document().isUndoAvailable()

    def _show_problem(self, binding: Binding) -> None:
        if binding.refusal:
            binding.field.set_fix("")
            binding.field.set_problem("error", binding.refusal)
            return
        found = self._problem_of(binding.name)
        binding.field.set_fix(found.fix.text if found is not None and found.fix is not None else "")
        if found is None:
            binding.field.set_problem("error", "")
        else:
            binding.field.set_problem(found.severity, found.message)

    def _problem_of(self, name: str) -> Problem | None:
        return next((p for p in self.target.problems() if p.field == name), None)

    def _on_fix_requested(self, binding: Binding) -> None:
        found = self._problem_of(binding.name)
        if found is not None and found.fix is not None:
            self.workspace.document.execute(found.fix.edit, found.fix.text.removesuffix("…"))
