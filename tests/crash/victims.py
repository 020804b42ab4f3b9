"""Programs of their own that are killed, and what they said before."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("CONFIG", "DATA", "STATE", "CACHE")
KILLS = 10
AT_ONCE = 5
_LINES = "SUPERSTEP_CRASH_LINES"
_DELAY = "SUPERSTEP_CRASH_DELAY"
Said = list[dict[str, Any]]


def folders(home: Path) -> dict[str, str]:
    """The environment of a user's folders below ``home``."""
    return {f"XDG_{name}_HOME": str(home / name.lower()) for name in NAMES}


def live_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process the next program of the same user."""
    for name, value in folders(home).items():
        monkeypatch.setenv(name, value)


class Victim:
    """A child program. It says lines of JSON; ``{"begin": true}`` tells that what may be killed begins.

    With ``lines`` it kills itself (``kill -9``) ``delay`` seconds after it has said so many more: a moment of its own
    progress hits the same work on a fast and on a slow machine.
    """

    def __init__(self, module: str, home: Path, *arguments: str, lines: int | None = None, delay: float = 0.0) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.errors = home / "stderr.txt"
        end = {} if lines is None else {_LINES: str(lines), _DELAY: str(delay)}
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"tests.crash.{module}", *arguments],
                env={**os.environ, **folders(home), **end, "PYTHONPATH": str(ROOT)},
                cwd=home,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def end(self) -> Said:
        """Waits for its end; gives everything it said."""
        out, _ = self._process.communicate(timeout=120)
        said: Said = [json.loads(line) for line in out.splitlines()]
        assert any("begin" in line for line in said), self.errors.read_text(encoding="utf-8")
        return said


def kill_at_moments(
    module: str, folder: Path, arguments: Iterable[Sequence[str]], lines: int, delay: float, moments: random.Random
) -> Iterator[tuple[Victim, Said]]:
    """Starts a victim for each of the arguments, some at once, and has each killed at a moment of its first ``lines``;
    the moments are random, each in a stretch of its own, so that all of the work is hit. Every other victim ends with
    its line, the rest up to ``delay`` seconds later, in the middle of what comes next."""
    every = list(arguments)
    for first in range(0, len(every), AT_ONCE):
        victims = [
            Victim(
                module,
                folder / f"{n}",
                *every[n],
                lines=int(lines * (n + moments.random()) / len(every)),
                delay=moments.random() * delay * (n % 2),
            )
            for n in range(first, min(first + AT_ONCE, len(every)))
        ]
        yield from [(victim, victim.end()) for victim in victims]


class _Death:
    """For the child: the end that its parent has set."""

    def __init__(self) -> None:
        lines = os.environ.get(_LINES)
        self._left = int(lines) if lines else None
        self._delay = float(os.environ.get(_DELAY, "0"))

    def count(self) -> None:
        """One line was said since it has begun."""
        if self._left is None:
            return
        self._left -= 1
        if self._left == -1:
            if not self._delay:
                self._come()
            timer = threading.Timer(self._delay, self._come)
            timer.daemon = True
            timer.start()

    def _come(self) -> None:
        _write(killed=True)
        os.kill(os.getpid(), signal.SIGKILL)


_death = _Death()


def say(**values: object) -> None:
    """For the child: one line, handed to the system before it goes on. ``begin`` starts the count of the lines that it
    may live."""
    _write(**values)
    _death.count()


def _write(**values: object) -> None:
    os.write(1, (json.dumps({"t": time.monotonic(), **values}) + "\n").encode())
