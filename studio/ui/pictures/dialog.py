"""*Export picture…*: kind, colours, size; preview; save or copy."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.document.model import Workflow
from studio.export.dot import dot
from studio.export.mermaid import mermaid
from studio.export.picture_look import PictureLook
from studio.ui.dialogs.file_dialogs import choose_new
from studio.ui.dialogs.messages import show_problem
from studio.ui.pictures.render import as_png, as_svg
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import TextBox

_ENDINGS = {"png": ".png", "svg": ".svg", "mermaid": ".mmd", "dot": ".dot"}
_PREVIEW = (420, 236)
LARGE = 400
"""Nodes from which on there is no preview: making it would hold the window for a moment at every choice."""


class PictureDialog(QDialog):
    """Nothing is written before *Save…*."""

    def __init__(self, theme: Theme, workflow: Workflow, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._workflow, self._folder = theme, workflow, folder
        self.setObjectName("picture_dialog")
        self.setWindowTitle(tr("Export picture"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.kind = self._segments(
            "kind", ("png", "PNG"), ("svg", "SVG"), ("mermaid", "Mermaid"), ("dot", "Graphviz DOT")
        )
        self.scheme = self._segments("scheme", ("light", tr("Light")), ("dark", tr("Dark")))
        self.scale = self._segments("scale", ("1", "1×"), ("2", "2×"), ("3", "3×"), ("4", "4×"))
        self.transparent = CheckBox(theme, tr("Transparent background"))
        self.embed = CheckBox(theme, tr("Keep the workflow inside, so that the picture can be opened again"))
        self.said = Prose(theme, "", "small", "muted", 15)
        self._preview = _Preview(theme)
        self._text = TextBox(theme)
        self._text.setReadOnly(True)
        self._shown = QStackedWidget()
        self._shown.addWidget(self._preview)
        self._shown.addWidget(self._text)
        self._shown.setFixedSize(*_PREVIEW)
        self.kind.show_value("png")
        self.scheme.show_value(theme.scheme)
        self.scale.show_value("2")
        self._build()
        self._refresh()

    # ---- made

    @property
    def look(self) -> PictureLook:
        """As it is chosen now."""
        scheme = cast(Literal["light", "dark"], self.scheme.value)
        return PictureLook(scheme, self.transparent.isChecked(), float(str(self.scale.value)), self.embed.isChecked())

    @property
    def ending(self) -> str:
        """The ending of the file."""
        return _ENDINGS[str(self.kind.value)]

    def made(self) -> bytes:
        """What would be saved now."""
        match self.kind.value:
            case "png":
                return as_png(self._workflow, self.look)
            case "svg":
                return as_svg(self._workflow, self.look).encode()
            case "dot":
                return dot(self._workflow).encode()
        return mermaid(self._workflow).encode()

    def save(self, file: Path) -> None:
        """Writes the file and closes; says why if that does not work."""
        file = file if file.suffix else file.with_name(file.name + self.ending)
        try:
            file.write_bytes(self.made())
        except OSError as error:
            detail = f"{error.strerror or error}. {tr('Choose another folder.')}"
            show_problem(self._theme, self, tr("{name} could not be written.").format(name=file.name), detail)
            return
        self.accept()

    def copy(self) -> None:
        """To the clipboard: an image, or text."""
        made = self.made()
        clipboard = QGuiApplication.clipboard()
        if self.kind.value == "png":
            clipboard.setImage(QImage.fromData(made))
        else:
            clipboard.setText(made.decode())
        self.said.setText(tr("Copied."))

    # ---- building

    def _segments(self, name: str, *choices: tuple[str, str]) -> SegmentedControl:
        made = SegmentedControl(self._theme, choices)
        made.setObjectName(f"picture.{name}")
        made.edited.connect(made.show_value)
        made.edited.connect(self._refresh)
        return made

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        column.addWidget(Field(self._theme, tr("Kind"), self.kind, resettable=False, margins=(0, 4, 0, 0)))
        column.addWidget(self._shown)
        self._only_pictures = [
            Field(self._theme, tr("Colours"), self.scheme, resettable=False, margins=(0, 4, 0, 0)),
            Field(self._theme, tr("Pixels per unit"), self.scale, resettable=False, margins=(0, 4, 0, 0)),
            self.transparent,
            self.embed,
        ]
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(self._only_pictures[0])
        row.addWidget(self._only_pictures[1])
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.transparent)
        column.addWidget(self.embed)
        column.addWidget(self.said)
        self.transparent.toggled.connect(self._refresh)
        buttons = QHBoxLayout()
        close = Button(self._theme, tr("Close"))
        close.clicked.connect(self.reject)
        copy = Button(self._theme, tr("Copy"), "copy")
        copy.clicked.connect(self.copy)
        save = Button(self._theme, tr("Save…"), kind="primary")
        save.setDefault(True)
        save.clicked.connect(self._ask_target)
        buttons.addWidget(copy)
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(save)
        column.addLayout(buttons)

    def _refresh(self, _chosen: object = None) -> None:
        kind = self.kind.value
        picture = kind in ("png", "svg")
        for widget in self._only_pictures:
            widget.setVisible(picture)
        self._only_pictures[1].setVisible(kind == "png")
        self._shown.setCurrentIndex(0 if picture else 1)
        self.said.setText("")
        if not picture:
            self._text.setPlainText(self.made().decode())
        elif len(self._workflow.nodes) > LARGE:
            self._preview.show_text(tr("No preview of a drawing of this size."))
        else:
            look = PictureLook(self.look.scheme, self.look.transparent, 1.0)
            self._preview.show_image(QImage.fromData(as_png(self._workflow, look)))

    def _ask_target(self) -> None:
        suggestion = self._folder / f"{self._workflow.name or 'workflow'}{self.ending}".replace("/", "-")
        choose_new(self, tr("Export picture"), suggestion, self.save)


class _Preview(QWidget):
    """The picture, fitted; behind a transparent one a chequered ground."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image = QImage()
        self._text = ""
        self.setAccessibleName(tr("Preview"))

    def show_image(self, image: QImage) -> None:
        """Shows a picture."""
        self._image, self._text = image, ""
        self.update()

    def show_text(self, text: str) -> None:
        """Shows a sentence instead."""
        self._image, self._text = QImage(), text
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("sunken"))
        if self._text:
            painter.setPen(self._theme.color("muted"))
            painter.setFont(self._theme.font("body"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)
            return
        size = self._image.size().scaled(self.size() * 0.94, Qt.AspectRatioMode.KeepAspectRatio)
        pixels = self.devicePixelRatioF()
        smooth = self._image.scaled(size * pixels, mode=Qt.TransformationMode.SmoothTransformation)
        target = QRectF(
            (self.width() - size.width()) / 2, (self.height() - size.height()) / 2, size.width(), size.height()
        )
        painter.drawImage(target, smooth)
