"""Provider profiles: ``profiles.toml``. A profile holds references to secrets, never a secret."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from studio.settings import keeping, places
from studio.settings.profile_options import ProfileOptions, read_options, write_options
from studio.settings.secrets import REFERENCES

OFFLINE_NAME = "Offline model"


@dataclass(frozen=True, slots=True)
class Profile:
    """``kind`` is a key of :func:`presets`; ``key_ref`` and the values of ``headers`` are references to secrets
    (:data:`REFERENCES`) or, for headers, plain texts. ``switches``: how the server wants to be spoken to, where that
    differs from its kind. ``probe``: what a probe found, with its date. ``kept``: entries of newer versions."""

    name: str
    kind: str = "other"
    base_url: str = ""
    key_ref: str = ""
    model: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    options: ProfileOptions = field(default_factory=ProfileOptions)
    switches: Mapping[str, Any] = field(default_factory=dict)
    probe: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def offline(self) -> bool:
        """Whether this is the built-in model: no network, no key."""
        return self.kind == "offline"


OFFLINE = Profile(OFFLINE_NAME, "offline", "http://offline.invalid/v1", "", "offline")


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a kind of provider. ``variable``: the usual environment variable of the key; ``key``: whether
    a key is needed ("always", "maybe", "never")."""

    kind: str
    title: str
    base_url: str = ""
    variable: str = ""
    key: str = "maybe"
    note: str = ""
    api_version: str = ""
    """Of a dated address: the version that a new profile asks for."""


@dataclass(frozen=True, slots=True)
class Profiles:
    """All profiles, the built-in one first, and the name of the one for nodes that name none."""

    profiles: tuple[Profile, ...] = (OFFLINE,)
    default: str = OFFLINE_NAME

    def find(self, name: str | None) -> Profile | None:
        """The profile of this name, for None the default one; None if there is none."""
        wanted = name if name else self.default
        return next((p for p in self.profiles if p.name == wanted), None)

    def with_profile(self, profile: Profile) -> Profiles:
        """A copy with one profile added or replaced by name. The built-in one cannot be replaced."""
        if profile.name == OFFLINE_NAME:
            return self
        if any(p.name == profile.name for p in self.profiles):
            changed = tuple(profile if p.name == profile.name else p for p in self.profiles)
            return Profiles(changed, self.default)
        return Profiles((*self.profiles, profile), self.default)

    def without(self, name: str) -> Profiles:
        """A copy without one profile; the built-in one stays."""
        left = tuple(p for p in self.profiles if p.name != name or p.offline)
        return Profiles(left, OFFLINE_NAME if name == self.default else self.default)


def probed(profile: Profile) -> dict[str, str]:
    """What a probe found, by capability; empty without one, or if the profile asks another model now."""
    rows = profile.probe.get("found")
    if not isinstance(rows, list) or profile.probe.get("model") != profile.model:
        return {}
    return {str(r["key"]): str(r["works"]) for r in rows if isinstance(r, dict) and "key" in r and "works" in r}


@cache
def presets() -> Mapping[str, Preset]:
    """The kinds of providers, from a file of the resources that a user can correct."""
    data = tomllib.loads(places.resource("providers.toml").read_text(encoding="utf-8"))
    return {kind: Preset(kind, **entry) for kind, entry in data.items()}


def profiles_file() -> Path:
    """Where profiles are."""
    return places.config_dir() / "profiles.toml"


def read_profiles() -> tuple[Profiles, tuple[str, ...]]:
    """The profiles, and a sentence for everything that had to be ignored."""
    nothing: dict[str, Any] = {}
    data, damaged = keeping.read(profiles_file(), tomllib.loads, nothing)
    problems = [damaged] if damaged else []
    found: dict[str, Profile] = {OFFLINE_NAME: OFFLINE}
    entries = data.get("profile", [])
    for entry in entries if isinstance(entries, list) else []:
        profile = _profile(entry)
        if profile is None or profile.name in found:
            problems.append("profiles.toml: an entry without a name of its own was left out.")
        elif (secret := _literal_secret(profile)) is not None:
            problems.append(f"profiles.toml: {profile.name} holds {secret} itself; only a reference is allowed.")
        else:
            bad = read_options(entry.get("options"))[1]
            problems += [f"profiles.toml: {profile.name}: {name} has a value that is not possible." for name in bad]
            found[profile.name] = profile
    default = data.get("default")
    return Profiles(tuple(found.values()), default if default in found else OFFLINE_NAME), tuple(problems)


