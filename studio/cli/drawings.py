"""``export --to mermaid|dot|svg|png``: a document as one file that shows it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, Stop, usage
from studio.document.model import Workflow
from studio.export.dot import dot
from studio.export.mermaid import mermaid
from studio.export.picture_look import PictureKind, PictureLook

_TEXTS: Mapping[str, Callable[[Workflow], str]] = {"mermaid": mermaid, "dot": dot}


Draws = Callable[[Workflow, PictureKind, PictureLook], bytes]
"""What paints pictures; given by the program, since sub-commands import no Qt."""


def command(options: argparse.Namespace) -> int:
    """Writes the file (``-``: standard output) and names it. ``options.draw`` paints."""
    draw: Draws = options.draw
    workflow, _ = read(options.file)
    if not 0.1 <= options.scale <= 10:
        usage("--scale takes a number from 0.1 to 10")
    if options.to in _TEXTS:
        data = _TEXTS[options.to](workflow).encode("utf-8")
    else:
        data = draw(workflow, options.to, PictureLook(options.theme, options.transparent, options.scale, options.embed))
    if options.output == "-":
        sys.stdout.buffer.write(data)
        return DONE
    target = Path(options.output)
    if target.exists() and not options.force and target.read_bytes() != data:
        raise Stop(FAILED, f"Nothing was written: {target} is there and differs. Replace it with --force.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except OSError as error:
        raise Stop(FAILED, f"{target} cannot be written: {error.strerror}.") from None
    print(target)
    return DONE
