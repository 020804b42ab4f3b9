"""The pages and dialogs that the window opens besides workflows; imported when they are first shown."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from studio.settings.places import resource
from studio.ui.text import tr
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.importers import Imported
    from studio.ui.main_window import MainWindow


class Pages:
    """Welcome, exported code, settings."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def show_welcome(self) -> None:
        """The welcome page, as the only thing or as a tab."""
        from studio.ui.welcome import WelcomePage

        window = self._window
        for page in window.tabs.pages():
            if isinstance(page, WelcomePage):
                window.tabs.show_page(page)
                return
        page = WelcomePage(window.theme)
        page.new_requested.connect(self._on_welcome_new_requested)
        page.open_requested.connect(window.files.ask_open)
        page.import_requested.connect(self.ask_import)
        page.file_chosen.connect(window.files.open)
        page.template_chosen.connect(window.files.new_from_template)
        page.recovery_chosen.connect(window.files.recover)
        page.guide_chosen.connect(self._on_welcome_guide_chosen)
        page.providers_requested.connect(partial(self.show_settings, "providers"))
        window.files.recent_changed.connect(page.refresh_recent)
        window.tabs.add(page, tr("Welcome"), "house")
        # Without it the first button of the tool bar would begin with a focus ring.
        page.setFocus()

    def show_help(self, name: str) -> None:
        """A page of help beside the work; one window for all."""
        from studio.ui.help import HelpWindow

        found = self._window.findChild(HelpWindow)
        shown = found
        if shown is None:
            shown = HelpWindow(self._window.theme, self._window)
            # Beside the canvas, over the inspector, which the tour opens when it is needed.
            area = self._window.geometry()
            shown.move(area.right() - shown.width() - 24, area.top() + 64)
        shown.show_page(name)
        shown.show()
        shown.raise_()

    def _on_welcome_guide_chosen(self, name: str) -> None:
        if name == "debugger":
            self.show_help(name)
            return
        self._window.files.new_from_template(resource("templates") / "research-brief.workflow.json")
        if name == "tour":
            self.show_help(name)
        elif self._window.page is not None:
            self.show_export(self._window.page)

    def show_export(self, page: WorkflowPage) -> None:
        """The code that a workflow becomes, in a tab of its own."""
        from studio.ui.exporting import ExportPage

        window = self._window
        for other in window.tabs.pages():
            if isinstance(other, ExportPage) and other.workspace is page.workspace:
                window.tabs.show_page(other)
                return
        made = ExportPage(window.theme)
        made.set_workspace(page.workspace)
        made.said.connect(window.say)
        made.checked.connect(window.schedule_refresh)
        made.node_chosen.connect(partial(self._on_export_node_chosen, page))
        window.tabs.add(made, tr("Export to Python"), "own:code", page.workspace.document.workflow.name)

    def show_picture(self, page: WorkflowPage) -> None:
        """The dialog that makes a picture of a drawing."""
        from studio.ui.pictures.dialog import PictureDialog

        document = page.workspace.document
        folder = document.path.parent if document.path is not None else Path.home()
        PictureDialog(self._window.theme, document.workflow, folder, self._window).open()

    def ask_import(self) -> None:
        """Asks for a file of another program and shows what becomes of it."""
        from studio.ui.dialogs.file_dialogs import choose_import

        page = self._window.page
        path = page.workspace.document.path if page is not None else None
        choose_import(self._window, path.parent if path is not None else Path.home(), self.show_import)

    def show_import(self, file: Path) -> None:
        """What becomes of a file of another program."""
        from studio.ui.importing import ImportDialog

        page = self._window.page
        interpreter = page.workspace.document.workflow.interpreter if page is not None else None
        dialog = ImportDialog(self._window.theme, file, interpreter or "", self._window)
        dialog.taken.connect(self._take_import)
        dialog.open()

    def _take_import(self, found: Imported) -> None:
        """Opens what was imported; what it names from elsewhere is mapped in one step."""
        from studio.ui.dialogs.provider_sheet import is_needed

        self._window.files.new_from_import(found)
        page = self._window.page
        if found.edits:
            self._window.sides.show_panel("versions")
        asked = QApplication.activeModalWidget() is not None  # opening a workflow asks for unknown profiles itself
        if found.before is None and page is not None and not asked and is_needed(page.workspace):
            self.map_providers(page, {e.item for e in found.report.entries if e.code == "model_unmapped"})

    def show_import_report(self, page: WorkflowPage) -> None:
        """What became of the items of the file that a workflow was imported from, beside the drawing."""
        from studio.ui.dialogs.provider_sheet import is_needed
        from studio.ui.importing import ImportReportWindow

        record = page.workspace.document.workflow.imported
        if record is None:
            self._window.say(tr("This workflow was not imported from a file of another program."))
            return
        maps = is_needed(page.workspace) and not page.workspace.document.read_only
        report = ImportReportWindow(self._window.theme, page.workspace, record, maps, self._window)
        report.mapping_requested.connect(partial(self.map_providers, page))
        page.destroyed.connect(report.close)
        report.show()

    def show_comparison(self, page: WorkflowPage, a: str, b: str) -> None:
        """Two branches or checkpoints in a tab of their own; a tab of the same two is shown again."""
        from studio.ui.compare import ComparePage

        window = self._window
        for other in window.tabs.pages():
            if isinstance(other, ComparePage) and other.workspace is page.workspace and other.keys == (a, b):
                other.compare(a, b)
                window.tabs.show_page(other)
                return
        made = ComparePage(window.theme, page.workspace, a, b)
        made.node_chosen.connect(page.workspace.selection.reveal)
        window.tabs.add(made, made.title, "columns-2")
        made.title_changed.connect(lambda: window.tabs.describe(made, made.title, False, made.title))
        made.view.setFocus()

    def map_providers(self, page: WorkflowPage, unmapped: Collection[str] = ()) -> None:
        """The sheet for what a workflow names and this computer does not have: providers, models, tools without code.
        ``unmapped``: ids of nodes whose provider an import found not to be available."""
        from studio.ui.dialogs.provider_sheet import ProviderSheet, is_needed

        window = self._window
        if not is_needed(page.workspace):
            window.say(tr("Every provider that this workflow names is set up, and every tool has its code."))
            return
        sheet = ProviderSheet(window.theme, page.workspace, window, unmapped)
        sheet.settings_requested.connect(partial(self.show_settings, "providers"))
        sheet.open()

    def map_providers_if_needed(self, page: WorkflowPage) -> None:
        """Shows that sheet for a workflow that was just opened, unless another dialog is in front."""
        from studio.ui.dialogs.provider_sheet import unknown_names

        editable = not page.workspace.document.read_only
        if editable and QApplication.activeModalWidget() is None and unknown_names(page.workspace):
            self.map_providers(page)

    def show_settings(self, section: str = "appearance") -> None:
        """The settings dialog."""
        from studio.ui.settings_dialog import SettingsDialog

        window = self._window
        providers = window.files.workspaces.providers
        dialog = SettingsDialog(window.theme, window.preferences, section, window, provider_model=providers)
        dialog.preferences_changed.connect(window.apply_preferences)
        dialog.profiles_changed.connect(window.refresh_profiles)
        dialog.open()

    def _on_welcome_new_requested(self) -> None:
        self._window.files.new()

    def _on_export_node_chosen(self, page: WorkflowPage, node: str) -> None:
        self._window.tabs.show_page(page)
        page.workspace.selection.reveal(node)
