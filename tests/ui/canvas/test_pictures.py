"""Pictures of a drawing."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from pytestqt.qtbot import QtBot
from studio.document.model import AgentNode, Place, Workflow
from studio.export.dot import dot
from studio.files import read_workflow
from studio.settings.places import resource
from studio.ui.pictures import PictureLook, as_png, as_svg
from studio.ui.pictures.dialog import PictureDialog
from studio.ui.theme import Theme
from tests.export.test_diagrams import every_kind
from tests.fuzz.names import NASTY

BRIEF = resource("templates") / "research-brief.workflow.json"


def image(png: bytes) -> QImage:
    found = QImage()
    assert found.loadFromData(QByteArray(png))
    return found


def test_a_png_has_the_size_of_the_drawing_and_the_colours_of_the_scheme(qtbot: QtBot) -> None:
    flow = Workflow(nodes=(AgentNode(id="a", name="A"),), places={"a": Place(x=400, y=-80)})
    light, dark = (image(as_png(flow, PictureLook(scheme, scale=1))) for scheme in ("light", "dark"))  # type: ignore[arg-type]
    assert (light.width(), light.height()) == (248, 112)
    assert light.pixelColor(2, 2) == QColor("#F8F9FB")
    assert dark.pixelColor(2, 2) == QColor("#17191D")
    double = image(as_png(flow, PictureLook(scale=2, transparent=True)))
    assert (double.width(), double.height()) == (496, 224)
    assert double.pixelColor(2, 2).alpha() == 0
    assert double.pixelColor(248, 112).alpha() == 255


def test_a_picture_shows_no_problems_and_no_selection(qtbot: QtBot) -> None:
    good = Workflow(
        id="w", start="a", nodes=(AgentNode(id="a", name="A", instructions="Hi"),), places={"a": Place(x=0, y=0)}
    )
    bad = good.model_copy(update={"nodes": (AgentNode(id="a", name="A", instructions=""),)})
    assert as_png(good, PictureLook()) == as_png(bad, PictureLook())


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_an_svg_is_valid_for_every_name_and_kind(qtbot: QtBot, name: str, tmp_path: Path) -> None:
    flow = every_kind(name)
    svg = as_svg(flow, PictureLook(embed=True))
    assert ElementTree.fromstring(svg.encode()).tag == "{http://www.w3.org/2000/svg}svg"
    assert QSvgRenderer(QByteArray(svg.encode())).isValid()
    assert "<image" not in svg
    (tmp_path / "a.svg").write_text(svg, encoding="utf-8")
    assert read_workflow(tmp_path / "a.svg") == flow


def test_the_workflow_is_in_the_picture_only_if_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    flow = read_workflow(BRIEF)
    for kind, made in (("png", as_png), ("svg", as_svg)):
        plain, full = made(flow, PictureLook()), made(flow, PictureLook(embed=True))
        assert len(plain) < len(full)
        data = full.encode() if isinstance(full, str) else full
        (tmp_path / f"a.{kind}").write_bytes(data)
        assert read_workflow(tmp_path / f"a.{kind}") == flow


def test_a_huge_drawing_is_scaled_down(qtbot: QtBot) -> None:
    nodes = tuple(AgentNode(id=f"n{i}", name=str(i)) for i in range(2))
    flow = Workflow(nodes=nodes, places={"n0": Place(x=0, y=0), "n1": Place(x=60_000, y=0)})
    assert image(as_png(flow, PictureLook(scale=2))).width() == 16_000


def test_the_dialog_saves_what_is_chosen(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    flow = read_workflow(BRIEF)
    dialog = PictureDialog(theme, flow, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.scheme.edited.emit("dark")
    dialog.scale.edited.emit("3")
    dialog.embed.setChecked(True)
    assert dialog.look == PictureLook("dark", False, 3.0, True)
    dialog.save(tmp_path / "brief")
    assert read_workflow(tmp_path / "brief.png") == flow


def test_the_dialog_shows_and_copies_text(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    flow = read_workflow(BRIEF)
    dialog = PictureDialog(theme, flow, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.kind.edited.emit("dot")
    assert not dialog.scheme.isVisible()
    dialog.copy()
    assert QGuiApplication.clipboard().text() == dot(flow)
    dialog.save(tmp_path / "no" / "a.dot")
    assert dialog.isVisible()
    dialog.save(tmp_path / "a.dot")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == dot(flow)
