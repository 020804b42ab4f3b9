"""The fields of a page for a drawing that takes no edit: every text can be read, selected and copied, nothing typed."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLineEdit, QTextEdit, QWidget

from studio.ui.inspector.expand import ExpandButton
from studio.ui.widgets.buttons import Button, CheckBox, ComboBox, RadioButton
from studio.ui.widgets.chips_field import ChipsField
from studio.ui.widgets.field import ResetArrow
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import TextBox

LOOKS = "looks"
"""A property of a button that only shows something: it stays on."""
_CHANGES = (Button, CheckBox, ComboBox, RadioButton, ChipsField, SegmentedControl, ResetArrow)


def lock_fields(content: QWidget) -> None:
    """Locks every editor below ``content``; what was made since the last time, too."""
    for line in content.findChildren(QLineEdit):
        line.setReadOnly(True)
    for box in content.findChildren(QTextEdit):
        box.set_read_only(True) if isinstance(box, TextBox) else box.setReadOnly(True)
    for kind in _CHANGES:
        for widget in content.findChildren(kind):
            if not widget.property(LOOKS):
                widget.setEnabled(False)
    for button in content.findChildren(QAbstractButton):
        if isinstance(button, ExpandButton):
            button.setEnabled(True)
