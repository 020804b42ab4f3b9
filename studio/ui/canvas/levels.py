"""How much is drawn at which zoom."""

from __future__ import annotations

from enum import IntEnum

LIMITS = (0.30, 0.45, 0.60)
HYSTERESIS = 0.03
SHADOW_FROM = 0.8
LEAST, MOST = 0.01, 4.0
"""Zoom goes no further."""
READABLE = 8.0
"""Text is never smaller than this on the screen."""
WIDEST = 1.27
"""How much larger than in the scene chips are at the lowest zoom at which all of them are shown, so that they can be
read."""
TITLES_UP_TO = 150
"""At most this many visible cards have titles at :attr:`Level.FLAT`."""


class Level(IntEnum):
    """Far: the view paints kept lists. Flat: rectangles and hairlines. Middle: disc and title. Near: everything."""

    FAR = 0
    FLAT = 1
    MIDDLE = 2
    NEAR = 3


def level_at(zoom: float, now: Level | None = None) -> Level:
    """The level for a zoom; near a limit the level of now stays, so that it does not flicker."""
    level = Level(sum(zoom >= limit for limit in LIMITS))
    if now is None or level == now:
        return level
    limit = LIMITS[min(level, now)] if abs(level - now) == 1 else None
    if limit is not None and level > now and zoom < limit + HYSTERESIS:
        return now
    return level
