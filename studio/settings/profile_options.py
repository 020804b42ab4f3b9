"""Options of a profile: limits of its calls and how its network is reached. A wrong value costs that value only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

Proxy = Literal["system", "none"]


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """Times are seconds. ``tries``: attempts of a call, the first included. ``first_byte`` 0: 300, or 900 for a server
    of this computer, which may load a model first. ``stall``: the longest silence inside an answer. ``proxy``: that of
    the system, or none; an address of this computer never has one. ``ca_file``: certificates of a company.
    ``api_version``: of a dated Azure address."""

    tries: int = 3
    first_byte: float = 0
    stall: float = 60
    max_parallel: int = 64
    proxy: Proxy = "system"
    ca_file: str = ""
    api_version: str = ""


LIMITS: Mapping[str, tuple[float, float]] = {
    "tries": (1, 10),
    "first_byte": (0, 86_400),
    "stall": (1, 86_400),
    "max_parallel": (1, 1000),
}


def read_options(data: object) -> tuple[ProfileOptions, tuple[str, ...]]:
    """Options from a table of a file, and the names of those whose value is not possible."""
    if not isinstance(data, Mapping):
        return ProfileOptions(), ()
    accepted: dict[str, Any] = {}
    bad: list[str] = []
    for field in fields(ProfileOptions):
        if field.name in data:
            value = _checked(field.name, data[field.name])
            if value is None:
                bad.append(field.name)
            else:
                accepted[field.name] = value
    return ProfileOptions(**accepted), tuple(bad)


def write_options(options: ProfileOptions) -> dict[str, Any]:
    """What differs from the defaults."""
    plain = asdict(ProfileOptions())
    return {name: value for name, value in asdict(options).items() if value != plain[name]}


def _checked(name: str, value: object) -> Any:
    if name == "proxy":
        return value if value in get_args(Proxy) else None
    if name not in LIMITS:
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    low, high = LIMITS[name]
    whole = name in ("tries", "max_parallel")
    if not low <= value <= high or (whole and value != int(value)):
        return None
    return int(value) if whole else float(value)
