"""Pictures for the command line: without a display, without a window."""

from __future__ import annotations

import os

from studio.document.model import Workflow
from studio.export.picture_look import PictureKind, PictureLook


def draw(workflow: Workflow, to: PictureKind, look: PictureLook) -> bytes:
    """The picture as the bytes of a file. Makes the application if there is none yet."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from studio.ui.app import make_application
    from studio.ui.pictures import as_png, as_svg

    application = QApplication.instance() or make_application()
    made = as_png(workflow, look) if to == "png" else as_svg(workflow, look).encode()
    application.processEvents()
    return made
