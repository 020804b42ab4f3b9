"""Whether there is a display that Qt can open. Qt itself ends the process if there is none."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

_WITHOUT = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
"""Qt platforms that need no display server."""


def display_problem() -> str:
    """Why no window can be shown, as a sentence; empty if one can."""
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    if not sys.platform.startswith("linux") or platform in _WITHOUT:
        return ""
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY", ""), os.environ.get("DISPLAY", "")
    if not wayland and not x11:
        return "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set."
    if wayland and _wayland_answers(wayland):
        return ""
    if x11 and _x11_answers(x11):
        return ""
    return f"The display {x11 or wayland} does not answer."


def _wayland_answers(name: str) -> bool:
    path = Path(name) if name.startswith("/") else Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / name
    return path.is_socket()


def _x11_answers(name: str) -> bool:
    host, _, rest = name.rpartition(":")
    number = rest.split(".")[0]
    if not number.isdigit():
        return False
    if host not in ("", "unix"):
        return _connects((host.strip("[]"), 6000 + int(number)))
    file = f"/tmp/.X11-unix/X{number}"
    return _connects("\0" + file) or _connects(file)


def _connects(address: str | tuple[str, int]) -> bool:
    try:
        if isinstance(address, tuple):
            with socket.create_connection(address, timeout=2.0):
                return True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.settimeout(2.0)
            made.connect(address)
            return True
    except OSError:
        return False
