"""The order in which Tab goes through a form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QWidget


def follow_layout(content: QWidget) -> None:
    """Lets Tab go through ``content`` as it is laid out. Qt goes in the order in which widgets were made: rows that
    came later would be reached after everything else."""
    layout = content.layout()
    if layout is not None:
        for before, after in itertools.pairwise(tab_stops(layout)):
            QWidget.setTabOrder(before, after)


def tab_stops(layout: QLayout) -> Iterator[QWidget]:
    """What takes the focus by Tab, from the first to the last item of the layout."""
    for at in range(layout.count()):
        item = layout.itemAt(at)
        assert item is not None
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
                yield widget
            inner = widget.layout()
        if inner is not None:
            yield from tab_stops(inner)
