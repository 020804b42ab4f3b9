"""Icons: Lucide from its package, own glyphs from ``resources/icons``; recoloured, cached by name, size, colour, ratio."""

from __future__ import annotations

import zipfile
from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap
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


@cache
def pixmap(name: str, size: int, color: str, ratio: float) -> QPixmap:
    """An icon of ``size`` device-independent pixels in ``color`` (``#RRGGBB``)."""
    pixels = round(size * ratio)
    image = QPixmap(pixels, pixels)
    image.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(svg(name).replace("currentColor", color).encode()))
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image
