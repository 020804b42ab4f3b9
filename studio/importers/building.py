"""The process of the build mode: started with the user's interpreter, limited in time, killed with its children."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

from studio.importers.problems import ImportProblem

_CHILD = Path(__file__).with_name("build_child.py")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_DUMMIES = {
    "OPENAI_API_KEY": "dummy",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_MODEL": "dummy-model",
    "AZURE_OPENAI_API_KEY": "dummy",
    "ANTHROPIC_API_KEY": "dummy",
}
_CLOSED = "http://127.0.0.1:9"
_MOST_OUTPUT = 20_000_000
_MOST_LOG = 20_000
_MOST_ROUNDS = 200
_GRACE = 5.0
"""Seconds that the pipes of an ended program are read to their end."""
_MARK = "STUDIO_BUILD_OF_AN_IMPORT"
"""A variable of the child and of all that it starts, by which they are found again."""


def built(
    path: Path, interpreter: str | None, timeout: float, function: str, stop: threading.Event | None = None
) -> tuple[list[dict[str, Any]], str]:
    """What the program built, in order, and what to tell about it. Raises :class:`ImportProblem` if that is nothing.

    ``stop`` ends the program at once when it is set from another thread. Nothing that the program started is left.
    """
    mark = uuid4().hex
    ended = stop or threading.Event()
    process = _started(path, interpreter, function, mark)
    lines, log = _Lines(process.stdout, ended), _Log(process.stderr)
    late = False
    try:
        late = not ended.wait(timeout)
        code = _ended_by_itself(process) if lines.cut_off else None
    finally:
        _kill(process, mark)
    # What a process that got away still holds of the pipes is not waited for.
    lines.join(_GRACE)
    log.join(_GRACE)
    found = [line["workflow"] for line in lines.found if isinstance(line.get("workflow"), dict)]
    if found:
        return found, "The time limit was reached; what was built until then counts." if late else ""
    raise _problem(lines.found, late, timeout, log.last(), code)


class _Lines(threading.Thread):
    """What the child tells; ``ended`` is set when no more will come."""

    def __init__(self, stream: Any, ended: threading.Event) -> None:
        super().__init__(name="lines of a build", daemon=True)
        self.found: list[dict[str, Any]] = []
        self.cut_off = False
        """Whether the pipe was closed before the child had said its last word."""
        self._stream, self._ended = stream, ended
        self.start()

    def run(self) -> None:
        size = 0
        try:
            with self._stream as stream:
                for raw in stream:
                    size += len(raw)
                    line = _object(raw)
                    if line is not None:
                        self.found.append(line)
                    if size > _MOST_OUTPUT or (line is not None and line.get("done") is True):
                        break
                else:
                    self.cut_off = True
        finally:
            self._ended.set()


def _ended_by_itself(process: subprocess.Popen[bytes]) -> int | None:
    """The code with which a process ended that says nothing more; None if it is still there."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(_GRACE)
    return None


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class _Log(threading.Thread):
    """What the program prints: read all the time, kept only at its end, however much it is."""

    def __init__(self, stream: Any) -> None:
        super().__init__(name="log of a build", daemon=True)
        self._stream, self._kept = stream, b""
        self.start()

    def run(self) -> None:
        with self._stream as stream:
            while piece := stream.read1(65536):
                self._kept = (self._kept + piece)[-_MOST_LOG:]

    def last(self) -> str:
        """The last line."""
        return self._kept.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()[:300]


def _started(path: Path, interpreter: str | None, function: str, mark: str) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in os.environ.items() if not _SECRET.search(k)}
    environment |= {name: "dummy" for name in os.environ if _SECRET.search(name)} | _DUMMIES
    environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", _MARK: mark}
    command = [interpreter or sys.executable, str(_CHILD), str(path), str(path.parent), function, str(os.getpid())]
    grouped: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        grouped = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=path.parent,
            env=environment,
            **grouped,
        )
    except OSError as error:
        message = f"{command[0]} cannot be started: {error.strerror or error}."
        raise ImportProblem(message, "Choose the Python of the environment that the program runs in.") from None


def _kill(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ends the process and everything it started, also what left its group."""
    try:
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (OSError, ProcessLookupError):
        process.kill()
    process.wait()
    for _ in range(_MOST_ROUNDS):  # one that is just being started is found in the next round
        away = _marked(mark)
        if not away:
            break
        for pid in away:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: str) -> list[int]:
    """The processes with this mark in their environment, where the system tells (Linux); the dead are not among them,
    they have none any more."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


def _problem(lines: list[dict[str, Any]], late: bool, timeout: float, last: str, code: int | None) -> ImportProblem:
    printed = f" It printed last: {last}" if last else ""
    if late:
        message = f"The program built nothing within {timeout:g} s.{printed}"
        return ImportProblem(message, "Give it more time, choose another function, or import without running it.")
    error = next((str(line["error"]) for line in lines if line.get("error")), "")
    missing = next((str(line["missing"]) for line in lines if line.get("missing")), "")
    if missing:
        way_out = f"Choose an interpreter that has {missing}, or import without running it."
        return ImportProblem(f"The program needs {missing}, which this Python does not have.", way_out)
    if error:
        message = f"The program stopped before it built a workflow: {error[:300].rstrip('.')}."
        return ImportProblem(message, "Import it without running it.")
    if code:
        message = f"The program was ended {_by(code)} before it built a workflow.{printed}"
        return ImportProblem(message, "Import it without running it.")
    message = f"The program ended without building a workflow.{printed}"
    return ImportProblem(message, "Choose the function that builds it, or import without running it.")


def _by(code: int) -> str:
    """What ended a process, in words."""
    try:
        return f"by the signal {signal.Signals(-code).name}" if code < 0 else f"with the exit code {code}"
    except ValueError:
        return f"by the signal {-code}"
