"""Where the key of a provider is: the key store of the computer, a variable, or memory until the program ends."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from studio.bridge.provider_model import ProviderModel
from studio.settings.secrets import KeychainState
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.field import Field
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField


class KeyField(QWidget):
    """Holds a reference and, while one is typed, a key. The key itself leaves only through :attr:`typed`."""

    edited = Signal()

    def __init__(self, theme: Theme, model: ProviderModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._reference = ""
        self._usable: KeychainState | None = None
        choices = (
            ("keychain", tr("Key store")), ("env", tr("Variable")), ("session", tr("This session")), ("", tr("None")),
        )  # fmt: skip
        self._where = SegmentedControl(theme, choices)
        self._where.setObjectName("profile.key_kind")
        self._variable = LineField(theme, "OPENAI_API_KEY", mono=True)
        self._variable.setObjectName("profile.key_variable")
        self._key = LineField(theme, mono=True)
        self._key.setObjectName("profile.key")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self.field = Field(theme, tr("Key"), self._where, resettable=False)
        self._variable_field = Field(theme, tr("Name of the variable"), self._variable, resettable=False)
        self._key_field = Field(theme, tr("The key"), self._key, resettable=False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for field in (self.field, self._variable_field, self._key_field):
            column.addWidget(field)
        self._where.edited.connect(self._on_where_edited)
        self._variable.edited.connect(self.edited)
        self._key.edited.connect(self.edited)
        model.keychain_known.connect(self._on_keychain_known)

    @property
    def kind(self) -> str:
        """``keychain``, ``env``, ``session`` or "" for none."""
        return str(self._where.value or "")

    @property
    def typed(self) -> str:
        """A key that was typed and is not stored yet."""
        return self._key.text().strip() if self.kind in ("keychain", "session") else ""

    @property
    def reference(self) -> str:
        """The reference as it is now; of a typed key the one it replaces."""
        if self.kind == "env":
            name = self._variable.text().strip().removeprefix("env:")
            return f"env:{name}" if name else ""
        return self._reference if self.kind and self._reference.startswith(f"{self.kind}:") else ""

    @property
    def problem(self) -> str:
        """What is missing; empty if nothing is."""
        if self.kind == "env" and not self.reference:
            return tr("Enter the name of the variable.")
        if self.kind in ("keychain", "session") and not self.typed and not self.reference:
            return tr("Type the key.")
        return ""

    def show_reference(self, reference: str) -> None:
        """Shows where a key is."""
        self._reference = reference
        kind, _, name = reference.partition(":")
        self._where.show_value(kind)
        self._variable.show_value(name if kind == "env" else "")
        self._key.clear()
        self._show()

    def suggest(self, variable: str) -> None:
        """The usual variable of a kind, unless another place was chosen."""
        if self.kind in ("", "env"):
            self.show_reference(f"env:{variable}" if variable else "")

    def set_problem(self, text: str) -> None:
        """Shows what is wrong."""
        shown = self._variable_field if self.kind == "env" else self._key_field if self.kind else self.field
        for field in (self.field, self._variable_field, self._key_field):
            field.set_problem("error", text if field is shown else "")

    def _show(self) -> None:
        self._variable_field.setVisible(self.kind == "env")
        self._key_field.setVisible(self.kind in ("keychain", "session"))
        stored = bool(self.reference) and self.kind != "env"
        self._key.setPlaceholderText(tr("stored; type to replace it") if stored else tr("paste the key"))
        hints = {
            "keychain": tr("Kept by this computer; the profile holds a reference only."),
            "env": tr("Read when it is used, never kept."),
            "session": tr("Kept in memory until the program ends, in no file."),
            "": tr("For servers that want none."),
        }
        hint = hints[self.kind]
        if self._usable is not None and not self._usable.usable:
            hint = f"{self._usable.reason} " + tr("A typed key is kept for this session only.")
        self.field.set_hint(hint)
        self.set_problem("")

    def _on_where_edited(self, value: object) -> None:
        if value == "keychain" and self._usable is not None and not self._usable.usable:
            self._where.show_value("session")
        self._show()
        self.edited.emit()

    def _on_keychain_known(self, state: KeychainState) -> None:
        self._usable = state
        self._show()
