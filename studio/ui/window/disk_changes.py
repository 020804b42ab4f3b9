"""Tells pages that another program changed their file or took it away."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject

from studio.files import Stamp
from studio.ui.window.disk_watch import DiskWatch
from studio.ui.window.workflow_page import WorkflowPage


class DiskChanges(QObject):
    """Knows what was last read from or written to the file of each page."""

    def __init__(self, documents: Callable[[], Iterable[WorkflowPage]], parent: QObject) -> None:
        super().__init__(parent)
        self._documents = documents
        self._stamps: dict[WorkflowPage, Stamp] = {}
        self._told: dict[WorkflowPage, Stamp | None] = {}
        """What was on disk when its change was last told; None: nothing any more."""
        self._watch = DiskWatch(self._watched, self)
        self._watch.touched.connect(self._on_watch_touched)
        self.refresh = self._watch.refresh

    def settle(self, page: WorkflowPage, stamp: Stamp | None) -> None:
        """The page shows what is in its file, or has just written it."""
        if stamp is not None:
            self._stamps[page] = stamp
        self._told.pop(page, None)
        page.disk_bar.hide()
        if page.workspace.compared.is_disk:  # with a file that is no longer so
            page.workspace.compared.close()

    def forget(self, page: WorkflowPage) -> None:
        """The page is closed."""
        self._stamps.pop(page, None)
        self._told.pop(page, None)

    def differs(self, page: WorkflowPage, path: Path) -> bool:
        """Whether another program changed the file since the page read or wrote it."""
        stamp = self._stamps.get(page)
        return stamp is not None and path.absolute() == page.workspace.document.path and stamp.differs(path)

    def keep_mine(self, page: WorkflowPage) -> None:
        """The next save replaces what is on disk without asking again."""
        told = self._told.get(page)
        if told is not None:
            self._stamps[page] = told
            del self._told[page]
        page.disk_bar.hide()
        page.workspace.document.undo_stack.resetClean()

    def _watched(self) -> list[Path]:
        return [path for page in self._documents() if (path := page.workspace.document.path) is not None]

    def _on_watch_touched(self) -> None:
        """Tells of files that are no longer what was read or saved here."""
        for page in self._documents():
            path, stamp = page.workspace.document.path, self._stamps.get(page)
            if path is None or stamp is None:
                continue
            if not path.exists():
                self._tell_gone(page, path)
            elif not stamp.differs(path):
                page.disk_bar.hide()
                self._told.pop(page, None)
            elif (told := self._told.get(page)) is None or told.differs(path):
                with contextlib.suppress(OSError):
                    self._told[page] = Stamp.of(path.read_bytes(), path.stat())
                    page.disk_bar.tell(path.name, dirty=page.workspace.document.dirty)

    def _tell_gone(self, page: WorkflowPage, path: Path) -> None:
        """The window has the only copy now: closing it asks."""
        if page not in self._told or self._told[page] is not None:
            self._told[page] = None
            page.workspace.document.undo_stack.resetClean()
            page.disk_bar.tell_gone(path.name)
