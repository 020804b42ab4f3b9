"""The program: a window, or a sub-command without one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.document.model import Workflow
    from studio.export.picture_look import PictureKind, PictureLook


def main(arguments: Sequence[str] | None = None) -> int:
    """No argument or files: the window. Anything else: the sub-commands, which import no Qt."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    from studio.cli import SUB_COMMANDS
    from studio.cli import main as cli

    if given and (given[0] in SUB_COMMANDS or given[0].startswith("-")):
        return cli(given, _draw)
    from studio.ui.app import main as window

    return window(given)


def _draw(workflow: Workflow, to: PictureKind, look: PictureLook) -> bytes:
    from studio.ui.pictures.headless import draw

    return draw(workflow, to, look)


if __name__ == "__main__":
    sys.exit(main())
