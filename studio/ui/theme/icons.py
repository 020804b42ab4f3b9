"""Icons: Lucide from its package, own glyphs from ``resources/icons``; recoloured, cached by look."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from studio.settings.places import resource


@cache
def _lucide() -> zipfile.ZipFile:
    return zipfile.ZipFile(str(resources.files("justmyresource_lucide") / "icons.zip"))


@cache
def svg(name: str) -> str:
    """The SVG text of an icon: ``own:NAME`` for a glyph of this project, else a Lucide name. Raises ``KeyError``."""
    if name.startswith("own:"):
        path = resource("icons", f"{name[4:]}.svg")
        if not path.is_file():
            raise KeyError(name)
        return path.read_text(encoding="utf-8")
    text = _lucide().read(f"{name}.svg").decode("utf-8")
    return text.replace('stroke-width="2"', 'stroke-width="2.25"')


def coloured(name: str, color: str) -> str:
    """The SVG text of an icon with its current colour replaced."""
    return svg(name).replace("currentColor", color)


@cache
def pixmap(name: str, size: int, color: str, ratio: float) -> QPixmap:
    """An icon of ``size`` device-independent pixels in ``color`` (``#RRGGBB``)."""
    pixels = max(1, round(size * ratio))
    image = QPixmap(pixels, pixels)
    image.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(coloured(name, color).encode()))
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


class IconEngine(QIconEngine):
    """Renders one SVG at the size and ratio that is asked for, in the colour that ``color_of`` gives for the mode now:
    an icon made once follows every change of the theme."""

    def __init__(self, name: str, color_of: Callable[[QIcon.Mode], str]) -> None:
        super().__init__()
        self._name = name
        self._color_of = color_of

    def clone(self) -> QIconEngine:
        return IconEngine(self._name, self._color_of)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        image = self.scaledPixmap(rect.size(), mode, state, ratio)
        side = min(rect.width(), rect.height())
        corner = QPoint(rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2)
        painter.drawPixmap(corner, image)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        return pixmap(self._name, min(size.width(), size.height()), self._color_of(mode), scale)

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = min(size.width(), size.height())
        return QSize(side, side)

    def isNull(self) -> bool:
        return False
