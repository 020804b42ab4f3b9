"""A virtual display with a window manager, and a person at it: real pointer, real keys, screenshots."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TOOLS = ("Xvfb", "openbox", "xdotool", "import")


def missing_tools() -> list[str]:
    """Programs that the tests need and the machine does not have."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def wait_until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Waits for something that can be seen; fails with its name."""
    end = time.monotonic() + seconds
    while True:
        if condition():
            return
        if time.monotonic() > end:
            raise AssertionError(f"timed out after {seconds} s: {what}")
        time.sleep(0.05)


class Display:
    """An X server of our own; ended by pid."""

    def __init__(self, width: int = 1600, height: int = 1000) -> None:
        self.size = (width, height)
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"]
        self._server = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.name = f":{pipe.readline().strip()}"
        self.environment = {**os.environ, "DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb"}
        self._manager = subprocess.Popen(
            ["openbox", "--sm-disable"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def close(self) -> None:
        """Ends window manager and server."""
        for process in (self._manager, self._server):
            process.terminate()
            process.wait(timeout=60)

    # ---- pointer and keys
    def xdotool(self, *words: str | int) -> str:
        """One xdotool call."""
        done = subprocess.run(
            ["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def windows(self, name: str) -> dict[str, int]:
        """The visible windows of this name with their processes, without those that go away or are not yet made; none
        at all if one went away during the search, so each answer is a look of its own."""
        found: dict[str, int] = {}
        with suppress(subprocess.CalledProcessError):
            for window in self.xdotool("search", "--all", "--onlyvisible", "--name", name).split():
                with suppress(subprocess.CalledProcessError):
                    found[window] = int(self.xdotool("getwindowpid", window))
        return found

    def activate(self, name: str, process: int) -> None:
        """Brings the window of a process to the front, once it is there. Whoever needs the focus waits for it."""
        own: list[str] = []

        def there() -> bool:
            own[:] = [window for window, owner in self.windows(name).items() if owner == process]
            return bool(own)

        wait_until(there, f"{name} is shown")
        self.xdotool("windowactivate", own[0])

    def move(self, x: int, y: int) -> None:
        """Moves the pointer."""
        self.xdotool("mousemove", "--sync", x, y) if self._pointer() != (x, y) else None

    def _pointer(self) -> tuple[int, int]:
        words = dict(part.split(":") for part in self.xdotool("getmouselocation").split())
        return int(words["x"]), int(words["y"])

    def click(self, x: int, y: int, button: int = 1, times: int = 1) -> None:
        """Clicks at a place of the screen."""
        self.move(x, y)
        self.xdotool("click", "--repeat", times, "--delay", 60, button)

    def drag(self, start: tuple[int, int], end: tuple[int, int], steps: int = 12, *, drop: bool = True) -> None:
        """Presses at the start, moves in steps, releases at the end."""
        self.move(*start)
        self.xdotool("mousedown", 1)
        for step in range(1, steps + 1):
            x = round(start[0] + (end[0] - start[0]) * step / steps)
            y = round(start[1] + (end[1] - start[1]) * step / steps)
            self.xdotool("mousemove", x, y)
            time.sleep(0.01)
        if drop:
            self.xdotool("mouseup", 1)

    def key(self, *keys: str) -> None:
        """Presses keys, one after the other (``"ctrl+s"``)."""
        self.xdotool("key", "--delay", 40, *keys)

    def type(self, text: str) -> None:
        """Types a text; line breaks become Return."""
        self.xdotool("type", "--delay", 12, text)

    def screenshot(self, file: Path) -> None:
        """The whole screen as PNG."""
        file.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-window", "root", str(file)], env=self.environment, check=True, timeout=60)
