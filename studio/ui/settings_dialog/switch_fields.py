"""How a server wants to be spoken to: found by a probe, learned from refusals, or set here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.agents.switches import Switches
from studio.settings.profiles import Profile
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

_TITLES = {
    "limit_name": "Name of the answer limit",
    "forced_tool": "A tool is forced",
    "answer_format": "A schema of the answer is asked for",
}


class SwitchFields(QWidget):
    """Every switch with what it does; *As the kind* takes all of them back."""

    edited = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = "other"
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._checks = {
            "include_usage": CheckField(theme, tr("Ask for token counts"), tr("In streams. Some servers refuse it.")),
            "send_names": CheckField(theme, tr("Send the author’s name"), tr("With each message. Many refuse it.")),
            "strict": CheckField(theme, tr("Strict schemas"), tr("Where a schema can be kept to strictly.")),
            "null_content": CheckField(
                theme, tr("Calls without text have no content"), tr("Off: an empty text goes along.")
            ),
        }
        limit = (("max_tokens", "max_tokens"), ("max_completion_tokens", "max_completion_tokens"))
        forced = (("by name", tr("By name")), ("required", "required"), ("never", tr("Never")))
        answer = (("json_schema", tr("Schema")), ("json_object", tr("JSON")), ("prompt", tr("In words")))
        self._choices = {
            "limit_name": SegmentedControl(theme, limit),
            "forced_tool": SegmentedControl(theme, forced),
            "answer_format": SegmentedControl(theme, answer),
        }
        for name, control in self._choices.items():
            control.setObjectName(f"switch.{name}")
            control.edited.connect(self.edited)
            column.addWidget(Field(theme, tr(_TITLES[name]), control, resettable=False))
        self._left_out = LineField(theme, tr("nothing"), mono=True)
        self._left_out.edited.connect(self.edited)
        hint = tr("Settings that are not sent although they are set: temperature, top_p …")
        column.addWidget(Field(theme, tr("Left out"), self._left_out, resettable=False, hint=hint))
        for check in self._checks.values():
            check.edited.connect(self.edited)
            column.addWidget(check)
        back = Button(theme, tr("As the kind"), kind="link")
        back.clicked.connect(self._on_back_clicked)
        column.addWidget(back)

    def show_profile(self, profile: Profile) -> None:
        """Shows the switches of a profile."""
        from studio.assembly.profile_client import switches_of

        self._kind = profile.kind
        self._show(switches_of(profile))

    def table(self, kind: str) -> dict[str, Any]:
        """What differs from the kind."""
        from studio.assembly.profile_client import switches_table

        return switches_table(kind, self._switches())

    def _show(self, switches: Switches) -> None:
        for name, check in self._checks.items():
            check.show_value(getattr(switches, name))
        for name, control in self._choices.items():
            control.show_value(getattr(switches, name))
        self._left_out.show_value(", ".join(sorted(switches.left_out)))

    def _switches(self) -> Switches:
        values: dict[str, Any] = {name: check.box.isChecked() for name, check in self._checks.items()}
        values |= {name: control.value for name, control in self._choices.items()}
        words = {w.strip() for w in self._left_out.text().split(",")}
        return replace(Switches(), **values, left_out=frozenset(words - {""}))

    def _on_back_clicked(self) -> None:
        from studio.assembly.profile_client import kind_switches

        self._show(kind_switches(self._kind))
        self.edited.emit()
