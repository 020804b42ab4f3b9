"""Folding sections whose fields are made when they are first opened: an agent has many options."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from studio.ui.inspector.form import Form
from studio.ui.inspector.target import MIXED
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.section import Section


class Fold(Section):
    """``fill`` adds the fields; ``names`` are the fields of the target that count as this section's. It begins open if
    one of them differs from its default."""

    def __init__(
        self,
        theme: Theme,
        form: Form,
        title: str,
        names: Sequence[str],
        fill: Callable[[Fold], None],
        *,
        summary: Callable[[], str] | None = None,
    ) -> None:
        self.form, self.names = form, tuple(names)
        self._fill, self._summary, self._filled = fill, summary, False
        super().__init__(theme, title, open_=False)
        self.toggled.connect(self._on_toggled)
        if self._changed():
            self.set_open(True)
        form.follow(self._refresh)

    def _changed(self) -> int:
        target = self.form.target
        values = [(target.read(name), target.default(name)) for name in self.names]
        return sum(value is not MIXED and value != default for value, default in values)

    def _refresh(self) -> None:
        count = self._changed()
        plain = tr("{count} changed").format(count=count) if count else tr("all default")
        self.set_summary(self._summary() if self._summary is not None else plain)

    def _on_toggled(self, shown: bool) -> None:
        if shown and not self._filled:
            self._filled = True
            self._fill(self)
            self.form.refresh()
            self.form.refresh_problems()


def fold_of(page: QWidget, name: str) -> Fold | None:
    """The section that a field, or an object with fields, belongs to."""
    folds = page.findChildren(Fold)
    owner, _, index = name.partition(".")
    if index.isdigit():  # an item of a list: middleware.0
        name = owner
    return next((f for f in folds if name in f.names or any(n.startswith(f"{name}.") for n in f.names)), None)


def unfold(page: QWidget, name: str) -> None:
    """Opens the section that a field belongs to, so that it is there to be focused."""
    fold = fold_of(page, name)
    if fold is not None:
        fold.set_open(True)
