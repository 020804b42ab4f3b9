"""Code of a card: a body written in place, or a function of a module."""

from __future__ import annotations

from studio.document import tools
from studio.ui.inspector import builder
from studio.ui.inspector.declared import Card
from studio.ui.text import tr
from studio.ui.widgets.field import Field
from studio.ui.widgets.segments import SegmentedControl


class CodeChoice:
    """Adds the fields ``body`` and ``call`` to a card, and the choice between them."""

    def __init__(self, card: Card, body: str, call: str, hint: str) -> None:
        """``body`` and ``call`` are examples that stand in empty fields."""
        self._form, self._chosen = card.form, "body"
        self._card = card
        self._kind = SegmentedControl(card.theme, (("body", tr("Code here")), ("call", tr("Function of a module"))))
        self._kind.edited.connect(self._on_kind_edited)
        card.add(Field(card.theme, tr("What it runs"), self._kind, resettable=False))
        self._body = builder.code(card.form, "body", tr("Body"), placeholder=body, hint=hint, lines=6)
        self._call = builder.choice(card.form, "call", tr("Function"), (), free=call, marked=False)
        card.add(self._body)
        card.add(self._call)
        card.form.follow(self._refresh)

    def _refresh(self) -> None:
        if self._form.target.read("call"):
            self._chosen = "call"
        self._kind.show_value(self._chosen)
        self._body.setVisible(self._chosen == "body")
        self._call.setVisible(self._chosen == "call")
        box = self._call.editor
        if isinstance(box, builder.ChoiceBox):
            workflow = self._card.workspace.document.workflow
            box.follow_choices([(name, name) for name in tools.importable(workflow)])
            box.show_value(self._form.target.read("call"))

    def _on_kind_edited(self, value: object) -> None:
        self._chosen = str(value)
        if value == "body" and self._form.target.read("call"):
            self._form.target.write("call", "")
        self._form.refresh()
