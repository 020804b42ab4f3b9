"""Files that were open: the list on the welcome page and the tabs of the last session."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from studio.settings import keeping, places

LONGEST = 20


@dataclass(frozen=True, slots=True)
class RecentFile:
    """A workflow file; ``opened`` is unix time of the last opening."""

    path: str
    name: str = ""
    opened: float = 0.0

    @property
    def exists(self) -> bool:
        """Whether the file is still there."""
        return Path(self.path).is_file()


def _file() -> Path:
    return places.state_dir() / "recent.json"


def _parse(text: str) -> tuple[list[RecentFile], list[str]]:
    data = json.loads(text)
    files = [RecentFile(str(f["path"]), str(f.get("name", "")), float(f.get("opened", 0))) for f in data["files"]]
    return files, [str(p) for p in data.get("session", ())]


def _read() -> tuple[list[RecentFile], list[str]]:
    nothing: tuple[list[RecentFile], list[str]] = ([], [])
    return keeping.read(_file(), _parse, nothing)[0]


def _write(files: Iterable[RecentFile], session: Iterable[str]) -> None:
    data = {"version": 1, "files": [asdict(f) for f in files], "session": list(session)}
    keeping.write(_file(), json.dumps(data, ensure_ascii=False, indent=1))


def recent_files() -> list[RecentFile]:
    """The latest first, at most :data:`LONGEST`; files that are gone are listed too (they may be on a removed disk)."""
    return _read()[0]


def opened(path: Path, name: str, now: float | None = None) -> None:
    """Puts a file first in the list."""
    entry = RecentFile(str(path.resolve()), name, time.time() if now is None else now)
    with keeping.alone(_file()):
        files, session = _read()
        _write([entry, *(f for f in files if f.path != entry.path)][:LONGEST], session)


def forget(path: str) -> None:
    """Takes a file out of the list."""
    with keeping.alone(_file()):
        files, session = _read()
        _write([f for f in files if f.path != path], session)


def last_session() -> list[str]:
    """Paths of the tabs that were open when the program ended, in order."""
    return _read()[1]


def keep_session(paths: Iterable[Path]) -> None:
    """Remembers the open tabs for the next start."""
    with keeping.alone(_file()):
        _write(_read()[0], [str(p.resolve()) for p in paths])
