"""What the window remembers between starts: its size, its two layouts, inputs of runs."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.settings import keeping
from studio.settings.places import state_dir

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class WindowMemory:
    """Bytes of Qt as hexadecimal text. ``folded``: whether the checkpoints are, by layout;
    ``inputs`` are earlier run inputs by workflow id, newest first."""

    geometry: str = ""
    layouts: dict[str, str] = field(default_factory=dict)
    folded: dict[str, bool] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    """Workflows that keep no message on disk: their inputs are forgotten at the end."""
    loaded: dict[str, Any] = field(default_factory=dict)
    """The tables as they were loaded: what differs from them is what this window changed."""


def _file() -> Path:
    return state_dir() / "window.json"


_TABLES = ("layouts", "folded", "inputs")


def load() -> WindowMemory:
    """What was saved; a fresh memory if nothing was or it cannot be read."""
    made = WindowMemory()
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
        for name in ("geometry", *_TABLES):
            if isinstance(data.get(name), type(getattr(made, name))):
                setattr(made, name, data[name])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        _log.info("The window's memory cannot be read, starting with a fresh one: %s", error)
        made = WindowMemory()
    made.loaded = {name: dict(getattr(made, name)) for name in _TABLES}
    return made


def save(memory: WindowMemory) -> None:
    """Writes what this window changed to what other windows wrote meanwhile; a full disk costs the layout, not the
    exit."""
    try:
        with keeping.alone(_file()):
            stored = load()
            kept: dict[str, Any] = {"geometry": memory.geometry or stored.geometry}
            for name in _TABLES:
                kept[name] = keeping.merged(memory.loaded.get(name, {}), getattr(memory, name), getattr(stored, name))
            kept["inputs"] = {
                id: list(dict.fromkeys([*texts, *stored.inputs.get(id, ())]))
                for id, texts in kept["inputs"].items()
                if id not in memory.private
            }
            keeping.write(_file(), json.dumps(kept, indent=1))
    except OSError as error:
        _log.info("The window's memory cannot be written: %s", error)
