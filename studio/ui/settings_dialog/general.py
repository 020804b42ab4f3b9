"""The pages of simple settings. Each says what changed as field names and values of ``Preferences``."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.settings.preferences import Preferences
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

SCALES = (0.9, 1.0, 1.1, 1.25, 1.5)


class SettingsPage(QWidget):
    """Title, then fields."""

    changed = Signal(dict)

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(12, 12, 12, 12)
        self.column.setSpacing(0)
        head = Label(theme, title, "figure")
        head.setContentsMargins(12, 2, 0, 4)
        self.column.addWidget(head)

    def add_field(self, title: str, editor: QWidget, hint: str = "") -> Field:
        """A field below the last one."""
        field = Field(self.theme, title, editor, hint=hint, resettable=False)
        self.column.addWidget(field)
        return field

    def add_check(self, name: str, title: str, hint: str, on: bool) -> CheckBox:
        """A check box with a hint."""
        box = CheckBox(self.theme, title)
        box.setObjectName(f"setting.{name}")
        box.setChecked(on)
        words = Prose(self.theme, hint, "small", "muted", 15)
        holder = QVBoxLayout()
        holder.setContentsMargins(12, 12, 12, 0)
        holder.setSpacing(2)
        holder.addWidget(box)
        words.setContentsMargins(22, 0, 0, 0)
        holder.addWidget(words)
        self.column.addLayout(holder)
        return box


class AppearancePage(SettingsPage):
    """Theme, text size."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Appearance"), parent)
        choices = (("system", tr("As the system")), ("light", tr("Light")), ("dark", tr("Dark")))
        self._choice = SegmentedControl(theme, choices)
        self._choice.setObjectName("setting.theme")
        self._choice.show_value(preferences.theme)
        self._choice.edited.connect(self._on_choice_edited)
        self.add_field(tr("Theme"), self._choice)
        self._scale = SegmentedControl(theme, tuple((str(s), f"{s * 100:.0f} %") for s in SCALES))
        self._scale.setObjectName("setting.font_scale")
        self._scale.show_value(str(min(SCALES, key=lambda s: abs(s - preferences.font_scale))))
        self._scale.edited.connect(self._on_scale_edited)
        self.add_field(tr("Text size"), self._scale, tr("Default: 100 %."))
        self._motion = self.add_check(
            "reduce_motion", tr("Less motion"), tr("The canvas jumps instead of gliding. Default: off."),
            preferences.reduce_motion,
        )  # fmt: skip
        self._motion.toggled.connect(self._on_motion_toggled)
        self._contrast = self.add_check(
            "more_contrast", tr("More contrast"),
            tr("Stronger lines and captions. Default: off; what the system asks for is always followed."),
            preferences.more_contrast,
        )  # fmt: skip
        self._contrast.toggled.connect(self._on_contrast_toggled)
        self.column.addStretch(1)

    def _on_choice_edited(self, value: object) -> None:
        self.changed.emit({"theme": value})

    def _on_scale_edited(self, value: object) -> None:
        self.changed.emit({"font_scale": float(str(value))})

    def _on_motion_toggled(self, on: bool) -> None:
        self.changed.emit({"reduce_motion": on})

    def _on_contrast_toggled(self, on: bool) -> None:
        self.changed.emit({"more_contrast": on})


class CanvasPage(SettingsPage):
    """How the canvas is moved."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Canvas"), parent)
        self._wheel = SegmentedControl(theme, (("scroll", tr("Scrolls")), ("zoom", tr("Zooms"))))
        self._wheel.setObjectName("setting.wheel")
        self._wheel.show_value(preferences.wheel)
        self._wheel.edited.connect(self._on_wheel_edited)
        hint = tr("With Ctrl it does the other; with Shift it scrolls sideways. Default: scrolls.")
        self.add_field(tr("The wheel"), self._wheel, hint)
        self.column.addStretch(1)

    def _on_wheel_edited(self, value: object) -> None:
        self.changed.emit({"wheel": value})


class SessionPage(SettingsPage):
    """What happens at the start."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Session"), parent)
        self._reopen = self.add_check(
            "reopen_last", tr("Open the tabs of the last session"),
            tr("A start without files opens what was open at the end. Nothing runs by itself. Default: on."),
            preferences.reopen_last,
        )  # fmt: skip
        self._reopen.toggled.connect(self._on_reopen_toggled)
        self.column.addStretch(1)

    def _on_reopen_toggled(self, on: bool) -> None:
        self.changed.emit({"reopen_last": on})


