"""Profiles of model providers: a list, and a form for the chosen one."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from studio.bridge.provider_model import ProviderModel
from studio.settings.profiles import Profile, Profiles, change_profiles, presets, read_profiles
from studio.ui.settings_dialog.probe_dialog import ProbeDialog
from studio.ui.settings_dialog.profile_form import ProfileForm
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose


class ProvidersPage(QWidget):
    """Changes are kept when *Save* is pressed; a file only ever holds references to keys."""

    profiles_changed = Signal()

    def __init__(self, theme: Theme, model: ProviderModel | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model or ProviderModel(parent=self)
        self._profiles: Profiles = read_profiles()[0]
        self._chosen = self._profiles.find(None) or self._profiles.profiles[0]
        self._waiting: Profile | None = None
        """What is kept as soon as its key is stored."""
        self._then_test = False
        """Whether it is tested then."""
        self._list = QListWidget()
        self._list.setObjectName("profiles")
        self._list.setAccessibleName(tr("Model providers"))
        self._list.setFixedWidth(150)
        self._list.setProperty("card", "true")
        self._list.ensurePolished()
        self._add = Button(theme, tr("Add"), "plus", small=True)
        self.form = ProfileForm(theme, self._model)
        self._built_in = Prose(
            theme, tr("Built in. It runs on this computer, needs no network and no key, and answers from the "
                      "workflow's offline script, or with a labelled sample."), "body", "text2",
        )  # fmt: skip
        self._said = Prose(theme, "", "small", "fail_t", 15)
        self._save = Button(theme, tr("Save"), kind="primary", small=True)
        self._test = Button(theme, tr("Test connection…"), small=True)
        self._default = Button(theme, tr("Use by default"), kind="plain", small=True)
        self._remove = Button(theme, tr("Remove"), kind="plain", small=True)
        self._lay_out()
        self._connect()
        self._show_list()
        self._model.check_keychain()

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
        self._said.setContentsMargins(12, 6, 12, 0)
        right.addWidget(self._built_in)
        right.addWidget(self.form, 1)
        right.addWidget(self._said)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(12, 10, 12, 0)
        buttons.setSpacing(8)
        for button in (self._save, self._test, self._default, self._remove):
            buttons.addWidget(button)
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
        self._test.clicked.connect(self._on_test_clicked)
        self._default.clicked.connect(self._on_default_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._model.key_stored.connect(self._on_model_key_stored)
        self._model.key_refused.connect(self._on_model_key_refused)

    def _show_list(self) -> None:
        names = [profile.name for profile in self._profiles.profiles]
        blocked = self._list.blockSignals(True)
        self._list.clear()
        self._list.addItems(names)
        self._list.blockSignals(blocked)
        self._list.setCurrentRow(names.index(self._chosen.name) if self._chosen.name in names else 0)

    def _show_profile(self, profile: Profile) -> None:
        self._chosen = profile
        self._waiting = None
        self._say("")
        self._built_in.setVisible(profile.offline)
        for widget in (self.form, self._save, self._test, self._remove):
            widget.setVisible(not profile.offline)
        self._default.setEnabled(profile.name != self._profiles.default)
        self._default.setToolTip("" if self._default.isEnabled() else tr("Agents that name no provider use it"))
        if not profile.offline:
            self.form.show_profile(profile)

    def _say(self, text: str) -> None:
        self._said.set_text(text)
        self._said.setVisible(bool(text))

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
        self.form.name.editor.setFocus()
        self.form.name.editor.selectAll()  # type: ignore[attr-defined]

    def _on_save_clicked(self) -> None:
        others = {profile.name for profile in self._profiles.profiles if profile.name != self._chosen.name}
        made = self.form.profile(lambda name: name in others)
        if made is None:
            return
        typed, kind = self.form.key.typed, self.form.key.kind
        if typed and kind in ("keychain", "session"):
            self._waiting = made
            self._save.setEnabled(False)
            self._model.store_key(typed, kind, self._chosen.key_ref)  # type: ignore[arg-type]
            return
        self._replace(made)

    def _on_model_key_stored(self, reference: str) -> None:
        self._save.setEnabled(True)
        if self._waiting is None:
            return
        test, self._then_test = self._then_test, False
        self._replace(replace(self._waiting, key_ref=reference))
        if test:
            self._open_test()

    def _on_model_key_refused(self, problem: str) -> None:
        self._save.setEnabled(True)
        self._waiting, self._then_test = None, False
        self.form.key.set_problem(problem)

    def _replace(self, made: Profile) -> None:
        """Keeps a profile in the place of the chosen one."""
        before = self._chosen.key_ref
        if before != made.key_ref and before.startswith(("keychain:", "session:")):
            self._model.forget_key(before)  # nothing refers to it any more
        kept = self._profiles
        was_default = kept.default == self._chosen.name
        if made.name != self._chosen.name:
            kept = kept.without(self._chosen.name)
        kept = kept.with_profile(made)
        self._keep(replace(kept, default=made.name) if was_default else kept, made.name)

    def _on_test_clicked(self) -> None:
        if not self.form.model.currentText().strip():
            self.form.model_field.set_problem("error", tr("Enter the model that is to be tested."))
            return
        others = {profile.name for profile in self._profiles.profiles if profile.name != self._chosen.name}
        if self.form.profile(lambda name: name in others) is None:
            return
        self._then_test = bool(self.form.key.typed)
        self._on_save_clicked()
        if not self._then_test:
            self._open_test()

    def _open_test(self) -> None:
        dialog = ProbeDialog(self._theme, self._model, self._chosen, self)
        dialog.taken.connect(self._replace)
        dialog.open()

    def _on_default_clicked(self) -> None:
        self._keep(replace(self._profiles, default=self._chosen.name), self._chosen.name)

    def _on_remove_clicked(self) -> None:
        if self._chosen.key_ref.startswith(("keychain:", "session:")):
            self._model.forget_key(self._chosen.key_ref)
        self._keep(self._profiles.without(self._chosen.name), self._profiles.default)

    def _keep(self, profiles: Profiles, chosen: str) -> None:
        try:
            profiles = change_profiles(self._profiles, profiles)
        except OSError as error:
            self._say(tr("The providers could not be saved: {reason}").format(reason=error.strerror or error))
            return
        self._profiles = profiles
        self._chosen = profiles.find(chosen) or profiles.profiles[0]
        self._show_list()
        self._show_profile(self._chosen)
        self.profiles_changed.emit()
