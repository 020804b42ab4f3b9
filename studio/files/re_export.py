"""Exporting again into the same folder: what was written there last time, and what a person has changed in it since.

Three texts of each file are compared by lines: what was written last time, what stands in the folder now, and what
would be written. Lines that only a person changed are kept, lines that only the export changed are written. Where both
changed the same lines, or nobody knows what was written before, a person is to decide.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from studio.files.atomic import write_bytes
from studio.files.problems import FileProblem
from studio.files.project import write_project

_NO_TEXT = "\ufffd"
"""In place of bytes that are no text: writing such a file again would change them."""
Kind = Literal["new", "same", "changed", "kept", "lost"]


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """``now`` is the text in the folder, None if there is no file; ``text`` is what would be written.

    ``kind``: ``new``; ``same``; ``changed``: only lines that the export had written are replaced; ``kept``: lines that
    were changed by hand stay; ``lost``: they would go, because the export changed the same lines, or they may be by
    hand, because it is not known what was written last time.
    """

    path: str
    now: str | None
    text: str
    kind: Kind


class ExportRecord:
    """What was written to one folder last time, kept below ``state`` (a folder of the program, not of the project)."""

    def __init__(self, state: Path, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._file = state / "exports" / f"{_digest(self._folder)}.json"

    def files(self) -> dict[str, str]:
        """Path -> text; nothing if nothing is known, or what is known cannot be read."""
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))["files"]
            return {str(path): str(text) for path, text in found.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def keep(self, files: Mapping[str, str]) -> None:
        """Remembers it. Raises :class:`FileProblem`."""
        body = {"folder": self._folder, "files": dict(files)}
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileProblem(f"{self._file.parent} cannot be made: {error.strerror}.") from error
        write_bytes(self._file, json.dumps(body, ensure_ascii=False).encode())


def planned(files: Mapping[str, str], folder: Path, record: ExportRecord) -> tuple[PlannedFile, ...]:
    """What writing the files would do in the folder, file by file. Nothing is written."""
    written = record.files()
    return tuple(_planned(path, text, _text_of(Path(folder, path)), written.get(path)) for path, text in files.items())


def write_planned(
    plan: Iterable[PlannedFile],
    files: Mapping[str, str],
    folder: Path,
    record: ExportRecord,
    left: Collection[str] = (),
) -> tuple[Path, ...]:
    """Writes what was planned, apart from the paths in ``left``, which stay as they are; returns what was written.

    ``files`` is the export itself: what is remembered as written, so that changes by hand are known again next time.
    Raises :class:`FileProblem`.
    """
    taken = {file.path: file.text for file in plan if file.path not in left}
    paths = write_project(taken, folder)
    record.keep({**record.files(), **{path: text for path, text in files.items() if path in taken}})
    return paths


def merged(before: str, by_hand: str, exported: str) -> str | None:
    """Both sets of changes to ``before`` in one text, by lines; None if they touch the same or neighbouring lines."""
    base = before.split("\n")
    hunks = sorted({*_hunks(base, by_hand.split("\n")), *_hunks(base, exported.split("\n"))})
    found: list[str] = []
    at = 0
    for number, (start, end, lines) in enumerate(hunks):
        if number and start <= hunks[number - 1][1]:
            return None
        found += (*base[at:start], *lines)
        at = end
    return "\n".join((*found, *base[at:]))


def _planned(path: str, text: str, now: str | None, before: str | None) -> PlannedFile:
    if now is None:
        return PlannedFile(path, now, text, "new")
    if now == text:
        return PlannedFile(path, now, text, "same")
    if before is None:
        return PlannedFile(path, now, text, "lost")
    if now == before:
        return PlannedFile(path, now, text, "changed")
    both = None if _NO_TEXT in now else merged(before, now, text)
    return PlannedFile(path, now, text, "lost") if both is None else PlannedFile(path, now, both, "kept")


def _hunks(base: list[str], other: list[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """(first line, line after the last one, lines instead) of each place that differs."""
    matcher = SequenceMatcher(None, base, other, autojunk=False)
    return [(a1, a2, tuple(other[b1:b2])) for tag, a1, a2, b1, b2 in matcher.get_opcodes() if tag != "equal"]


def _text_of(file: Path) -> str | None:
    """The text, with line ends as they are written here; None if there is no file. See ``_NO_TEXT``."""
    try:
        return file.read_bytes().replace(b"\r\n", b"\n").decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
