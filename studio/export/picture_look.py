"""How a picture of a drawing looks; what paints it is in the window's rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PictureKind = Literal["svg", "png"]


@dataclass(frozen=True, slots=True)
class PictureLook:
    """``scale``: pixels of a PNG per scene unit. ``embed``: the workflow is kept in the picture."""

    scheme: Literal["light", "dark"] = "light"
    transparent: bool = False
    scale: float = 2.0
    embed: bool = False
