"""Profiles of model providers: a list, and a form for the chosen one."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from studio.settings.profiles import (
    REFERENCES,
    Profile,
    Profiles,
    clean_base_url,
    presets,
    read_profiles,
    write_profiles,
)
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.text_fields import LineField


class ProvidersPage(QWidget):
    """Changes are kept when *Save* is pressed; a key is only ever a reference."""

    profiles_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._profiles: Profiles = read_profiles()[0]
        self._chosen = self._profiles.find(None) or self._profiles.profiles[0]
        self._list = QListWidget()
        self._list.setObjectName("profiles")
        self._list.setAccessibleName(tr("Model providers"))
        self._list.setFixedWidth(170)
        self._list.setProperty("card", "true")
        self._list.ensurePolished()
        self._add = Button(theme, tr("Add"), "plus", small=True)
        self._name = LineField(theme)
        self._kind = ComboBox(theme)
        self._url = LineField(theme, mono=True)
        self._key = LineField(theme, "env:NAME", mono=True)
        self._model = LineField(theme, mono=True)
        self._name_field = Field(theme, tr("Name"), self._name, resettable=False)
        self._kind_field = Field(theme, tr("Kind"), self._kind, resettable=False)
        self._url_field = Field(theme, tr("Base URL"), self._url, resettable=False)
        self._key_field = Field(
            theme, tr("Key"), self._key, resettable=False,
            hint=tr("Where the key is: env:NAME reads a variable, keychain:ID the system's key store. Never the key."),
        )  # fmt: skip
        self._model_field = Field(
            theme, tr("Model"), self._model, resettable=False, hint=tr("For agents that name no model of their own.")
        )
        self._built_in = Prose(
            theme, tr("Built in. It runs on this computer, needs no network and no key, and answers from the "
                      "workflow's offline script, or with a labelled sample."), "body", "text2",
        )  # fmt: skip
        self._save = Button(theme, tr("Save"), kind="primary", small=True)
        self._remove = Button(theme, tr("Remove"), kind="plain", small=True)
        self._fields = (self._name_field, self._kind_field, self._url_field, self._key_field, self._model_field)
        for kind, preset in presets().items():
            if kind != "offline":
                self._kind.addItem(preset.title, kind)
        self._lay_out()
        self._connect()
        self._show_list()

    def _lay_out(self) -> None:
        title = Label(self._theme, tr("Model providers"), "figure")
        title.setContentsMargins(12, 2, 0, 8)
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self._list, 1)
        left.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        right = QVBoxLayout()
        right.setSpacing(0)
        self._built_in.setContentsMargins(12, 4, 12, 0)
        right.addWidget(self._built_in)
        for field in self._fields:
            right.addWidget(field)
        right.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(12, 10, 12, 0)
        buttons.setSpacing(8)
        buttons.addWidget(self._save)
        buttons.addWidget(self._remove)
        buttons.addStretch(1)
        right.addLayout(buttons)
        row = QHBoxLayout()
        row.setContentsMargins(12, 0, 0, 0)
        row.setSpacing(4)
        row.addLayout(left)
        row.addLayout(right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(0)
        column.addWidget(title)
        column.addLayout(row, 1)

    def _connect(self) -> None:
        self._list.currentRowChanged.connect(self._on_list_current_row_changed)
        self._add.clicked.connect(self._on_add_clicked)
        self._save.clicked.connect(self._on_save_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._kind.activated.connect(self._on_kind_activated)

    def _show_list(self) -> None:
        names = [profile.name for profile in self._profiles.profiles]
        blocked = self._list.blockSignals(True)
        self._list.clear()
        self._list.addItems(names)
        self._list.blockSignals(blocked)
        self._list.setCurrentRow(names.index(self._chosen.name) if self._chosen.name in names else 0)

    def _show_profile(self, profile: Profile) -> None:
        self._chosen = profile
        self._built_in.setVisible(profile.offline)
        for widget in (*self._fields, self._save, self._remove):
            widget.setVisible(not profile.offline)
        for field in self._fields:
            field.set_problem("error", "")
        self._name.show_value(profile.name)
        self._kind.setCurrentIndex(max(0, self._kind.findData(profile.kind)))
        self._url.show_value(profile.base_url)
        self._key.show_value(profile.key_ref)
        self._model.show_value(profile.model)
        self._show_note()

    def _show_note(self) -> None:
        preset = presets().get(str(self._kind.currentData()))
        self._kind_field.set_hint(tr(preset.note) if preset is not None else "")

    def _on_list_current_row_changed(self, row: int) -> None:
        if 0 <= row < len(self._profiles.profiles):
            self._show_profile(self._profiles.profiles[row])

    def _on_add_clicked(self) -> None:
        preset = presets()["openai"]
        taken = {profile.name for profile in self._profiles.profiles}
        names = (preset.title, *(f"{preset.title} {n}" for n in range(2, len(taken) + 3)))
        name = next(n for n in names if n not in taken)
        reference = f"env:{preset.variable}" if preset.variable else ""
        self._keep(self._profiles.with_profile(Profile(name, preset.kind, preset.base_url, reference)), name)
        self._name.setFocus()
        self._name.selectAll()

    def _on_kind_activated(self, _index: int) -> None:
        """A new kind brings its address and variable, unless others were typed."""
        preset = presets()[str(self._kind.currentData())]
        known = presets().values()
        if not self._url.text() or self._url.text() in {p.base_url for p in known}:
            self._url.setText(preset.base_url)
        if not self._key.text() or self._key.text() in {f"env:{p.variable}" for p in known if p.variable}:
            self._key.setText(f"env:{preset.variable}" if preset.variable else "")
        self._show_note()

    def _on_save_clicked(self) -> None:
        name = self._name.text().strip()
        key = self._key.text().strip()
        url = clean_base_url(self._url.text())
        others = {profile.name for profile in self._profiles.profiles if profile.name != self._chosen.name}
        problems = (
            (self._name_field, tr("Enter a name.") if not name else tr("Another provider has this name.")
             if name in others else ""),
            (self._url_field, "" if url.startswith(("http://", "https://")) else tr("Enter an http or https address.")),
            (self._key_field, "" if not key or key.startswith(REFERENCES)
             else tr("Enter where the key is, not the key: env:NAME.")),
        )  # fmt: skip
        for field, problem in problems:
            field.set_problem("error", problem)
        if any(problem for _, problem in problems):
            return
        kind = str(self._kind.currentData())
        made = replace(self._chosen, name=name, kind=kind, base_url=url, key_ref=key, model=self._model.text().strip())
        kept = self._profiles
        was_default = kept.default == self._chosen.name
        if name != self._chosen.name:
            kept = kept.without(self._chosen.name)
        kept = kept.with_profile(made)
        self._keep(replace(kept, default=name) if was_default else kept, name)

    def _on_remove_clicked(self) -> None:
        self._keep(self._profiles.without(self._chosen.name), self._profiles.default)

    def _keep(self, profiles: Profiles, chosen: str) -> None:
        try:
            write_profiles(profiles)
        except OSError as error:
            reason = tr("The providers could not be saved: {reason}").format(reason=error.strerror or error)
            self._name_field.set_problem("error", reason)
            return
        self._profiles = profiles
        self._chosen = profiles.find(chosen) or profiles.profiles[0]
        self._show_list()
        self._show_profile(self._chosen)
        self.profiles_changed.emit()
