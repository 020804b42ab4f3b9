"""A cassette: entries in memory, and its file of JSON lines."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from studio.agents.redaction import Redactor

FORMAT = "superstep-cassette"
VERSION = 1
SIZE_LIMIT = 50 * 1024 * 1024
"""Bytes of recorded answers; what comes after is not recorded, and the cassette says so."""

_NOT_IN_KEY = ("stream_options", "user", "metadata", "safety_identifier", "prompt_cache_key")
COMPLETE = "complete"
CLOSED = "closed by us"


class CassetteProblem(Exception):
    """A file that is no cassette, or one of a later version. The text is for people."""


@dataclass(frozen=True, slots=True)
class CallEntry:
    """One model call. ``chunks``: milliseconds since the answer began, and the bytes."""

    key: str
    node: str
    call_index: int
    """Number of the node's call, from 1."""
    request: Any
    status: int
    headers: Mapping[str, str]
    chunks: tuple[tuple[float, bytes], ...]
    end: str = COMPLETE
    """"complete", "closed by us", or what broke the connection."""
    model: str = ""
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool call. ``error`` is the class of what it raised, else empty; ``result`` is then its text."""

    node: str
    name: str
    arguments: Mapping[str, Any]
    result: Any
    error: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A call replayed by its position that asks something else than the recorded one."""

    node: str
    call_index: int
    recorded: Any
    asked: Any


@dataclass(slots=True)
class Cassette:
    """Filled by recording, or loaded. One cassette is for one run."""

    calls: list[CallEntry] = field(default_factory=list)
    tools: list[ToolEntry] = field(default_factory=list)
    full: bool = False
    """Whether answers came after the limit was reached."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out when it was written."""
    created: str = ""
    differences: list[Difference] = field(default_factory=list)
    _size: int = field(default=0, init=False)

    def add_call(self, entry: CallEntry) -> None:
        """A recorded call, unless the cassette is full."""
        self._size += sum(len(piece) for _, piece in entry.chunks)
        if self._size > SIZE_LIMIT:
            self.full = True
            return
        self.calls.append(entry)

    # -------------------------------------------------------------------------------------------------------- file

    def save(self, path: str | Path, known: Iterable[str] = ()) -> None:
        """Writes the file in one piece, without secrets; ``known`` are those in use."""
        redactor = Redactor(known)
        lines = [_line(_plain_call(entry, redactor)) for entry in self.calls]
        lines += [_line({"tool": redactor.value(asdict(entry))}) for entry in self.tools]
        self.redacted = tuple(sorted({*self.redacted, *redactor.found}))
        head = {
            "format": FORMAT,
            "version": VERSION,
            "created": self.created or datetime.now(UTC).isoformat(timespec="seconds"),
            "full": self.full,
            "redacted": list(self.redacted),
        }
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        part.write_text("".join([_line(head), *lines]), encoding="utf-8", newline="\n")
        part.replace(path)

    @staticmethod
    def load(path: str | Path) -> Cassette:
        """The cassette of a file. Raises :class:`CassetteProblem`, ``OSError``."""
        with Path(path).open(encoding="utf-8") as file:
            rows = [_row(text, number) for number, text in enumerate(file, 1) if text.strip()]
        head = rows[0] if rows else {}
        if head.get("format") != FORMAT:
            raise CassetteProblem(f"{path} is no cassette")
        if not isinstance(head.get("version"), int) or head["version"] > VERSION:
            raise CassetteProblem(f"{path} was written by a later version of the studio")
        try:
            return Cassette(
                [_call(row) for row in rows[1:] if "tool" not in row],
                [ToolEntry(**row["tool"]) for row in rows[1:] if "tool" in row],
                bool(head.get("full")),
                tuple(head.get("redacted", ())),
                str(head.get("created", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CassetteProblem(f"{path} cannot be read: {error}") from error


def call_key(method: str, path: str, body: Any) -> str:
    """What a call asks, whoever is asked: neither address nor key nor headers are part of it."""
    for known in ("/chat/completions", "/models"):
        if path.endswith(known):
            path = known
    if isinstance(body, Mapping):
        body = {name: value for name, value in body.items() if name not in _NOT_IN_KEY}
    text = json.dumps([method, path, body], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _row(text: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except ValueError as error:
        raise CassetteProblem(f"line {number} is no JSON") from error
    if not isinstance(row, dict):
        raise CassetteProblem(f"line {number} is no object")
    return row


def _plain_call(entry: CallEntry, redactor: Redactor) -> dict[str, Any]:
    """An answer is one text for the search for secrets: one may lie over the border of two pieces."""
    pieces = [piece for _, piece in entry.chunks]
    clean = _redacted_pieces(pieces, redactor)
    times = [time for time, _ in entry.chunks]
    return {
        **{key: value for key, value in asdict(replace(entry, chunks=())).items() if key not in ("chunks", "request")},
        "request": redactor.value(entry.request),
        "chunks": [_chunk(time, piece) for time, piece in zip(times, clean, strict=True)],
    }


def _redacted_pieces(pieces: Sequence[bytes], redactor: Redactor) -> list[bytes]:
    """The pieces without secrets. If the whole holds one, what comes after it moves within its piece."""
    whole = b"".join(pieces)
    try:
        text = whole.decode()
    except UnicodeDecodeError:
        return list(pieces)
    clean = redactor.text(text)
    if clean == text:
        return list(pieces)
    each = [redactor.text(piece.decode("utf-8", "replace")).encode() for piece in pieces]
    if b"".join(each).decode("utf-8", "replace") == clean:
        return each
    return [clean.encode(), *(b"" for _ in pieces[1:])]


def _chunk(time: float, piece: bytes) -> list[Any]:
    try:
        return [round(time, 1), piece.decode()]
    except UnicodeDecodeError:
        return [round(time, 1), base64.b64encode(piece).decode("ascii"), "base64"]


def _call(row: Mapping[str, Any]) -> CallEntry:
    chunks = tuple(
        (float(chunk[0]), base64.b64decode(chunk[1]) if len(chunk) > 2 else chunk[1].encode())
        for chunk in row["chunks"]
    )
    return CallEntry(**{**row, "chunks": chunks})
