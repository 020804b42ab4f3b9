"""A Python that can run an exported project: the chosen one, that of the document, our own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

NEEDED = {"agent-framework-core": "1.23.", "agent-framework-openai": "1.17."}
"""Distribution -> beginning of the versions that exports are written for."""
INSTALL = 'pip install "agent-framework-core==1.23.*" "agent-framework-openai==1.17.*"'
_SECONDS = 30.0
_ASK = (
    "import json, sys, importlib.metadata as m\n"
    "def v(n):\n"
    "    try:\n        return m.version(n)\n"
    "    except m.PackageNotFoundError:\n        return ''\n"
    "print(json.dumps({'python': list(sys.version_info[:3]), 'versions': {n: v(n) for n in sys.argv[1:]}}))"
)


class NoInterpreter(Exception):
    """No Python can run the project; the message says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that has what is needed."""

    path: str
    version: str
    framework: str


async def find_interpreter(candidates: Sequence[str | None]) -> Interpreter:
    """The first that has the framework. ``None`` and "" stand for our own. Raises :class:`NoInterpreter`."""
    refused: list[str] = []
    for path in dict.fromkeys(candidate or sys.executable for candidate in (*candidates, None)):
        found = await _asked(path)
        if isinstance(found, Interpreter):
            return found
        refused.append(found)
    reasons = "; ".join(refused)
    raise NoInterpreter(
        f"No Python here can run the exported code: {reasons}. Install what is missing, for example with "
        f"{INSTALL}, or choose another interpreter."
    )


async def _asked(path: str) -> Interpreter | str:
    """The interpreter, or why it will not do."""
    try:
        process = await asyncio.create_subprocess_exec(
            path, "-I", "-c", _ASK, *NEEDED,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as problem:
        return f"{path} cannot be started ({problem.strerror or problem})"
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
        told = json.loads(out)
    except (TimeoutError, ValueError):
        return f"{path} does not answer like a Python of version 3.11 or newer"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    version = ".".join(map(str, told["python"]))
    if told["python"][:2] < [3, 11]:
        return f"{path} is Python {version}, 3.11 is needed"
    missing = [f"{n} {v}x" for n, v in NEEDED.items() if not told["versions"].get(n, "").startswith(v)]
    if missing:
        return f"{_shown(path)} (Python {version}) lacks {' and '.join(missing)}"
    return Interpreter(path, version, told["versions"]["agent-framework-core"])


def _shown(path: str) -> str:
    return path.replace(os.path.expanduser("~"), "~", 1) if path != sys.executable else "this program's own Python"
