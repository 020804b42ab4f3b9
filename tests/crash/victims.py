"""Programs of their own that are killed, and what they said before."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("CONFIG", "DATA", "STATE", "CACHE")
KILLS = 10
AT_ONCE = 5
Said = list[dict[str, Any]]


def folders(home: Path) -> dict[str, str]:
    """The environment of a user's folders below ``home``."""
    return {f"XDG_{name}_HOME": str(home / name.lower()) for name in NAMES}


def live_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process the next program of the same user."""
    for name, value in folders(home).items():
        monkeypatch.setenv(name, value)


class Victim:
    """A child program. It says lines of JSON; ``{"begin": true}`` tells that what may be killed begins."""

    def __init__(self, module: str, home: Path, *arguments: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.errors = home / "stderr.txt"
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"tests.crash.{module}", *arguments],
                env={**os.environ, **folders(home), "PYTHONPATH": str(ROOT)},
                cwd=home,
                stdout=subprocess.PIPE,
                bufsize=0,  # what is read ahead would be missing at the end
                stderr=errors,
            )
        self._first: Said = []
        self.killed_at = 0.0
        """Moment of the monotonic clock."""

    def wait_begin(self) -> None:
        """Waits until it has begun."""
        assert self._process.stdout is not None
        while not self._first or "begin" not in self._first[-1]:
            line = self._process.stdout.readline()
            assert line, self.errors.read_text(encoding="utf-8")
            self._first.append(json.loads(line))

    def kill(self, after: float) -> Said:
        """``kill -9``, some seconds after it has begun or at its end; gives what it said until then. Its clock is this
        process's monotonic clock."""
        try:
            self._process.wait(timeout=max(0.0, self._first[-1]["t"] + after - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
        self.killed_at = time.monotonic()
        return self.end()

    def end(self) -> Said:
        """Waits for its end; gives everything it said. A line that was cut off is none."""
        rest, _ = self._process.communicate(timeout=60)
        return self._first + list(_whole(rest.split(b"\n")))


def _whole(lines: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    for line in lines:
        if line.endswith(b"}"):
            yield json.loads(line)


def kill_at_moments(
    module: str, folder: Path, arguments: Iterable[Sequence[str]], seconds: float, moments: random.Random
) -> Iterator[tuple[Victim, Said]]:
    """Starts a victim for each of the arguments, some at once, and kills each at a moment of its first ``seconds``; the
    moments are random, each in a stretch of its own, so that all of the time is hit."""
    every = list(arguments)
    afters = [seconds * (n + moments.random()) / len(every) for n in range(len(every))]
    for first in range(0, len(every), AT_ONCE):
        some = range(first, min(first + AT_ONCE, len(every)))
        victims = [Victim(module, folder / f"{n}", *every[n]) for n in some]
        for victim in victims:
            victim.wait_begin()
        yield from [(victim, victim.kill(afters[n])) for n, victim in zip(some, victims, strict=True)]


def say(**values: object) -> None:
    """For the child: one line, handed to the system before it goes on."""
    os.write(1, (json.dumps({"t": time.monotonic(), **values}) + "\n").encode())
