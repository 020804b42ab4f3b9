"""State rings, state badges, breakpoint octagons, kind discs: painted the same on the canvas and in lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from studio.ui.paint.glyphs import draw_glyph
from studio.ui.paint.ink import Ink, ink
from studio.ui.paint.svgpath import parse
from studio.ui.theme import Theme

OctagonVariant = Literal["on", "off", "condition", "hit", "log", "message", "state", "budget"]

STATUS_TOKENS: Mapping[str, str] = {
    "queued": "run",
    "running": "run",
    "done": "done",
    "failed": "fail",
    "waiting": "wait",
    "paused": "wait",
    "stopped": "muted",
    "muted": "off",
}
"""Status -> token of its graphics; its text is ``<token>_t`` and its tint ``<token>_s`` where these exist."""

STATUS_TINTS: Mapping[str, str] = {
    "queued": "run_s",
    "running": "run_s",
    "done": "done_s",
    "failed": "fail_s",
    "waiting": "wait_s",
    "paused": "wait_s",
    "stopped": "sunken",
}

KIND_NAMES: Mapping[str, str] = {
    "agent": "Agent",
    "runner": "Conversation runner",
    "function": "Function",
    "human_input": "Human input",
    "sub_workflow": "Sub-workflow",
    "template": "Template",
    "join": "Join",
    "switch": "Switch",
    "fan_out": "Fan-out",
    "fan_in": "Fan-in",
    "direct": "Edge",
    "handoff": "Handoff",
    "note": "Note",
    "frame": "Frame",
    "sequential": "Sequential",
    "concurrent": "Concurrent",
    "group_chat": "Group chat",
    "transform": "Transform",
    "set_variable": "Set variable",
    "output": "Output",
    "loop": "Loop",
    "pass": "Pass through",
    "end": "End",
    "input": "Input",
    "placeholder": "Placeholder",
}
"""Kind of a node, edge or group -> its name for people."""

_GLYPHS: Mapping[str, str] = {
    "agent": "agent",
    "runner": "runner",
    "function": "function",
    "human_input": "human-input",
    "sub_workflow": "sub-workflow",
    "template": "template",
    "join": "join",
    "fan_in": "join",
    "switch": "switch",
    "fan_out": "fan-out",
    "direct": "link",
    "note": "note",
    "frame": "frame",
    "sequential": "sequential",
    "concurrent": "concurrent",
    "handoff": "handoff",
    "group_chat": "group-chat",
    "transform": "function",
    "set_variable": "function",
    "output": "output",
    "loop": "arrange",
    "pass": "link",
    "end": "output",
    "input": "play",
}
KIND_ICONS: Mapping[str, str] = {kind: f"own:{name}" for kind, name in _GLYPHS.items()}
"""Kind -> icon name for ``Theme.pixmap`` and ``Theme.icon``."""

_DISCS: Mapping[str, str] = {
    "agent": "k_agent",
    "runner": "k_agent",
    "function": "k_fn",
    "transform": "k_fn",
    "set_variable": "k_fn",
    "human_input": "k_human",
    "sub_workflow": "k_sub",
    "template": "k_tpl",
}

_NO_PEN, _NO_BRUSH = Qt.PenStyle.NoPen, Qt.BrushStyle.NoBrush
_OCTAGON = parse("M6 1.5h6L16.5 6v6L12 16.5H6L1.5 12V6z")
_IN_OCTAGON = {"hit": parse("M7 5.4v7.2l5-3.6z"), "condition": parse("M5.8 7.4h6.4M5.8 10.6h6.4")}
_TICK = parse("m4.8 8.2 2.2 2.2 4.2-4.6")
_CROSS = parse("m5.4 5.4 5.2 5.2M10.6 5.4l-5.2 5.2")
_BARS = parse("M6.3 5.2v5.6M9.7 5.2v5.6")
_TRIANGLE = parse("M6.3 5v6l4.6-3z")
_SLASH = parse("m4.6 11.4 6.8-6.8")
_RING = QRectF(1.8, 1.8, 34.4, 34.4)


def _disc() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QPointF(8, 8), 6.6, 6.6)
    return path


def _square() -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(QRectF(1.8, 1.8, 12.4, 12.4), 2.4, 2.4)
    return path


_DISC, _SQUARE = _disc(), _square()
_DASHES: Mapping[str, tuple[float, ...]] = {"failed": (10, 5), "waiting": (0.1, 5.3), "paused": (0.1, 5.3)}


def kind_name(kind: str) -> str:
    """What people call a kind; an unknown one is shown as it is written."""
    return KIND_NAMES.get(kind, kind.replace("_", " ").capitalize())


def draw_ring(painter: QPainter, theme: Theme, rect: QRectF, status: str, phase: float = 0.0) -> None:
    """The ring of a state in ``rect`` (38 square at scale 1). ``phase`` 0 to 1 turns the arc of a running node."""
    tools = ink(theme)
    scale = rect.width() / 38.0
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(scale, scale)
    painter.setBrush(_NO_BRUSH)
    token = STATUS_TOKENS.get(status)
    if status in ("idle", "", "queued", "running") or token is None:
        painter.setPen(tools.pen("border", 1.25))
        painter.drawEllipse(_RING)
    if status == "running":
        painter.setPen(tools.pen("run", 2.5))
        painter.drawArc(_RING, round((60 - 360 * phase) * 16), -236 * 16)
    elif token is not None and status not in ("queued", "muted"):
        painter.setPen(tools.pen(token, 2.5, _DASHES.get(status, ())))
        painter.drawEllipse(_RING)
    painter.restore()


def draw_badge(painter: QPainter, theme: Theme, rect: QRectF, status: str) -> None:
    """The badge of a state in ``rect`` (16 square at scale 1), with a gap around it; none when idle or queued."""
    token = STATUS_TOKENS.get(status)
    if token is None or status == "queued":
        return
    tools = ink(theme)
    scale = rect.width() / 16.0
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(scale, scale)
    hollow = status == "stopped"
    painter.setPen(tools.pen(token if hollow else "surface", 1.8 if hollow else 1.5))
    painter.setBrush(tools.brush("surface" if hollow else token))
    painter.drawPath(_SQUARE if status in ("failed", "stopped") else _DISC)
    _draw_in_badge(painter, tools, status)
    painter.restore()


def _draw_in_badge(painter: QPainter, tools: Ink, status: str) -> None:
    if status == "running":
        painter.fillPath(_TRIANGLE, tools.brush("surface"))
        return
    shape = {"done": _TICK, "failed": _CROSS, "waiting": _BARS, "paused": _BARS, "muted": _SLASH}.get(status)
    if shape is not None:
        painter.setBrush(_NO_BRUSH)
        painter.setPen(tools.pen("surface", 1.9 if shape is _BARS else 1.8))
        painter.drawPath(shape)


def draw_octagon(painter: QPainter, theme: Theme, rect: QRectF, variant: OctagonVariant = "on") -> None:
    """A breakpoint mark in ``rect`` (18 square at scale 1)."""
    tools = ink(theme)
    scale = rect.width() / 18.0
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(scale, scale)
    off = variant == "off"
    painter.setPen(tools.pen("bp" if off else "surface", 1.5))
    painter.setBrush(tools.brush("surface" if off else "bp"))
    painter.drawPath(_OCTAGON)
    if variant == "hit":
        painter.fillPath(_IN_OCTAGON["hit"], tools.brush("surface"))
    elif variant == "condition":
        painter.setPen(tools.pen("surface", 1.7))
        painter.drawPath(_IN_OCTAGON["condition"])
    elif variant == "log":
        painter.setPen(_NO_PEN)
        painter.setBrush(tools.brush("surface"))
        painter.drawEllipse(QPointF(9, 9), 2, 2)
    elif variant in ("message", "state", "budget"):
        name = {"message": "message", "state": "eye", "budget": "cost"}[variant]
        draw_glyph(painter, tools, name, 4.0, 4.0, 10, "surface")
    painter.restore()


def draw_kind(painter: QPainter, theme: Theme, rect: QRectF, kind: str, *, disc: bool = False) -> None:
    """The glyph of a kind on its tint: a rounded tile (lists, 18 or 22 square) or a disc (cards, 30 square)."""
    tools = ink(theme)
    tint = _DISCS.get(kind)
    painter.setPen(_NO_PEN)
    painter.setBrush(tools.brush(tint or "sunken"))
    if disc:
        painter.drawEllipse(rect)
    else:
        radius = 4 if rect.width() < 20 else 5
        painter.drawRoundedRect(rect, radius, radius)
    size = 16.0 if disc else 12.0 if rect.width() < 20 else 14.0
    size = size * rect.width() / 30 if disc else size
    x, y = rect.x() + (rect.width() - size) / 2, rect.y() + (rect.height() - size) / 2
    draw_glyph(painter, tools, _GLYPHS.get(kind, "unknown"), x, y, size, f"{tint}_i" if tint else "text2")
