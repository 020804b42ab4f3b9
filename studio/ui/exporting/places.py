"""Where the things of a drawing are in the exported code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from studio.document.lines import name_of
from studio.document.model import DirectEdge, FanInEdge, FanOutEdge, SwitchEdge, Workflow
from studio.export.naming import Names
from studio.ui.text import one_line


@dataclass(frozen=True, slots=True)
class CodePlace:
    """An item of the drawing and the lines (from 1) of the workflow's module that are about it."""

    item: str
    name: str
    kind: str
    lines: tuple[int, ...]


def workflow_file(files: Mapping[str, str]) -> str | None:
    """The module that builds the graph, of the outer workflow: the one file if there is only one."""
    found = [path for path in files if path.endswith("/workflow.py")] or [p for p in files if p.endswith(".py")]
    return min(found, key=lambda path: path.count("/")) if found else None


def code_places(workflow: Workflow, code: str) -> list[CodePlace]:
    """Nodes in the order of the document, then fan-outs and switches; items without a line are left out."""
    lines = code.split("\n")
    names = Names.of(workflow).variables
    found = []
    for node in workflow.nodes:
        at = _lines(lines, rf"^\s+{names[node.id]} = ")
        if node.kind == "join":
            at += _lines(lines, rf"^\s*\.add_fan_in_edges\(.*\b{names[node.id]}\)")
        found.append(CodePlace(node.id, one_line(name_of(workflow, node.id)), node.kind, tuple(at)))
    for edge in workflow.edges:
        if isinstance(edge, FanOutEdge) and edge.source:
            at = _calls(lines, ("add_fan_out_edges", "add_multi_selection_edge_group"), names[edge.source])
            found.append(CodePlace(edge.id, one_line(edge.name), "fan_out", tuple(at)))
        elif isinstance(edge, SwitchEdge) and edge.source:
            at = [n for case in edge.cases for n in _conditions(lines, case.id)]
            at += _calls(lines, ("add_switch_case_edge_group",), names[edge.source])
            found.append(CodePlace(edge.id, one_line(edge.name), "switch", tuple(at)))
    return [place for place in found if place.lines]


def user_lines(code: str) -> frozenset[int]:
    """The lines (from 1) between the marks of code that is the user's, with the marks."""
    found: set[int] = set()
    inside = False
    for number, line in enumerate(code.split("\n"), start=1):
        mark = line.strip()
        inside = inside or mark.startswith("# region user ")
        if inside:
            found.add(number)
        inside = inside and mark != "# endregion"
    return frozenset(found)


def glyph_lines(workflow: Workflow, code: str) -> dict[int, str]:
    """Line -> kind of what stands there, for the gutter."""
    names = Names.of(workflow).variables
    marks = {line: place.kind for place in reversed(code_places(workflow, code)) for line in place.lines}
    lines = code.split("\n")
    for edge in workflow.edges:
        if isinstance(edge, FanInEdge):
            marks |= dict.fromkeys(_lines(lines, rf"^\s*\.add_fan_in_edges\(.*\b{names[edge.target]}\)"), "join")
        elif isinstance(edge, DirectEdge) and edge.condition is not None:
            marks |= dict.fromkeys(_conditions(lines, edge.id), "switch")
    return marks


def _conditions(lines: list[str], line_id: str) -> list[int]:
    """The line of the predicate under its ``# condition:`` mark."""
    return [number + 1 for number in _lines(lines, rf"^# condition: {re.escape(line_id)}\s*$")]


def _calls(lines: list[str], names: tuple[str, ...], source: str) -> list[int]:
    """Builder calls whose first argument, on the same line or the next, is the source."""
    found = []
    for number, line in enumerate(lines, start=1):
        if any(f".{name}(" in line for name in names):
            argument = line.split("(", 1)[1] or (lines[number] if number < len(lines) else "")
            if re.match(rf"\s*{re.escape(source)}\b", argument):
                found.append(number)
    return found


def _lines(lines: list[str], pattern: str) -> list[int]:
    wanted = re.compile(pattern)
    return [number for number, line in enumerate(lines, start=1) if wanted.search(line)]
