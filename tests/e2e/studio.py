"""The program under a virtual display, started, asked and ended by a test."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.e2e.display import Display, wait_until

ROOT = Path(__file__).parents[2]
PROVIDERS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")


class Studio:
    """One process of the program. ``ask`` reads; everything that changes goes through the display."""

    def __init__(self, display: Display, home: Path, *arguments: str, scale: str = "1", **variables: str) -> None:
        """``variables``: more of the environment."""
        self.display = display
        home.mkdir(parents=True, exist_ok=True)
        self._port_file = home / f"port-{time.monotonic_ns()}"
        environment = {
            **{k: v for k, v in display.environment.items() if k not in PROVIDERS},
            "HOME": str(home),
            **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
            "PYTHONPATH": str(ROOT),
            "QT_SCALE_FACTOR": scale,
            "PYTHONWARNINGS": "default",
            **variables,
        }
        self.errors = home / "stderr.txt"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.probe", str(self._port_file), *arguments],
                env=environment,
                cwd=home,
                stdout=errors,
                stderr=errors,
            )
        wait_until(self._started, "the window is shown", 60)
        port = int(self._port_file.read_text(encoding="utf-8"))
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def _started(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the program ended:\n{self.errors.read_text(encoding='utf-8')}")
        return self._port_file.exists() and bool(self._port_file.read_text(encoding="utf-8"))

    def ask(self, expression: str) -> Any:
        """The value of a Python expression in the program."""
        self._socket.sendall((json.dumps(expression) + "\n").encode())
        answer = json.loads(self._lines.readline())
        if "error" in answer:
            raise AssertionError(f"{expression}: {answer['error']}")
        return answer["value"]

    def wait(self, expression: str, seconds: float = 60.0) -> None:
        """Waits until an expression is true."""
        wait_until(lambda: self.ask(expression), expression, seconds)

    def place(self, text: str, within: str = "") -> tuple[int, int]:
        """The middle of the visible thing with this text or object name; ``within``: class of a widget around it."""
        wait_until(lambda: self.ask(f"find({text!r}, {within!r})"), f"{text} is visible {within}")
        x, y, width, height = self.ask(f"find({text!r}, {within!r})")
        return x + width // 2, y + height // 2

    def click(self, text: str, within: str = "", button: int = 1, times: int = 1) -> None:
        """Clicks on the visible thing with this text or object name."""
        self.display.click(*self.place(text, within), button, times)

    def kill(self) -> None:
        """``kill -9``."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self._close()

    def wait_closed(self, seconds: float = 60.0) -> int:
        """Waits until the program has ended by itself; returns its exit code."""
        code = self.process.wait(timeout=seconds)
        self._close()
        return code

    def _close(self) -> None:
        self._lines.close()
        self._socket.close()
