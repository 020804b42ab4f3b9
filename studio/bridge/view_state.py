"""What a person set up around a workflow without changing it: breakpoints and the like, kept per workflow id."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from studio.settings import keeping
from studio.settings.places import state_dir


class ViewState:
    """A small JSON file in the state folder. A file that cannot be read counts as empty."""

    def __init__(self, workflow_id: str) -> None:
        folder = state_dir() / "workspaces"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{workflow_id}.json"

    def get(self, key: str, default: Any = None) -> Any:
        """The kept value."""
        return self._read().get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Keeps a JSON value. A full disk loses it; nothing else depends on it."""
        self.change(key, lambda _stored: value)

    def change(self, key: str, change: Callable[[Any], Any]) -> Any:
        """Keeps what is made of the kept value (None if there is none), and returns it: another window may have changed
        it since it was read."""
        with keeping.alone(self._path):
            values = self._read()
            values[key] = change(values.get(key))
            written = self._path.with_suffix(".tmp")
            try:
                written.write_text(json.dumps(values, indent=1), encoding="utf-8")
                os.replace(written, self._path)
            except OSError:
                written.unlink(missing_ok=True)
        return values[key]

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}
