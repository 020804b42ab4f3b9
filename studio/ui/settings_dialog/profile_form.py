"""The fields of a provider's profile: address, key, model, headers, options, and how the server is spoken to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from studio.bridge.provider_model import ProviderModel
from studio.settings.profile_options import LIMITS, ProfileOptions, read_options
from studio.settings.profiles import Profile, clean_base_url, presets
from studio.ui.settings_dialog.key_field import KeyField
from studio.ui.settings_dialog.switch_fields import SwitchFields
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.page import Page
from studio.ui.widgets.section import Section
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField, TextBox


class ProfileForm(Page):
    """Shows a profile; :meth:`profile` gives it as it was changed."""

    edited = Signal()

    def __init__(self, theme: Theme, model: ProviderModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._shown = Profile("")
        self.name = self._line("name", tr("Name"))
        self.kind = ComboBox(theme)
        self.kind.setObjectName("profile.kind")
        self.kind_field = Field(theme, tr("Kind"), self.kind, resettable=False)
        for kind, preset in presets().items():
            if kind != "offline":
                self.kind.addItem(preset.title, kind)
        self.add(self.name)
        self.add(self.kind_field)
        self.url = self._line("url", tr("Base URL"), mono=True)
        self.add(self.url)
        self.key = KeyField(theme, model)
        self.add(self.key)
        self.model = ComboBox(theme)
        self.model.setObjectName("profile.model")
        self.model.make_editable(tr("name of the model"))
        hint = tr("For agents that name no model of their own.")
        self.model_field = Field(theme, tr("Model"), self.model, resettable=False, hint=hint)
        self.add(self.model_field)
        self._add_headers()
        self._add_options()
        self.switches = SwitchFields(theme)
        section = Section(theme, tr("How it is spoken to"), open_=False)
        section.add(self.switches)
        self._switch_section = section
        self.add(section)
        self.kind.activated.connect(self._on_kind_activated)
        self.kind.activated.connect(self.edited)
        self.key.edited.connect(self.edited)
        self.switches.edited.connect(self._on_switches_edited)
        line = self.model.lineEdit()
        assert line is not None
        line.setObjectName("profile.model_name")
        line.textEdited.connect(self.edited)
        self.model.activated.connect(self.edited)

    def _line(self, name: str, title: str, *, mono: bool = False, hint: str = "", placeholder: str = "") -> Field:
        line = LineField(self.theme, placeholder, mono=mono)
        line.setObjectName(f"profile.{name}")
        line.edited.connect(self.edited)
        return Field(self.theme, title, line, resettable=False, hint=hint)

    def _add_headers(self) -> None:
        hint = tr("Name: value, one a line. env:NAME stands for a secret, also behind a word: Bearer env:NAME.")
        self._headers = TextBox(self.theme, "X-Team: research", lines=2)
        self._headers.setObjectName("profile.headers")
        self._headers.edited.connect(self.edited)
        self._headers_field = Field(self.theme, tr("Headers"), self._headers, resettable=False, hint=hint)
        section = Section(self.theme, tr("Headers"), open_=False)
        section.add(self._headers_field)
        self._headers_section = section
        self.add(section)

    def _add_options(self) -> None:
        section = Section(self.theme, tr("Limits and network"), open_=False)
        self._options: dict[str, Field] = {
            "tries": self._line("tries", tr("Tries of a call"), placeholder="3"),
            "first_byte": self._line(
                "first_byte", tr("Seconds until the first answer"), placeholder=tr("300, on this computer 900")
            ),
            "stall": self._line("stall", tr("Seconds of silence inside an answer"), placeholder="60"),
            "max_parallel": self._line("max_parallel", tr("Calls at the same time"), placeholder="64"),
            "ca_file": self._line(
                "ca_file", tr("Certificates of a company"), mono=True, placeholder=tr("those of the system")
            ),
            "api_version": self._line(
                "api_version", tr("Version in the address"), mono=True, hint=tr("For dated Azure addresses.")
            ),
        }
        for field in self._options.values():
            section.add(field)
        self._proxy = SegmentedControl(self.theme, (("system", tr("Of the system")), ("none", tr("None"))))
        self._proxy.edited.connect(self.edited)
        hint = tr("An address of this computer never goes through a proxy.")
        section.add(Field(self.theme, tr("Proxy"), self._proxy, resettable=False, hint=hint))
        self._options_section = section
        self.add(section)

    # ------------------------------------------------------------------------------------------------------- show

    def show_profile(self, profile: Profile) -> None:
        """Shows a profile."""
        self._shown = profile
        _set(self.name, profile.name)
        self.kind.setCurrentIndex(max(0, self.kind.findData(profile.kind)))
        _set(self.url, profile.base_url)
        self.key.show_reference(profile.key_ref)
        self.show_models(profile.probe.get("models", ()))
        self.model.setEditText(profile.model)
        self._headers.show_value("\n".join(f"{name}: {value}" for name, value in profile.headers.items()))
        self._show_options(profile.options)
        self.switches.show_profile(profile)
        self._summaries(profile)
        for field in (self.name, self.url, self.model_field, self._headers_field, *self._options.values()):
            field.set_problem("error", "")
        self._show_note()

    def show_models(self, names: Any) -> None:
        """Models to choose from; what is typed stays."""
        typed = self.model.currentText()
        self.model.clear()
        self.model.addItems([str(name) for name in names] if isinstance(names, list | tuple) else [])
        self.model.setEditText(typed)

    def _show_options(self, options: ProfileOptions) -> None:
        plain = ProfileOptions()
        for name, field in self._options.items():
            value = getattr(options, name)
            _set(field, "" if value == getattr(plain, name) else f"{value:g}" if isinstance(value, float) else value)
        self._proxy.show_value(options.proxy)

    def _summaries(self, profile: Profile) -> None:
        def words(count: int) -> str:
            return tr("{count} changed").format(count=count) if count else tr("all default")

        plain = ProfileOptions()
        changed = sum(getattr(profile.options, n) != getattr(plain, n) for n in (*self._options, "proxy"))
        self._headers_section.set_summary(str(len(profile.headers)) if profile.headers else tr("none"))
        self._options_section.set_summary(words(changed))
        self._switch_section.set_summary(words(len(profile.switches)))

    def _show_note(self) -> None:
        preset = presets().get(str(self.kind.currentData()))
        self.kind_field.set_hint(tr(preset.note) if preset is not None else "")
        self._options["api_version"].setVisible(self.kind.currentData() in ("azure", "azure_dated"))

    def _on_kind_activated(self, _index: int) -> None:
        """A new kind brings its address and variable, unless others were typed."""
        preset = presets()[str(self.kind.currentData())]
        known = presets().values()
        if not _text(self.url) or _text(self.url) in {p.base_url for p in known}:
            _set(self.url, preset.base_url)
        if self.key.reference in {"", *(f"env:{p.variable}" for p in known if p.variable)}:
            self.key.suggest(preset.variable)
        _set(self._options["api_version"], preset.api_version)
        self.switches.show_profile(replace(self._shown, kind=preset.kind, switches={}))
        self._show_note()

    def _on_switches_edited(self) -> None:
        self._switch_section.set_summary(tr("changed"))
        self.edited.emit()

    # ------------------------------------------------------------------------------------------------------- read

    def profile(self, taken: Callable[[str], bool]) -> Profile | None:
        """The profile as it is in the form; None, with the problems shown, if something cannot be. ``taken`` says
        whether another profile has a name. A typed key is not in it: see :attr:`key`."""
        name, url = _text(self.name), clean_base_url(_text(self.url))
        headers, bad_line = _headers(self._headers.value)
        values = {n: _number(_text(f)) if n in LIMITS else _text(f) for n, f in self._options.items() if _text(f)}
        options, bad = read_options({**values, "proxy": self._proxy.value})
        key = self.key.problem
        problems = (
            (self.name, tr("Enter a name.") if not name else tr("Another provider has this name.")
             if taken(name) else ""),
            (self.url, "" if url.startswith(("http://", "https://")) else tr("Enter an http or https address.")),
            (self._headers_field, tr("Line {number} is no header.").format(number=bad_line) if bad_line else ""),
            *((field, self._limit_words(n) if n in bad else "") for n, field in self._options.items()),
        )  # fmt: skip
        for field, problem in problems:
            field.set_problem("error", problem)
        self.key.set_problem(key)
        if key or any(problem for _, problem in problems):
            return None
        kind = str(self.kind.currentData())
        made = replace(
            self._shown,
            name=name,
            kind=kind,
            base_url=url,
            key_ref=self.key.reference,
            model=self.model.currentText().strip(),
            headers=headers,
            options=options,
        )
        return replace(made, switches=self.switches.table(kind))

    @staticmethod
    def _limit_words(name: str) -> str:
        low, high = LIMITS.get(name, (0, 0))
        return tr("Enter a number from {low} to {high}.").format(low=f"{low:g}", high=f"{high:g}")


def _set(field: Field, value: object) -> None:
    line = field.editor
    assert isinstance(line, LineField)
    line.show_value(value)


def _text(field: Field) -> str:
    line = field.editor
    assert isinstance(line, LineField)
    return line.text().strip()


def _number(text: str) -> object:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def _headers(text: str) -> tuple[dict[str, str], int]:
    """Headers by name, and the number of the first line that is none (0: all are)."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        name, colon, value = line.partition(":")
        if line.strip() and (not colon or not name.strip()):
            return found, number
        if line.strip():
            found[name.strip()] = value.strip()
    return found, 0