def current_profiles() -> Profiles:
    """The profiles, read again when the file has changed: asked after every change of a document."""
    try:
        found = profiles_file().stat()
        stamp = (str(profiles_file()), found.st_mtime_ns, found.st_size)
    except OSError:
        stamp = (str(profiles_file()), 0, 0)
    return _profiles_at(stamp)


@lru_cache(maxsize=4)
def _profiles_at(_stamp: tuple[str, int, int]) -> Profiles:
    return read_profiles()[0]


def write_profiles(profiles: Profiles) -> None:
    """Replaces ``profiles.toml``. Raises ``OSError``."""
    entries = [_entry(p) for p in profiles.profiles if not p.offline]
    keeping.write(profiles_file(), tomli_w.dumps({"default": profiles.default, "profile": entries}))


def change_profiles(before: Profiles, after: Profiles) -> Profiles:
    """Writes what a person or a refusal changed, and returns what is stored now: what another window changed meanwhile
    stays. Raises ``OSError``."""
    with keeping.alone(profiles_file()):
        stored = read_profiles()[0]
        was, mine, there = ({p.name: p for p in made.profiles} for made in (before, after, stored))
        default = after.default if after.default != before.default else stored.default
        found = keeping.merged(was, mine, there)
        made = Profiles(tuple(found.values()), default if default in found else OFFLINE_NAME)
        write_profiles(made)
    return made


def clean_base_url(typed: str) -> str:
    """A typed URL without blanks and without a pasted ``/chat/completions``."""
    url = typed.strip()
    return url.removesuffix("/").removesuffix("/chat/completions")


def references(profiles: Iterable[Profile]) -> set[str]:
    """Every reference to a secret that the profiles hold."""
    values = (value for p in profiles for value in (p.key_ref, *p.headers.values()))
    return {word for value in values for word in value.split(" ") if word.startswith(REFERENCES)}


_FIELDS = ("name", "kind", "base_url", "key_ref", "model")
_TABLES = ("switches", "probe")


def _profile(entry: Any) -> Profile | None:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(f, ""), str) for f in _FIELDS):
        return None
    name = entry.get("name", "").strip()
    headers = entry.get("headers", {})
    if not name or not isinstance(headers, dict):
        return None
    tables = {name: found for name in _TABLES if isinstance(found := entry.get(name), dict)}
    kept = {k: v for k, v in entry.items() if k not in (*_FIELDS, *_TABLES, "headers", "options")}
    return Profile(
        name,
        entry.get("kind", "other"),
        clean_base_url(entry.get("base_url", "")),
        entry.get("key_ref", "").strip(),
        entry.get("model", "").strip(),
        {str(k): str(v) for k, v in headers.items()},
        read_options(entry.get("options"))[0],
        tables.get("switches", {}),
        tables.get("probe", {}),
        kept,
    )


def _literal_secret(profile: Profile) -> str | None:
    return "a key" if profile.key_ref and not profile.key_ref.startswith(REFERENCES) else None


def _entry(profile: Profile) -> dict[str, Any]:
    data: dict[str, Any] = {f: v for f in _FIELDS if (v := getattr(profile, f)) is not None}
    tables: dict[str, Any] = {
        "headers": dict(profile.headers),
        "options": write_options(profile.options),
        "switches": dict(profile.switches),
        "probe": dict(profile.probe),
    }
    return data | dict(profile.kept) | {name: table for name, table in tables.items() if table}
