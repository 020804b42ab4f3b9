"""One virtual environment per peer, in the user's cache, made when it is first needed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

PACKAGES: dict[str, tuple[str, ...]] = {
    "floor": ("msgspec",),
    "maf": ("agent-framework-core==1.23.0", "agent-framework-openai==1.17.0"),
    "langgraph": ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2"),
    "burr": ("burr==0.42.0",),
    "nodegraphqt": (
        "NodeGraphQt==0.6.44",
        "Qt.py==2.0.7",
        "setuptools==80.9.0",
        f"PySide6-Essentials=={version('PySide6-Essentials')}",
    ),
    "autogen": ("autogen-core==0.7.5", "autogen-agentchat==0.7.5"),
}
HOME = {"minimal": "floor", "minimal_task": "floor", "langgraph_delta": "langgraph"}
"""Adapters that run in the environment of another name."""


def _cache() -> Path:
    given = os.environ.get("BENCH_ENVS")
    return Path(given) if given else Path.home() / ".cache" / "superstep-studio-benchmarks"


def interpreter(adapter: str) -> Path | None:
    """The interpreter that runs an adapter; None if its environment cannot be made (no network, for example)."""
    if adapter == "product":
        return Path(sys.executable)
    name = HOME.get(adapter, adapter)
    place = _cache() / name
    python = place / "bin" / "python"
    if (place / ".ready").exists():
        return python
    place.parent.mkdir(parents=True, exist_ok=True)
    commands = [
        [sys.executable, "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "-q", *PACKAGES[name]],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"{name} is missing: {done.stderr.strip().splitlines()[-1:]}\n")
            return None
    (place / ".ready").touch()
    return python
