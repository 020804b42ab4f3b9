"""Our own exports read back: user code, labels and positions come back, changes made in the code are taken over."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.importers import maf_python, own_project
from studio.importers.detection import Detected
from studio.importers.draft import Draft, DraftNode
from studio.importers.finish import Imported
from studio.importers.own_blocks import EDGES, Blocks, DamagedMarkers, split
from studio.importers.problems import ImportProblem
from studio.importers.python_source import parse
from studio.importers.reading import items, json_of, mapping, text, text_of


@dataclass(frozen=True, slots=True)
class Layout:
    """The file beside the code; empty if it is missing or cannot be read."""

    blocks: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    known: bool = False


def read(detected: Detected, path: Path | None) -> Draft | Imported:
    """The workflow of an export; with damaged markers it is read like any other program."""
    layout = own_project.layout_beside(path, detected.text) if path is not None else None
    if path is not None and layout is not None:
        returned = own_project.read(path, layout)
        return Imported(returned.workflow, returned.report, returned.before, returned.edits)
    try:
        found = split(detected.text)
    except DamagedMarkers as damage:
        draft = maf_python.read(detected, path)
        words = f"{damage} The file is read like any other program."
        draft.note("invalid_source", draft.name or "workflow", words, line=damage.line)
        return draft
    draft = maf_python.read(detected, path)
    unknown = [b for b in found.blocks if b != EDGES and b not in draft.nodes]
    if unknown:
        line = found.blocks[unknown[0]].line
        words = f"The block of {unknown[0]} belongs to no node. The file is read like any other program."
        draft.note("invalid_source", unknown[0], words, line=line)
        return draft
    draft.detected = "own-export"
    _Return(draft, found, layout_of(found.layout, path)).run(detected.text)
    return draft


_HOSTED_NAME = "WORKFLOW_NAME"
"""The constant by which an export for workers names its workflow: with a digest of the graph behind it."""
_GRAPH_VERSION = re.compile(r"_v[0-9a-f]{8}\Z")


def layout_of(name: str, path: Path | None) -> Layout:
    """The layout file that an export names. It has to stand in the same folder."""
    if path is None or not name or Path(name).name != name:
        return Layout()
    try:
        value = mapping(json_of(text_of(path.parent / name)))
    except ImportProblem:
        return Layout()
    if value.get("format") != "layout/1":
        return Layout()
    nodes = {str(k): v for k, v in mapping(value.get("nodes")).items() if isinstance(v, dict)}
    blocks = {str(k): str(v) for k, v in mapping(value.get("blocks")).items()}
    return Layout(blocks, nodes, [n for n in items(value.get("notes")) if isinstance(n, dict)], True)


class _Return:
    """Puts blocks and layout into a draft that was read from the code."""

    def __init__(self, draft: Draft, found: Blocks, layout: Layout) -> None:
        self._draft = draft
        self._found = found
        self._layout = layout

    def run(self, source: str) -> None:
        draft, layout = self._draft, self._layout
        draft.entries[:] = [e for e in draft.entries if e.code != "code_kept"]
        draft.modules.clear()
        if _HOSTED_NAME in source:
            draft.name = _GRAPH_VERSION.sub("", draft.name or "")
        for block in self._found.blocks.values():
            node = draft.nodes.get(block.id)
            if node is not None and block.id in block.regions:
                node.data["body"] = block.regions[block.id]
            written = layout.blocks.get(block.id)
            if written is None or written == block.hash:
                continue
            draft.edited.append(block.id)
            if node is not None:
                node.data.update(owned=True, owned_code=block.text)
                words = "Generated lines were edited. They are kept with the node, but an export writes the block anew."
                draft.note("block_changed", node.id, words, line=block.line)
        self._loose(source)
        self._places()
        self._notes()

    def _places(self) -> None:
        draft = self._draft
        draft.origin_kept = True
        for item, entry in self._layout.nodes.items():
            node = draft.nodes.get(item)
            if node is None:
                draft.note("layout_orphan", item, "The layout names a node that is not in the code any more.")
                continue
            node.label = text(entry.get("label")) or node.label
            x, y = entry.get("x"), entry.get("y")
            if isinstance(x, int | float) and isinstance(y, int | float):
                node.x, node.y = float(x), float(y)
                draft.placed = True
            for name in ("color", "group"):
                if entry.get(name) is not None:
                    node.data[name] = entry[name]

    def _notes(self) -> None:
        for number, entry in enumerate(self._layout.notes, 1):
            wanted = text(entry.get("id")) or f"note_{number}"
            x, y = entry.get("x"), entry.get("y")
            note = DraftNode(
                self._draft.free(wanted), "note", text(entry.get("text")), {"text": text(entry.get("text"))}
            )
            if isinstance(x, int | float) and isinstance(y, int | float):
                note.x, note.y = float(x), float(y)
            self._draft.add(note)
            self._draft.items_in += 1

    def _loose(self, source: str) -> None:
        """Definitions in front of the blocks that the exporter does not write."""
        last = len(self._found.head)
        kept: list[str] = []
        module = parse(source)
        for statement in module.tree.body:
            if statement.lineno > last:
                break
            name = _defined(statement)
            if name is None or name == _HOSTED_NAME:
                continue
            kept.append(module.code(statement))
            self._draft.items_in += 1
            self._draft.fold(name, "loose code of the module")
            words = "Code outside of the blocks is kept in the file, but not exported: put it into a module."
            self._draft.note("code_outside_region", name, words, line=statement.lineno)
        if kept:
            self._draft.extra["loose_code"] = kept


def _defined(statement: ast.stmt) -> str | None:
    """The name that loose code defines; None for imports and docstrings."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return None
    return f"line {statement.lineno}"
