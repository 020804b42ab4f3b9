"""Files dropped on the window: workflows are opened, code and YAML imported, a text becomes the next input.

On the canvas a workflow becomes a sub-workflow, linked or as a copy, and any other text becomes a template."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF

from studio.ui.canvas import CanvasView
from studio.ui.dialogs.file_dialogs import SUFFIX, is_bundle
from studio.ui.dialogs.messages import Choice, ask, show_problem
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow

_TEXTS = (".txt", ".md")
_FOREIGN = (".py", ".yaml", ".yml")
LONGEST_INPUT = 1_000_000
"""Bytes of a text file that is taken as input."""


def files_of(data: QMimeData) -> list[Path]:
    """The local files that are dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def take(window: MainWindow, files: list[Path], at: QPoint | None = None) -> None:
    """Does with each file what it is for; ``at``: where in the window they were dropped."""
    point = _on_canvas(window, at)
    for number, file in enumerate(files):
        if point is not None and window.page is not None and not (_is_foreign(file) or is_bundle(file)):
            _put_on_canvas(window, window.page.canvas, file, point + QPointF(24, 96) * number)
        elif file.suffix.lower() in _TEXTS and window.page is not None:
            _as_input(window, file)
        elif _is_foreign(file):
            window.pages.show_import(file)
        else:
            window.files.open(file)


def _on_canvas(window: MainWindow, at: QPoint | None) -> QPointF | None:
    """The point of the drawing that is there; None: something else is there."""
    page = window.page
    if at is None or page is None or page is not window.tabs.current:
        return None
    view = page.canvas.viewport()
    inside = view.mapFrom(window, at)
    there = view.rect().contains(inside) and not page.canvas.read_only
    return page.canvas.to_scene(QPointF(inside)) if there else None


def _put_on_canvas(window: MainWindow, canvas: CanvasView, file: Path, point: QPointF) -> None:
    if file.suffix.lower() != ".json":
        text = _read(window, file)
        if text is not None and "\0" in text:
            canvas.tell(tr("{name} is neither a workflow nor a text.").format(name=file.name))
        elif text is not None:
            canvas.add_text(text, file.stem, point)
        return
    ask(
        window.theme,
        window,
        tr("Add {name} as a sub-workflow?").format(name=file.name),
        tr(
            "Linked: the file stays the only one and is read when a run starts. Embedded: a copy is kept in this "
            "workflow, and later changes of the file do not matter."
        ),
        (
            Choice(tr("Link the file"), _doing(canvas.add_file, file, point, linked=True), default=True),
            Choice(tr("Embed a copy"), _doing(canvas.add_file, file, point, linked=False)),
            Choice(tr("Open it in a tab"), _doing(window.files.open, file)),
            Choice(tr("Cancel"), lambda: None, cancels=True),
        ),
    )


def _is_foreign(file: Path) -> bool:
    """Whether the importer should look at it: code, YAML, or JSON that does not say at its beginning it is ours."""
    if file.suffix.lower() != ".json" or file.name.lower().endswith(SUFFIX):
        return file.suffix.lower() in _FOREIGN
    try:
        with file.open("rb") as stream:
            return b"superstep-workflow" not in stream.read(4_000)
    except OSError:
        return False


def _doing(function: Callable[..., object], *given: object, **named: object) -> Callable[[], None]:
    """Does something for an answer, whatever it returns."""

    def do() -> None:
        function(*given, **named)

    return do


def _read(window: MainWindow, file: Path) -> str | None:
    try:
        return file.read_bytes()[:LONGEST_INPUT].decode("utf-8", errors="replace")
    except OSError as error:
        show_problem(window.theme, window, tr("{name} could not be read.").format(name=file.name), f"{error.strerror}.")
        return None


def _as_input(window: MainWindow, file: Path) -> None:
    text = _read(window, file)
    if text is not None:
        window.tool_bar.input.setText(" ".join(text.split()))
        window.focus_input()
