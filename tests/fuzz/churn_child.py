"""Adds, deletes, undoes and redoes a thousand times on a shown canvas, then quits; prints object counts."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QEvent, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.ui.canvas import CanvasView
from studio.ui.theme import Theme, fonts

from tests.ui.canvas.drawings import research_brief
from tests.ui.canvas.fake_run import FakeRun

WARM_UP, ROUNDS = 98, 1_001
"""Whole turns of the kinds, so that the undo stack holds the same at the end of both."""
KINDS = ("agent", "switch", "join", "fan_out", "note", "function", "template")
UNDO_LIMIT = 50


def main() -> int:
    messages: list[str] = []

    def heard(kind: QtMsgType, _where: object, text: str) -> None:
        if kind != QtMsgType.QtDebugMsg and "propagateSizeHints" not in text:
            messages.append(text)

    qInstallMessageHandler(heard)
    app = QApplication(sys.argv)
    fonts.register()
    fonts.load()
    theme = Theme("light")
    document = DocumentModel(research_brief())
    document.undo_stack.setUndoLimit(UNDO_LIMIT)
    workspace = Workspace(document, FakeRun())
    view = CanvasView(theme)
    view.resize(900, 600)
    view.set_workspace(workspace)
    view.show()
    churn(app, view, WARM_UP)
    before = counted(view)
    churn(app, view, ROUNDS)
    after = counted(view)
    view.set_workspace(None)
    view.close()
    view.deleteLater()
    workspace.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    print(json.dumps({"before": before, "after": after, "messages": messages}))
    qInstallMessageHandler(None)
    return 0


def churn(app: QApplication, view: CanvasView, rounds: int) -> None:
    """Each round adds, connects, deletes, undoes all of it and redoes it."""
    assert view.workspace is not None
    stack = view.workspace.document.undo_stack
    for number in range(rounds):
        new_id = view.add_node(KINDS[number % len(KINDS)])
        assert new_id is not None
        view.connect_items("planner", new_id)
        view.select((new_id,))
        view.delete_selection()
        for _ in range(2):
            stack.undo()
            view.canvas_scene.flush()
        stack.redo()
        stack.redo()
        view.canvas_scene.flush()
        if number % 20 == 0:
            app.processEvents()
    app.processEvents()


def counted(view: CanvasView) -> Mapping[str, int]:
    """What must not grow: items of the scene, Qt children, Python objects of the program by type."""
    gc.collect()
    found: dict[str, int] = {"items": len(view.canvas_scene.items()), "children": len(view.findChildren(object))}
    for thing in gc.get_objects():
        kind = type(thing)
        if kind.__module__.startswith("studio."):
            found[kind.__name__] = found.get(kind.__name__, 0) + 1
    return found


if __name__ == "__main__":
    sys.exit(main())
