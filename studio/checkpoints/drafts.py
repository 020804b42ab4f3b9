"""Answers that a person has begun and not sent, kept beside the runs: neither closing nor a crash loses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from studio.checkpoints.database import Database

_SCHEMA = "CREATE TABLE IF NOT EXISTS draft (request TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


def write_drafts(database: Database, drafts: Mapping[str, Any], hide: Callable[[str], str]) -> None:
    """Keeps JSON values by request, without what ``hide`` takes out; None takes one away. Within a transaction."""
    database.execute(_SCHEMA)
    for request, value in drafts.items():
        if value is None:
            database.execute("DELETE FROM draft WHERE request=?", (request,))
        else:
            text = hide(json.dumps(value, ensure_ascii=False))
            database.execute("INSERT OR REPLACE INTO draft (request, value) VALUES (?, ?)", (request, text))


def read_drafts(database: Database) -> dict[str, Any]:
    """All drafts. One that cannot be read is left out."""
    if not database.execute("SELECT count(*) FROM sqlite_master WHERE name='draft'").fetchone()[0]:
        return {}
    found: dict[str, Any] = {}
    for request, text in database.execute("SELECT request, value FROM draft").fetchall():
        try:
            found[request] = json.loads(text)
        except ValueError:
            continue
    return found
