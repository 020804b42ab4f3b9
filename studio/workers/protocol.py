"""What the studio and a worker process say to each other, and the values at the border of this room.

Data is JSON-compatible, with the marks described in ``child_values``; whoever calls a worker turns its own message
classes into that form and back.
"""

from __future__ import annotations

import json
import os
import struct
from asyncio import Future
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, runtime_checkable

UnitKind = Literal["module", "body", "predicate", "filter", "provider", "middleware"]
Style = Literal["node", "tool", "predicate", "middleware"]
"""How data is given to the function: ``f(data)`` or ``f(data, ctx)``, by keyword (tools, predicates), or as ``context``
with ``call_next`` (middleware, see ``child_middleware``)."""

_POSIX = "HOME LOGNAME PATH SHELL TERM USER LANG LC_ALL TMPDIR TZ"
_WINDOWS = "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
PASSED_ON = tuple((_WINDOWS if os.name == "nt" else _POSIX).split())
"""Variables that a worker inherits; never a provider's key."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of user code. ``module``: importable by its name, called as ``name:function``. ``body``: statements with
    ``data`` and ``ctx`` in scope that leave ``result``. ``predicate``: the same with ``data``, ``text``, ``value``,
    ``type``, ``state``; a single expression is its own result. ``filter``: the same with ``messages``, whose ``result``
    is them at first. ``provider``: with ``messages`` and ``session_id``. ``middleware``: with ``context`` and
    ``call_next``. All but modules are called by their name."""

    name: str
    source: str
    kind: UnitKind = "module"


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the user's text: unit, line from 1, function ("" for the body itself), text of the line, column from 1
    (0: not known)."""

    unit: str
    line: int
    function: str = ""
    code: str = ""
    column: int = 0


class UserCodeError(Exception):
    """User code failed. ``type`` is the class name of its exception, or ``WorkerDied``, ``TimeLimit``,
    ``Interrupted``, ``WorkerStart``; ``where`` holds only frames of the user's own text, outermost first."""

    def __init__(self, type: str, message: str, where: Sequence[Frame] = ()) -> None:
        super().__init__(type, message)
        self.type = type
        self.message = message
        self.where = tuple(where)

    def __str__(self) -> str:
        place = f" ({self.where[-1].unit}, line {self.where[-1].line})" if self.where else ""
        return f"{self.type}: {self.message}{place}" if self.message else f"{self.type}{place}"


class CallHost(Protocol):
    """What a running call may do to the workflow: plain methods, called on the loop in the order of the user's code."""

    def state_get(self, key: str) -> Any:
        """The value of shared state; raises ``KeyError`` if there is none."""

    def state_set(self, key: str, value: Any) -> None: ...

    def send(self, data: Any, target: str | None) -> None: ...

    def yield_output(self, data: Any) -> None: ...

    def ask(self, data: Any, response_type: str, request_id: str | None) -> str: ...

    def printed(self, text: str, stream: Literal["out", "err"]) -> None: ...


@runtime_checkable
class AroundHost(CallHost, Protocol):
    """The host of a middleware: lets happen what it is around."""

    def call_next(self, fields: Any) -> Future[dict[str, Any]]:
        """``fields`` of the context as the code left them. The future gives ``value``, the fields after it, or
        ``error`` and ``type``; it raises nothing."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What ``ctx`` knows about the invocation."""

    sources: tuple[str, ...] = ()
    streaming: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """``memory_bytes``: address space (Linux and macOS), None for no limit. Times are seconds."""

    memory_bytes: int | None = None
    result_bytes: int = 8_000_000
    start: float = 20.0
    grace: float = 0.1
    idle: float = 300.0


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Everything that a new process must know before it can take calls: units, and JSON Schemas of declared types."""

    units: tuple[Unit, ...] = ()
    types: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@lru_cache(maxsize=256)
def _class_named(name: str) -> type[UserCodeError]:
    """A subclass with the name of the user's exception class: a run shows the class names of errors."""
    return type(name, (UserCodeError,), {"__doc__": None, "__module__": "user"})


def frame(message: Mapping[str, Any]) -> bytes:
    """A message with its length in front."""
    data = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    return struct.pack(">I", len(data)) + data


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The allow-listed variables of this process, and ``extra``."""
    return {n: os.environ[n] for n in PASSED_ON if n in os.environ} | dict(extra)


def error_of(described: Mapping[str, Any]) -> UserCodeError:
    """The exception for an ``error`` message."""
    frames = [Frame(w["unit"], w["line"], w["function"], w["code"], w["column"]) for w in described["where"]]
    return _class_named(described["type"])(described["type"], described["message"], frames)
