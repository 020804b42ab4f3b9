"""Markers of our own exports: blocks of generated code, regions of user code, hashes."""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass, field

EDGES = "#edges"
_NODE = re.compile(r"# node: (\S.*?)\s*\Z")
_EDGES = re.compile(r"# edges\s*\Z")
_REGION = re.compile(r"\s*# region user (\S.*?)\s*\Z")
_END = re.compile(r"\s*# endregion\s*\Z")
_LAYOUT = re.compile(r"# layout: (\S.*?)\s*\Z")


class DamagedMarkers(Exception):
    """Markers that were edited: unclosed, double, or of a node that is not there. ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class Block:
    """Generated code of one node (or of the edges), from its comment to the next such comment."""

    id: str
    line: int
    lines: list[str] = field(default_factory=list)
    regions: dict[str, str] = field(default_factory=dict)
    _generated: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The block as it stands in the file, without the blank lines behind it."""
        return "\n".join(self.lines).rstrip() + "\n"

    @property
    def hash(self) -> str:
        """The first 16 hex digits of SHA-256 over the block without user regions, trailing blanks removed."""
        text = "\n".join(line.rstrip() for line in self._generated).rstrip()
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(slots=True)
class Blocks:
    """A file taken apart: what stands before the first block, and the blocks in order."""

    head: list[str]
    blocks: dict[str, Block]

    @property
    def layout(self) -> str:
        """The name of the layout file, from the second line."""
        found = next((_LAYOUT.match(line) for line in self.head[:3] if _LAYOUT.match(line)), None)
        return found.group(1) if found else ""


def split(text: str) -> Blocks:
    """The parts of an export. Raises :class:`DamagedMarkers`."""
    found = Blocks([], {})
    current: Block | None = None
    region: tuple[str, int, list[str]] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        opened = _REGION.match(line)
        if region is not None and opened:
            raise DamagedMarkers(f"The user region of {region[0]} is not closed.", region[1])
        started = _started(line) if region is None else None
        if started is not None:
            if started in found.blocks:
                raise DamagedMarkers(f"There are two blocks of {started}.", number)
            current = found.blocks[started] = Block(started, number)
        if current is None:
            if opened or _END.match(line):
                raise DamagedMarkers("A user region stands outside of every block.", number)
            found.head.append(line)
            continue
        current.lines.append(line)
        region = _in_region(current, region, line, number)
    if region is not None:
        raise DamagedMarkers(f"The user region of {region[0]} is not closed.", region[1])
    return found


def _started(line: str) -> str | None:
    node = _NODE.match(line)
    return node.group(1) if node else EDGES if _EDGES.match(line) else None


def _in_region(
    block: Block, region: tuple[str, int, list[str]] | None, line: str, number: int
) -> tuple[str, int, list[str]] | None:
    """Sorts a line into the region or the generated code; the region that is open afterwards."""
    opened = _REGION.match(line)
    if opened:
        owner = opened.group(1)
        if owner in block.regions or (owner != block.id and block.id != EDGES):
            raise DamagedMarkers(f"The user region of {owner} stands in the block of {block.id}.", number)
        return owner, number, []
    if region is not None:
        if _END.match(line):
            block.regions[region[0]] = textwrap.dedent("\n".join(region[2])).rstrip()
            return None
        region[2].append(line)
        return region
    if _END.match(line):
        raise DamagedMarkers("A user region is closed that was not opened.", number)
    block._generated.append(line)
    return None
