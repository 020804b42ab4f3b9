"""How MCP servers are started or reached."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Approvals = Literal["unless_read_only", "always", "never"]
"""Which tools a person is asked about; that a tool only reads is its server's own claim."""

_PASSED_ON = (
    (
        "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
        "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE",
    )
    if sys.platform == "win32"
    else ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A program that speaks MCP on its standard streams. It runs as the user: ask before the first start."""

    name: str
    command: str
    arguments: tuple[str, ...] = ()
    folder: str | None = None
    """Working directory; None: the studio's."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables beside the few that every program needs; resolved values, never shown."""
    call_timeout: float = 60
    """Seconds of one tool call."""
    approvals: Approvals = "unless_read_only"
    result_limit: int = 1_000_000
    """Characters of a result that the model is given."""

    def path(self) -> str | None:
        """The program as an absolute path; None if there is none."""
        found = shutil.which(self.command, path=child_environment(self.environment).get("PATH"))
        return None if found is None else str(Path(found).absolute())

    def fingerprint(self) -> str:
        """What a person trusts: command, arguments, folder and names of variables. If it changes, ask again."""
        shown = [self.command, list(self.arguments), self.folder, sorted(self.environment)]
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that is reached by streamable HTTP."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Resolved values, never shown."""
    call_timeout: float = 60
    approvals: Approvals = "unless_read_only"
    result_limit: int = 1_000_000


ServerSettings = StdioServer | HttpServer


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The variables of a server: what every program needs, and ``extra``. No key of the studio's is among them."""
    passed = {name: value for name in _PASSED_ON if (value := os.environ.get(name)) is not None}
    return {**{n: v for n, v in passed.items() if not v.startswith("()")}, **extra}
