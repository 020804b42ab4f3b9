"""Screenshots of the canvas at several zooms, scale factors and themes, to be looked at:
``python -m tests.e2e.canvas_shots [FOLDER]`` (default ``shots/canvas``)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.e2e.conftest import SHOTS
from tests.e2e.display import Display
from tests.e2e.studio import ROOT, Studio

ZOOMS = (25, 40, 50, 100, 200)
SCALES = ("1", "1.25", "1.5", "2")
THEMES = ("light", "dark")
FILE = ROOT / "resources" / "templates" / "research-brief.workflow.json"


def take(folder: Path) -> list[Path]:
    """Takes all of them; each scale factor is a start of the program."""
    made: list[Path] = []
    display = Display()
    try:
        with tempfile.TemporaryDirectory(prefix="shots-") as home:
            for scale in SCALES:
                studio = Studio(display, Path(home) / scale, str(FILE), scale=scale)
                try:
                    made += _of(studio, folder, scale)
                finally:
                    studio.kill()
    finally:
        display.close()
    return made


def _of(studio: Studio, folder: Path, scale: str) -> list[Path]:
    made = []
    studio.wait("window.page is not None and len(window.page.canvas.canvas_scene.items_by_id) > 0")
    studio.ask("setattr(window.page.canvas, 'motion', False)")
    for theme in THEMES:
        studio.ask(f"window.theme.set_choice({theme!r})")
        for zoom in ZOOMS:
            studio.ask("window.page.canvas.select(('writer',))")
            studio.ask(f"window.page.canvas.set_zoom({zoom / 100})")
            studio.ask("window.page.canvas.look_at(window.page.canvas.canvas_scene.bounds().center())")
            studio.wait("not window.page.canvas.canvas_scene.later.busy")
            studio.ask("window.page.canvas.viewport().repaint()")
            file = folder / f"{theme}-{scale}x-{zoom}.png"
            studio.display.screenshot(file)
            made.append(file)
    return made


if __name__ == "__main__":
    for shot in take(Path(sys.argv[1]) if len(sys.argv) > 1 else SHOTS / "canvas"):
        sys.stdout.write(f"{shot}\n")
