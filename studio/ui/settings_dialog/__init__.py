"""The settings."""

from studio.ui.settings_dialog.dialog import SettingsDialog

__all__ = ["SettingsDialog"]