class RunPage(SettingsPage):
    """What runs use and show."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Runs"), parent)
        self._switch = self.add_check(
            "switch_on_run", tr("Change to the debug layout when a run starts"),
            tr("Stop changes back to the edit layout. Default: on."),
            preferences.layouts.get("switch_on_run", True),
        )  # fmt: skip
        self._switch.toggled.connect(self._on_switch_toggled)
        self._interpreter = LineField(theme, tr("The program's own Python"), mono=True)
        self._interpreter.setObjectName("setting.interpreter")
        self._interpreter.show_value(preferences.interpreter)
        self._interpreter.left.connect(self._on_interpreter_left)
        self.add_field(
            tr("Python for function nodes"), self._interpreter,
            tr("At run time: code of a workflow runs in a process of this Python. A workflow can name another one."),
        )  # fmt: skip
        self._add_editor(preferences)
        self._add_telemetry(preferences)
        self._limit = LineField(theme)
        self._limit.setObjectName("setting.call_seconds")
        self._limit.show_value(f"{preferences.call_seconds:g}")
        self._limit.left.connect(self._on_limit_left)
        self._limit_field = self.add_field(
            tr("Seconds that one call of code may take"), self._limit,
            tr("At run time: code of a workflow that takes longer is ended, and its node fails. Default: 60."),
        )  # fmt: skip
        self.column.addStretch(1)

    def _add_editor(self, preferences: Preferences) -> None:
        self._editor = LineField(self.theme, tr("What the system opens it with"), mono=True)
        self._editor.setObjectName("setting.editor")
        self._editor.show_value(preferences.editor)
        self._editor.left.connect(self._on_editor_left)
        self.add_field(
            tr("Editor for exported code"), self._editor,
            tr("A command such as: code -g {file}:{line}. Without {file} the file comes last."),
        )  # fmt: skip

    def _add_telemetry(self, preferences: Preferences) -> None:
        self._telemetry = self.add_check(
            "telemetry", tr("Send traces of runs by OpenTelemetry"),
            tr("To where OTEL_EXPORTER_OTLP_ENDPOINT says; needs the packages opentelemetry-sdk and "
               "opentelemetry-exporter-otlp-proto-http. Default: off."),
            preferences.telemetry,
        )  # fmt: skip
        self._content = self.add_check(
            "telemetry_content", tr("With messages, arguments and results"),
            tr("Secrets are taken out; what people and models say goes along. Default: off."),
            preferences.telemetry_content,
        )  # fmt: skip
        self._content.setEnabled(preferences.telemetry)
        self._telemetry.toggled.connect(self._on_telemetry_toggled)
        self._content.toggled.connect(self._on_content_toggled)

    def _on_telemetry_toggled(self, on: bool) -> None:
        self._content.setEnabled(on)
        self.changed.emit({"telemetry": on})

    def _on_content_toggled(self, on: bool) -> None:
        self.changed.emit({"telemetry_content": on})

    def _on_limit_left(self) -> None:
        try:
            seconds = float(self._limit.text().replace(",", "."))
        except ValueError:
            seconds = 0.0
        good = 1 <= seconds <= 86_400
        self._limit_field.set_problem("error", "" if good else tr("Enter a number from 1 to 86400."))
        if good:
            self.changed.emit({"call_seconds": seconds})

    def _on_switch_toggled(self, on: bool) -> None:
        self.changed.emit({"layouts": {"switch_on_run": on}})

    def _on_editor_left(self) -> None:
        self.changed.emit({"editor": self._editor.text().strip()})

    def _on_interpreter_left(self) -> None:
        self.changed.emit({"interpreter": self._interpreter.text().strip()})
