"""Where things are kept: resources of the program, and the user's folders. The only module that looks for either."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import platformdirs

APP = "superstep-studio"


@cache
def _resources() -> Path:
    package = Path(__file__).resolve().parents[1]
    wheel = package / "_resources"
    return wheel if wheel.is_dir() else package.parent / "resources"


def resource(*parts: str) -> Path:
    """A file or folder of ``resources``, in the wheel or in a checkout."""
    return _resources().joinpath(*parts)


def config_dir() -> Path:
    """``settings.toml``, ``profiles.toml``, ``prices.toml``; made if missing, mode 0700."""
    return _made(Path(platformdirs.user_config_dir(APP, appauthor=False)))


def data_dir() -> Path:
    """``runs/<workflow id>.db``, ``trust.json``, own templates."""
    return _made(Path(platformdirs.user_data_dir(APP, appauthor=False)))


def state_dir() -> Path:
    """``workspaces/<workflow id>.json``, journals, recovery, logs."""
    return _made(Path(platformdirs.user_state_dir(APP, appauthor=False)))


def log_dir() -> Path:
    """``studio.log``, ``crash.txt``."""
    return _made(state_dir() / "logs")


def cache_dir() -> Path:
    """What can be made again."""
    return _made(Path(platformdirs.user_cache_dir(APP, appauthor=False)))


def run_store(workflow_id: str) -> Path:
    """The run database of a workflow."""
    return _made(data_dir() / "runs") / f"{workflow_id}.db"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
