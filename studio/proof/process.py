"""The process that runs an exported project: the user's Python, without secrets, ended with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

_CHILD = Path(__file__).with_name("child.py")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_CLOSED = "http://127.0.0.1:9"
_MOST_LINE = 64 * 1024 * 1024
_MOST_PRINTED = 20_000


class ProcessEnded(Exception):
    """The process ended in the middle of a job; the message is what it printed last."""


def environment() -> dict[str, str]:
    """That of this program without secrets; nothing outside of this computer can be reached through a proxy."""
    kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    kept |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    kept |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}


async def told(python: str, jobs: Sequence[Mapping[str, Any]], seconds: float) -> AsyncGenerator[dict[str, Any]]:
    """The lines of the process for the jobs. Raises ``TimeoutError``, ``OSError``, :class:`ProcessEnded`."""
    grouped: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        grouped = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    process = await asyncio.create_subprocess_exec(
        python, str(_CHILD), str(os.getpid()), env=environment(), limit=_MOST_LINE,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, **grouped,
    )  # fmt: skip
    printed = asyncio.ensure_future(_last(process.stderr))
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write("".join(json.dumps(job) + "\n" for job in jobs).encode())
            process.stdin.write_eof()
        done = 0
        while done < len(jobs):
            raw = await asyncio.wait_for(process.stdout.readline(), seconds)
            if not raw:
                raise ProcessEnded((await printed).strip().rpartition("\n")[2] or "it said nothing")
            line = _line(raw)
            if line is not None:
                done += line["step"] == "done"
                yield line
    finally:
        printed.cancel()
        _kill(process)
        await process.wait()


def _line(raw: bytes) -> dict[str, Any] | None:
    """A line of the protocol; None for what user code printed."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("step"), str) else None


async def _last(stream: asyncio.StreamReader | None) -> str:
    kept = b""
    while stream is not None and (piece := await stream.read(4096)):
        kept = (kept + piece)[-_MOST_PRINTED:]
    return kept.decode("utf-8", "replace")


def _kill(process: asyncio.subprocess.Process) -> None:
    """Ends the process and everything it started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
