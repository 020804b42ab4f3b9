"""Exported code taken apart: generated blocks by their comments, regions of user code, and digests of both.

Written beside an export and compared when it is read back; so both know what was edited in between.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass, field

HEAD = "#head"
EDGES = "#edges"
_STARTS = re.compile(r"# (?:(node|condition|tool): (\S.*?)|(edges))\s*\Z")
_REGION = re.compile(r"\s*# region user (\S.*?)\s*\Z")
_END = re.compile(r"\s*# endregion\s*\Z")


@dataclass(frozen=True, slots=True)
class Code:
    """``blocks``: name of the block (id of the node, ``condition:x``, ``tool:x``, ``#edges``, ``#head`` for what stands
    first) -> generated text without user regions. ``regions``: owner -> user code at the left margin.
    ``whole``: the blocks with their regions. ``damaged`` is the line of a marker that does not fit, else None."""

    blocks: dict[str, str] = field(default_factory=dict)
    regions: dict[str, str] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    damaged: int | None = None


def taken_apart(text: str) -> Code:
    """The blocks and regions of a module."""
    blocks: dict[str, list[str]] = {HEAD: []}
    whole: dict[str, list[str]] = {HEAD: []}
    regions: dict[str, str] = {}
    current, owner, opened, damaged = HEAD, "", 0, None
    inside: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        started = None if owner else _STARTS.match(line)
        if started:
            current = EDGES if started[3] else started[2] if started[1] == "node" else f"{started[1]}:{started[2]}"
            damaged = damaged or (number if current in blocks else None)
            blocks.setdefault(current, [])
            whole.setdefault(current, [])
        whole[current].append(line)
        region, end = _REGION.match(line), _END.match(line)
        if region:
            damaged = damaged or (number if owner or region[1] in regions else None)
            owner, opened, inside = region[1], number, []
        elif end:
            damaged = damaged or (None if owner else number)
            if owner:
                regions[owner] = textwrap.dedent("\n".join(inside)).rstrip()
            owner = ""
        elif owner:
            inside.append(line)
        else:
            blocks[current].append(line)
    if owner:
        damaged = damaged or opened
    joined = {name: "\n".join(line.rstrip() for line in lines).rstrip() for name, lines in blocks.items()}
    return Code(joined, regions, {name: "\n".join(lines).rstrip() for name, lines in whole.items()}, damaged)


def digest(text: str) -> str:
    """The first 16 hex digits of SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
