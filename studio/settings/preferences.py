"""What a person prefers: ``settings.toml``. A wrong value costs that value only, a damaged file costs no start."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import tomli_w

from studio.settings import keeping, places

Theme = Literal["system", "light", "dark"]
Wheel = Literal["scroll", "zoom"]
_CHOICES: Mapping[str, tuple[str, ...]] = {"theme": get_args(Theme), "wheel": get_args(Wheel)}


@dataclass(frozen=True, slots=True)
class Preferences:
    """``font_scale`` is a factor from 0.75 to 2. ``interpreter`` is a Python for user code, "" for the program's own.
    ``editor``: the command that opens a file of code, with ``{file}`` and ``{line}``; "" for that of the system.
    ``wheel``: what the wheel does on the canvas; with Ctrl it does the other. ``shortcuts``: keys by action id in place
    of its own, () for none, as portable texts ("Ctrl+Shift+F").
    ``telemetry``: runs are told to OpenTelemetry; ``telemetry_content``: with messages, arguments and results.
    ``layouts``: named switches of the window (docks, panels), on or off. ``kept``: entries of newer versions."""

    theme: Theme = "system"
    font_scale: float = 1.0
    reduce_motion: bool = False
    reopen_last: bool = True
    interpreter: str = ""
    editor: str = ""
    call_seconds: float = 60.0
    wheel: Wheel = "scroll"
    more_contrast: bool = False
    telemetry: bool = False
    telemetry_content: bool = False
    shortcuts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    layouts: Mapping[str, bool] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)

    def with_layout(self, name: str, on: bool) -> Preferences:
        """A copy with one switch set."""
        return replace(self, layouts={**self.layouts, name: on})


_LIMITS: Mapping[str, tuple[float, float]] = {
    "font_scale": (0.75, 2.0),
    "call_seconds": (1.0, 86_400.0),
}
_NAMES = tuple(f.name for f in fields(Preferences) if f.name not in ("layouts", "shortcuts", "kept"))


def settings_file() -> Path:
    """Where preferences are."""
    return places.config_dir() / "settings.toml"


def read_preferences() -> tuple[Preferences, tuple[str, ...]]:
    """The preferences, and a sentence for everything that had to be ignored."""
    nothing: dict[str, Any] = {}
    data, damaged = keeping.read(settings_file(), tomllib.loads, nothing)
    problems = [damaged] if damaged else []
    accepted: dict[str, Any] = {}
    for name in _NAMES:
        if name in data:
            value = _checked(name, data[name])
            if value is None:
                problems.append(f"settings.toml: {name} has a value that is not possible; the default is used.")
            else:
                accepted[name] = value
    layouts = data.get("layouts")
    if isinstance(layouts, dict):
        accepted["layouts"] = {k: v for k, v in layouts.items() if isinstance(v, bool)}
    shortcuts = data.get("shortcuts")
    if isinstance(shortcuts, dict):
        accepted["shortcuts"] = {k: tuple(map(str, v)) for k, v in shortcuts.items() if isinstance(v, list)}
    kept = {k: v for k, v in data.items() if k not in (*_NAMES, "layouts", "shortcuts")}
    return Preferences(**accepted, kept=kept), tuple(problems)


def change_preferences(before: Preferences, after: Preferences) -> None:
    """Writes what a person changed; what another window changed meanwhile stays. Raises ``OSError``."""
    with keeping.alone(settings_file()):
        stored, problems = read_preferences()
        if problems:
            write_preferences(after)
            return
        names = (*_NAMES, "layouts", "shortcuts", "kept")
        was, now = ({name: getattr(made, name) for name in names} for made in (before, after))
        changed = {name: value for name, value in now.items() if value != was[name]}
        for name in {"layouts", "shortcuts"} & changed.keys():
            changed[name] = keeping.merged(was[name], now[name], getattr(stored, name))
        write_preferences(replace(stored, **changed))


def write_preferences(preferences: Preferences) -> None:
    """Replaces ``settings.toml``. Raises ``OSError``."""
    data: dict[str, Any] = {name: getattr(preferences, name) for name in _NAMES}
    keys = {action: list(keys) for action, keys in preferences.shortcuts.items()}
    data |= {"layouts": dict(preferences.layouts), **({"shortcuts": keys} if keys else {}), **preferences.kept}
    keeping.write(settings_file(), tomli_w.dumps({k: v for k, v in data.items() if v is not None}))


def _checked(name: str, value: Any) -> Any:
    """The value as the preference wants it, None if it is not possible."""
    if name in _CHOICES:
        return value if value in _CHOICES[name] else None
    default = getattr(Preferences(), name)
    if isinstance(default, bool | str):
        return value if type(value) is type(default) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    low, high = _LIMITS[name]
    return float(value) if low <= value <= high else None
