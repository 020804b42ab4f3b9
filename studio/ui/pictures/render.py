"""A drawing as SVG or PNG: the items of the canvas, painted without a window."""

from __future__ import annotations

import re

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtWidgets import QGraphicsItem

from studio.bridge.document_model import DocumentModel
from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.export.diagram import printable
from studio.export.picture_look import PictureLook
from studio.files import dumps
from studio.files.embedding import into_png, into_svg
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.scene import CanvasScene
from studio.ui.theme import Theme

MARGIN = 24.0
"""Around the drawing, in scene units; badges and labels reach into it."""
LARGEST = 16_000
"""Pixels of the longer side of a PNG; a larger one is scaled down to it."""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_FALLBACKS = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif"


class _Stage:
    """A scene of its own, without selection, run and problems."""

    def __init__(self, workflow: Workflow, look: PictureLook, *, shadows: bool) -> None:
        self._theme = Theme(look.scheme)
        self._workspace = Workspace(DocumentModel(workflow), RunModel())
        self.scene = CanvasScene(self._theme)
        self.scene.shows_problems = False
        self.scene.look.shadows = shadows
        self.scene.set_workspace(self._workspace)
        for item in self.scene.items():
            item.setCacheMode(QGraphicsItem.CacheMode.NoCache)
        area = self.scene.bounds()
        for chip in self.scene.line_layer.chips.values():
            area |= chip.rect
        for item in self.scene.drawn.values():
            area |= item.chip_room if isinstance(item, JunctionItem) else QRectF()
        self.area = (area if area.isValid() else QRectF(0, 0, 320, 120)).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)

    def paint(self, painter: QPainter, target: QRectF, look: PictureLook) -> None:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        if not look.transparent:
            painter.fillRect(target, self._theme.color("canvas"))
        self.scene.render(painter, target, self.area)

    def close(self) -> None:
        self.scene.set_workspace(None)
        self._workspace.deleteLater()
        self.scene.deleteLater()


def as_png(workflow: Workflow, look: PictureLook) -> bytes:
    """The drawing as PNG. Needs a ``QApplication``, no display."""
    stage = _Stage(workflow, look, shadows=True)
    try:
        longer = max(stage.area.width(), stage.area.height())
        scale = min(look.scale, LARGEST / longer)
        size = QSize(max(1, round(stage.area.width() * scale)), max(1, round(stage.area.height() * scale)))
        image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        stage.paint(painter, QRectF(image.rect()), look)
        painter.end()
    finally:
        stage.close()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    png = bytes(buffer.data().data())
    return into_png(png, dumps(workflow)) if look.embed else png


def as_svg(workflow: Workflow, look: PictureLook) -> str:
    """The drawing as SVG; text stays text. Needs a ``QApplication``, no display."""
    from PySide6.QtSvg import QSvgGenerator

    stage = _Stage(workflow, look, shadows=False)
    try:
        size = QSize(round(stage.area.width()), round(stage.area.height()))
        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(size)
        generator.setViewBox(QRect(0, 0, size.width(), size.height()))
        generator.setResolution(96)
        generator.setTitle(printable(workflow.name))
        generator.setDescription(printable(workflow.description))
        painter = QPainter(generator)
        stage.paint(painter, QRectF(0, 0, size.width(), size.height()), look)
        painter.end()
    finally:
        stage.close()
    svg = _NO_XML.sub("", bytes(buffer.data().data()).decode())
    svg = re.sub(r'font-family="[^"]*"', f'font-family="{_FALLBACKS}"', svg)
    return into_svg(svg, dumps(workflow)) if look.embed else svg
