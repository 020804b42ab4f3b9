"""Victims that start fast: what they need is loaded once, and each is a fork of this program. ``python -m
tests.crash.nursery`` reads orders, lines of JSON, and answers each when its victim has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from tests.crash.points import End
from tests.crash.victims import ROOT, Said, folders

KILLED = -9


class Nursery:
    """For the test. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with (folder / "nursery.txt").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.nursery"],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def live(self, home: Path, life: str, end: End | None = None) -> tuple[int, Said]:
        """Lets a victim live in a home; gives how it ended (:data:`KILLED`, 0) and what it said."""
        home.mkdir(parents=True, exist_ok=True)
        order = {"home": str(home), "life": life, "end": [end.phase, end.at, end.beside, end.only] if end else None}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, (self._folder / "nursery.txt").read_text(encoding="utf-8")
        said = (home / "said.jsonl").read_bytes().split(b"\n")
        code = int(json.loads(answer)["code"])
        assert code in (0, KILLED), (home / "stderr.txt").read_text(encoding="utf-8")
        return code, [json.loads(line) for line in said if line.endswith(b"}")]

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def _be_born(order: dict[str, Any]) -> None:
    """In the fork: never returns."""
    code = 1
    try:
        from tests.crash.timeline_victim import live

        home = Path(order["home"])
        os.environ.update(folders(home))
        for number, path in ((0, os.devnull), (1, home / "said.jsonl"), (2, home / "stderr.txt")):
            handle = os.open(path, os.O_RDONLY if number == 0 else os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            os.dup2(handle, number)
        os.chdir(home)
        live(order["life"], End(*order["end"]) if order["end"] else None)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _main() -> None:
    from studio.agents.connection import preload
    from studio.bridge.warming import load_plans

    import tests.crash.timeline_victim  # noqa: F401  (loaded once, for all)

    preload()
    load_plans()
    assert threading.active_count() == 1, "a fork has one thread"
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _be_born(json.loads(line))
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
