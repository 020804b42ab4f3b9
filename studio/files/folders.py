"""Where journals and kept versions are, unless a caller says otherwise: the state folder of ``settings/places.py``.

``files`` and ``settings`` are neighbours that may not import each other; a test keeps both answers equal.
"""

from __future__ import annotations

from pathlib import Path

import platformdirs


def state_folder(name: str) -> Path:
    """A folder in the user's state folder; made if missing, mode 0700."""
    folder = Path(platformdirs.user_state_dir("superstep-studio", appauthor=False)) / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
