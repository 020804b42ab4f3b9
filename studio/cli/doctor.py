"""``doctor``: whether everything that the program needs is there."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata, util
from pathlib import Path

from studio.agents.errors import ProviderError
from studio.agents.probe import Probe
from studio.assembly.profile_client import client_settings
from studio.cli.exits import DONE, FAILED, usage
from studio.settings import places
from studio.settings.profiles import Profile, read_profiles
from studio.settings.secrets import Secrets
from studio.workers import UserCodeError, Worker, default_interpreter

_PACKAGES = ("PySide6", "qasync", "openai", "httpx2", "pydantic", "networkx", "keyring", "mcp", "pygments")

Finding = tuple[bool, str, str]
"""Whether it is fine, what was looked at, and what was found."""


def command(options: argparse.Namespace) -> int:
    """Prints a line per thing; 1 if one is not fine."""
    profiles, _ = read_profiles()
    probed = profiles.find(options.probe) if options.probe else None
    if options.probe and probed is None:
        usage(f"There is no profile {options.probe}. There are: {', '.join(p.name for p in profiles.profiles)}.")
    fine = True
    for good, what, found in (*_versions(), *_folders(), *_settings(), *asyncio.run(_live(probed))):
        fine &= good
        print(f"{'ok' if good else 'no':3} {what}: {found}")
    return DONE if fine else FAILED


def _versions() -> Iterator[Finding]:
    yield True, "Superstep Studio", _version("superstep-studio") or "not installed as a package"
    yield sys.version_info >= (3, 11), "Python", f"{platform.python_version()}, {sys.executable}"
    yield True, "System", f"{platform.system()} {platform.release()}, {platform.machine()}"
    for package in _PACKAGES:
        there = util.find_spec(package) is not None
        yield there, package, _version(package) or ("there" if there else "missing; run packaging/run --setup-only")
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if sys.platform.startswith("linux"):
        yield True, "Display", display or "none; the commands without a window work"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _folders() -> Iterator[Finding]:
    folders: tuple[tuple[str, Callable[[], Path]], ...] = (
        ("Settings folder", places.config_dir),
        ("Data folder", places.data_dir),
        ("State folder", places.state_dir),
    )
    for what, place in folders:
        try:
            folder = place()
            with tempfile.TemporaryFile(dir=folder):
                pass
            yield True, what, str(folder)
        except OSError as error:
            yield False, what, f"cannot be written: {error}"
    templates = list(places.resource("templates").glob("*.workflow.json"))
    yield bool(templates), "Templates", f"{len(templates)} in {places.resource('templates')}"


def _settings() -> Iterator[Finding]:
    profiles, problems = read_profiles()
    yield not problems, "Profiles", " ".join(problems) or ", ".join(p.name for p in profiles.profiles)


async def _live(probed: Profile | None) -> list[Finding]:
    secrets = Secrets()
    found = [await _worker(), await _keychain(secrets)]
    if probed is not None:
        found += await _probe(probed, secrets)
    return found


async def _worker() -> Finding:
    worker = Worker()
    before = time.perf_counter()
    try:
        await worker.start()
        took = (time.perf_counter() - before) * 1000
        return True, "Worker for user code", f"starts in {took:.0f} ms with {default_interpreter()}"
    except (UserCodeError, OSError) as error:
        return False, "Worker for user code", str(error)
    finally:
        await worker.close()


async def _keychain(secrets: Secrets) -> Finding:
    state = await secrets.keychain()
    return True, "Key store", "usable" if state.usable else f"not usable, keys come from variables: {state.reason}"


async def _probe(profile: Profile, secrets: Secrets) -> list[Finding]:
    """What the model can do: a few small questions without user data."""
    what = f"Model of {profile.name}"
    if profile.offline:
        return [(True, what, "built in, needs no network")]
    try:
        settings = await client_settings(profile, secrets)
    except ProviderError as error:
        return [(False, what, str(error))]
    result = await Probe(settings).run()
    if result.stopped:
        return [(False, what, result.stopped)]
    # What a model cannot do is no fault: only that it does not answer is one.
    rows = [(True, f"{what}, {f.key.replace('_', ' ')}", f"{f.works}: {f.evidence}") for f in result.findings]
    usage = result.usage
    told = usage is not None and usage.input is not None
    tokens = f"{(usage.input or 0) + (usage.output or 0)} tokens" if usage is not None and told else "tokens not told"
    return [*rows, (True, what, f"asked {result.calls} times, {tokens}")]
