"""Painting shared by the canvas and the panels: state marks, kind discs, chips, shadows, glyphs."""

from studio.ui.paint.chips import ChipLook, ChipText
from studio.ui.paint.glyphs import draw_glyph
from studio.ui.paint.ink import Ink, ink, scene_font
from studio.ui.paint.marks import (
    KIND_ICONS,
    KIND_NAMES,
    STATUS_TINTS,
    STATUS_TOKENS,
    OctagonVariant,
    draw_badge,
    draw_kind,
    draw_octagon,
    draw_ring,
    kind_name,
)
from studio.ui.paint.shadow import draw_shadow

__all__ = [
    "KIND_ICONS",
    "KIND_NAMES",
    "STATUS_TINTS",
    "STATUS_TOKENS",
    "ChipLook",
    "ChipText",
    "Ink",
    "OctagonVariant",
    "draw_badge",
    "draw_glyph",
    "draw_kind",
    "draw_octagon",
    "draw_ring",
    "draw_shadow",
    "ink",
    "kind_name",
    "scene_font",
]
