"""The process of the build mode: started with the user's interpreter, limited in time, killed with its children."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

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


def built(
    path: Path, interpreter: str | None, timeout: float, function: str, stop: threading.Event | None = None
) -> tuple[list[dict[str, Any]], str]:
    """What the program built, in order, and what it printed. Raises :class:`ImportProblem` if that is nothing.

    ``stop`` ends the program at once when it is set from another thread.
    """
    ended = stop or threading.Event()
    with tempfile.TemporaryFile() as log:
        process = _started(path, interpreter, function, log)
        late = threading.Event()
        watch = threading.Thread(target=_watch, args=(process, ended, late, timeout), daemon=True)
        watch.start()
        try:
            lines = _lines(process)
        finally:
            ended.set()
            watch.join()
            _kill(process)
        log.seek(0)
        printed = log.read(_MOST_LOG).decode("utf-8", "replace")
    found = [line["workflow"] for line in lines if isinstance(line.get("workflow"), dict)]
    if found:
        return found, "The time limit was reached; what was built until then counts." if late.is_set() else ""
    raise _problem(lines, late.is_set(), timeout, printed)


def _started(path: Path, interpreter: str | None, function: str, log: Any) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in os.environ.items() if not _SECRET.search(k)}
    environment |= {name: "dummy" for name in os.environ if _SECRET.search(name)} | _DUMMIES
    environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    command = [interpreter or sys.executable, str(_CHILD), str(path), str(path.parent), function]
    grouped: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        grouped = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=path.parent,
            env=environment,
            **grouped,
        )
    except OSError as error:
        message = f"{command[0]} cannot be started: {error.strerror or error}."
        raise ImportProblem(message, "Choose the Python of the environment that the program runs in.") from None


def _lines(process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    size = 0
    assert process.stdout is not None
    with process.stdout as stream:
        for raw in stream:
            size += len(raw)
            if size > _MOST_OUTPUT:
                break
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict):
                found.append(line)
                if line.get("done") is True:
                    break
    return found


def _watch(process: subprocess.Popen[bytes], ended: threading.Event, late: threading.Event, timeout: float) -> None:
    """Ends the program when it is late or no longer wanted."""
    if not ended.wait(timeout):
        late.set()
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and everything it started."""
    try:
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (OSError, ProcessLookupError):
        process.kill()
    process.wait()


def _problem(lines: list[dict[str, Any]], late: bool, timeout: float, printed: str) -> ImportProblem:
    if late:
        message = f"The program built nothing within {timeout:g} s."
        return ImportProblem(message, "Give it more time, choose another function, or import without running it.")
    error = next((str(line["error"]) for line in lines if line.get("error")), "")
    missing = next((str(line["missing"]) for line in lines if line.get("missing")), "")
    if missing:
        way_out = f"Choose an interpreter that has {missing}, or import without running it."
        return ImportProblem(f"The program needs {missing}, which this Python does not have.", way_out)
    if error:
        return ImportProblem(
            f"The program stopped before it built a workflow: {error[:300]}", "Import it without running it."
        )
    last = printed.strip().rpartition("\n")[2][:300]
    message = "The program ended without building a workflow." + (f" It printed: {last}" if last else "")
    return ImportProblem(message, "Choose the function that builds it, or import without running it.")
