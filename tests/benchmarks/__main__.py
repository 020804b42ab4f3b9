"""``python -m tests.benchmarks [NAME...]``: prints figures, one JSON line each; without names those of the window."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks import agents, canvas, run_panel, startup, stop, stream, timeline
from tests.benchmarks.children import Place, place
from tests.benchmarks.figures import Figure

WINDOW: dict[str, Callable[[Place], Iterator[Figure]]] = {
    "startup": startup.figures,
    "stream": stream.figures,
    "canvas": canvas.figures,
    "agents": agents.figures,
    "timeline": timeline.figures,
    "run-panel": run_panel.figures,
    "stop": stop.figures,
}
ENGINE = "tests.benchmarks.engine"


def main(arguments: Sequence[str]) -> int:
    """Runs the named benchmarks; 1 if a goal is missed, 2 for a name that does not exist."""
    engine, names = arguments[:1] == ["engine"], list(arguments) or list(WINDOW)
    unknown = [] if engine else [name for name in names if name not in WINDOW and name != "engine"]
    if unknown:
        sys.stderr.write(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(WINDOW)} and engine.\n")
        return 2
    if engine:
        return _engine(names[1:])
    missed = False
    with place() as where:
        for name in names:
            if name == "engine":
                missed |= bool(_engine([]))
                continue
            for figure in WINDOW[name](where):
                missed |= _say(figure)
    return int(missed)


def _say(figure: Figure) -> bool:
    print(figure.line(), flush=True)
    return figure.goal is not None and figure.product > figure.goal


def _engine(names: Sequence[str]) -> int:
    """The engine's figures are made in a package of their own, which prints or returns its lines."""
    if importlib.util.find_spec(ENGINE) is None or not hasattr(module := importlib.import_module(ENGINE), "run"):
        print(json.dumps({"name": "engine", "missing": "tests.benchmarks.engine"}), flush=True)
        return 1
    lines = module.run(list(names))
    if isinstance(lines, int):
        return lines
    for line in lines or ():
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
