"""What the window remembers between starts: its size, its two layouts, inputs of runs."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field
from pathlib import Path

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


def _file() -> Path:
    return state_dir() / "window.json"


def load() -> WindowMemory:
    """What was saved; a fresh memory if nothing was or it cannot be read."""
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
        made = WindowMemory()
        for name, fresh in asdict(made).items():
            if isinstance(data.get(name), type(fresh)):
                setattr(made, name, data[name])
        return made
    except FileNotFoundError:
        return WindowMemory()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _log.info("The window's memory cannot be read, starting with a fresh one: %s", error)
        return WindowMemory()


def save(memory: WindowMemory) -> None:
    """Writes it; a full disk costs the layout, not the exit."""
    try:
        kept = asdict(memory)
        private = kept.pop("private")
        kept["inputs"] = {id: texts for id, texts in memory.inputs.items() if id not in private}
        part = _file().with_suffix(".part")
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(_file())
    except OSError as error:
        _log.info("The window's memory cannot be written: %s", error)
