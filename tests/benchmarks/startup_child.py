"""The real program up to its window: ``python -m tests.benchmarks.startup_child [FILES]``."""

from __future__ import annotations

import sys
from typing import Any

from tests.benchmarks.children import answer, since_start


def run() -> int:
    """Starts as ``python -m studio FILES`` does, says when the window was painted and took its turn, and closes it."""
    import studio.cli
    from studio.ui.app import main

    assert studio.cli
    kept: list[Any] = []
    imported = since_start()

    def on_ready(window: Any) -> None:
        from tests.benchmarks.startup_paint import when_painted

        def on_painted() -> None:
            at = since_start()
            answer({"interactive": at, "imported": imported, "modules": sorted(sys.modules)})
            window.close_window()

        kept.append(when_painted(window, on_painted))

    return main(sys.argv[1:], ready=on_ready)


if __name__ == "__main__":
    sys.exit(run())
