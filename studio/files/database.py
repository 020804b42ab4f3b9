"""One SQLite file, opened at the first use and used by one thread at a time."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENT = 10.0
"""Seconds to wait for another process."""


class SqliteFile:
    """Holds the connection. Write-ahead log: a process that is killed loses at most the transaction in progress."""

    def __init__(self, path: str | Path, *schema: str) -> None:
        """``schema`` makes what is missing; its statements may run again."""
        self._path = Path(path)
        self._schema = schema
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone."""
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            yield self._connection

    def close(self) -> None:
        """Gives the file back; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        """Tries again for ten seconds while another process makes, folds or recovers the file: SQLite then answers
        "locked" at once, whatever time-out it has."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        until = time.monotonic() + _PATIENT
        while True:
            try:
                return self._opened()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0.001, 0.01))

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None, timeout=_PATIENT)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            for statement in self._schema:
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection
