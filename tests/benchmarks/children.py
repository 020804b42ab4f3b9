"""Child processes that measure: started on a display with folders of their own, answering with one line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.e2e.display import Display, missing_tools

ROOT = Path(__file__).parents[2]
RESULT = "RESULT "
STARTED = "BENCH_STARTED"
"""Environment variable: the moment before the process was started, in nanoseconds of the monotonic clock."""
_PROVIDERS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")


@dataclass(frozen=True, slots=True)
class Place:
    """Where children run. ``platform`` is xcb on a virtual display, offscreen where there is none."""

    environment: Mapping[str, str]
    home: Path
    platform: str


@contextmanager
def place(*, display: bool = True) -> Iterator[Place]:
    """A home folder, and a virtual display if it is wanted and its programs are there."""
    screen = Display() if display and not missing_tools() else None
    try:
        with TemporaryDirectory(prefix="bench-") as folder:
            home = Path(folder)
            base = dict(os.environ if screen is None else screen.environment)
            base = {name: value for name, value in base.items() if name not in _PROVIDERS}
            if screen is None:
                base["QT_QPA_PLATFORM"] = "offscreen"
            folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
            base.pop("PYTHONDONTWRITEBYTECODE", None)
            more = {"HOME": folder, "PYTHONPATH": str(ROOT), "QT_LOGGING_RULES": "qt.qpa.*=false"}
            more["PYTHONPYCACHEPREFIX"] = str(Path(sys.prefix) / "bytecode")  # as packaging/run does
            yield Place({**base, **folders, **more}, home, "offscreen" if screen is None else "xcb")
    finally:
        if screen is not None:
            screen.close()


def measured(
    where: Place, module: str, *arguments: str | int, seconds: float = 120, python: str | Path = sys.executable
) -> dict[str, Any]:
    """Runs ``tests.benchmarks.MODULE`` in a new process and gives what it measured. Raises if it says nothing."""
    command = [str(python), "-m", f"tests.benchmarks.{module}", *map(str, arguments)]
    environment = {**where.environment, STARTED: str(time.monotonic_ns())}
    done = subprocess.run(
        command, env=environment, cwd=where.home, capture_output=True, text=True, timeout=seconds, check=False
    )
    line = next((text for text in done.stdout.splitlines() if text.startswith(RESULT)), None)
    if line is None:
        raise RuntimeError(f"{module} ended with {done.returncode} and no result:\n{done.stdout}{done.stderr}")
    values: dict[str, Any] = json.loads(line.removeprefix(RESULT))
    return values


def answer(values: Mapping[str, object]) -> None:
    """Says what was measured; for the child."""
    sys.stdout.write(f"{RESULT}{json.dumps(values)}\n")
    sys.stdout.flush()


def since_start() -> float:
    """Milliseconds since the process was started; for the child."""
    return (time.monotonic_ns() - int(os.environ[STARTED])) / 1e6
