"""Whole projects that we exported, with their layout file: what nobody touched is as it was, edits come back.

The layout file holds the document, and digests of every block and region of the code. A region that changed is new
user code; a block that changed is read again where its meaning is known (agents, the builder), else it is reported.
All changes are edits of the document, so that they can be looked at and undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from studio.document.conditions import Condition
from studio.document.edits import Batch, Edit, Insert, Remove, SetFields, SetPlaces, SetWorkflow
from studio.document.geometry import drawn
from studio.document.ids import slug
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanOutEdge,
    FunctionNode,
    JoinNode,
    Place,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.document.renaming import renamed_mentions
from studio.document.tools import code_modules, module_of
from studio.files.code_blocks import EDGES, HEAD, Code, digest, taken_apart
from studio.files.plain import document_data
from studio.importers.own_agents import agent_fields
from studio.importers.own_builder import BuilderReading
from studio.importers.own_conditions import edited_condition
from studio.importers.own_labels import label_fields
from studio.importers.own_renames import Renamed, Renames, put_back
from studio.importers.problems import ImportProblem
from studio.importers.reading import json_of, mapping, text_of
from studio.importers.report import Counts, Entry, Report, Severity
from studio.importers.spacing import behind

_MAX_FILES = 500


@dataclass(frozen=True, slots=True)
class Returned:
    """The document of the layout file, the edits that the code makes of it, and the result."""

    before: Workflow
    edits: tuple[Edit, ...]
    workflow: Workflow
    report: Report


def layout_beside(path: Path, text: str) -> dict[str, Any] | None:
    """The layout file that an export names, if it holds a document."""
    named = re.search(r"^# layout: (\S.*?)\s*$", text, re.MULTILINE)
    if named is None or Path(named[1]).name != named[1]:
        return None
    try:
        found = mapping(json_of(text_of(path.parent / named[1])))
    except ImportProblem:
        return None
    return found if found.get("format") == "layout/1" and isinstance(found.get("document"), dict) else None


def read(path: Path, layout: dict[str, Any]) -> Returned:
    """The document with the changes made in the code. Raises :class:`ImportProblem` for damaged markers."""
    try:
        before = Workflow.model_validate(document_data(layout["document"]))
    except (ValidationError, RecursionError, TypeError, ValueError):
        raise ImportProblem(
            "The layout file holds no readable document.", "Delete it to import the code alone."
        ) from None
    reading = _Reading(layout, path.parent)
    edits = reading.package(before, "")
    after = Batch(tuple(edits)).apply(before).workflow
    known = {reading.renamed.get(n.id, n.id) for n in before.nodes}
    new = drawn(after).keys() - drawn(before).keys() - known
    if new:
        places: dict[str, Place | None] = {}
        for item, place in behind(after, {**before.places, **after.places}).items():
            if item in new:
                places[item] = Place.model_validate({"x": place.x, "y": place.y, "placed": "auto"})
        edits.append(SetPlaces(places))
    gone = known - {n.id for n in after.nodes}
    if gone:
        edits.append(SetPlaces(dict.fromkeys(sorted(gone & before.places.keys()))))
        for item in sorted(gone):
            reading.note("layout_orphan", item, "The layout names a node that is not in the code any more.", "info")
    after = Batch(tuple(edits)).apply(before).workflow
    return Returned(before, tuple(edits), after, reading.report(after))


@dataclass(slots=True)
class _Reading:
    """One pass over the files of a package and those of the packages in it."""

    layout: dict[str, Any]
    folder: Path
    entries: list[Entry] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    """Ids of nodes of the outer workflow: before -> now."""
    _files: int = 0
    _read: dict[str, str] = field(default_factory=dict)

    def note(self, code: str, item: str, text: str, severity: Severity, line: int | None = None) -> None:
        self.entries.append(Entry(code, item, severity, text, line))

    def report(self, after: Workflow) -> Report:
        """Every node and edge group of the result was an item of the code."""
        nodes, notes, edges = len(after.nodes), len(after.notes), len(after.edges)
        counts = Counts(nodes + notes, nodes, 0, notes, 0, 0, edges, edges)
        return Report("own-export", "static", counts, tuple(self.entries), edited=tuple(self.edited))

    # --------------------------------------------------------------------------------------------- one package

    def package(self, workflow: Workflow, prefix: str) -> list[Edit]:
        """The edits of one workflow; ``prefix`` is its folder in the package."""
        found = self._renamed(workflow, prefix)
        codes = {path: self._code(path, found) for path in self._paths(prefix)}
        edits: list[Edit] = []
        for path, code in codes.items():
            if code is None:
                self.note(
                    "invalid_source", path, "This file is missing; its part is taken from the layout file.", "warn"
                )
            elif code.damaged is not None:
                message = f"The markers in {path} are damaged: they have to stay as they were written."
                raise ImportProblem(message, "Repair them, or delete the layout file.", code.damaged)
        known = {path: code for path, code in codes.items() if code is not None}
        for path, code in known.items():
            edits += self._regions(workflow, path, code)
            edits += self._blocks(workflow, path, code, bool(found))
        builder = known.get(f"{prefix}workflow.py")
        if builder is not None and self._changed(f"{prefix}workflow.py", EDGES, builder):
            edits += self._builder(Batch(tuple(edits)).apply(workflow).workflow, prefix, known)
        for node in workflow.nodes:
            if isinstance(node, SubWorkflowNode) and node.embedded is not None:
                below = self._names(prefix).get(node.id, _identifier(node.id))
                inner = self.package(node.embedded, f"{prefix}{below}/")
                if inner:
                    embedded = Batch(tuple(inner)).apply(node.embedded).workflow
                    edits.append(SetFields("nodes", node.id, {"embedded": embedded}))
        for one in found:
            if one.new == one.item:
                now = next(iter(one.names), one.item)
                text = f"{one.item} is called {now} in the code. Names in the code come from ids: it will be so again."
                self.note("node_renamed", one.item, text, "info")
            else:
                edits += _with_new_id(Batch(tuple(edits)).apply(workflow).workflow, one)
                self.note("node_renamed", one.new, f"{one.item} has the id {one.new} now.", "info")
                self.edited.append(one.new)
                if not prefix:
                    self.renamed[one.item] = one.new
        return edits

    def _renamed(self, workflow: Workflow, prefix: str) -> list[Renamed]:
        """Nodes that have other names in the code of a package."""
        texts = {}
        for path in self._paths(prefix):
            text = self._text(path)
            if text is not None and path.endswith(".py"):
                texts[path[len(prefix) :]] = text
        names = self._names(prefix)
        variables = {node.id: str(names.get(node.id, _identifier(node.id))) for node in workflow.nodes}

        def written(kind: str, path: str, name: str) -> str:
            return str(self._digests(kind).get(f"{prefix}{path}:{name}"))

        return Renames(workflow, texts, variables, written).found()

    def _paths(self, prefix: str) -> list[str]:
        found = dict.fromkeys(str(key).rpartition(":")[0] for key in self._digests("blocks"))
        paths = [p.partition(".py:")[0] + ".py" if ".py:" in p else p for p in found]
        return [p for p in dict.fromkeys(paths) if p.startswith(prefix) and "/" not in p[len(prefix) :]]

    def _digests(self, name: str) -> dict[str, Any]:
        return mapping(self.layout.get(name))

    def _names(self, prefix: str) -> dict[str, Any]:
        """Names of a package that are not those of their nodes: id -> name."""
        return mapping(self._digests("names").get(prefix))

    def _code(self, path: str, found: list[Renamed]) -> Code | None:
        text = self._text(path)
        return None if text is None else taken_apart(put_back(text, found) if found else text)

    def _text(self, path: str) -> str | None:
        if path in self._read:
            return self._read[path]
        file = self.folder.joinpath(*path.split("/"))
        self._files += 1
        if self._files > _MAX_FILES or ".." in path.split("/") or not file.is_file():
            return None
        return self._read.setdefault(path, text_of(file))

    def _changed(self, path: str, block: str, code: Code) -> bool:
        written = self._digests("blocks").get(f"{path}:{block}")
        return written is not None and digest(code.blocks.get(block, "")) != written

    # --------------------------------------------------------------------------------------- regions and blocks

    def _regions(self, workflow: Workflow, path: str, code: Code) -> list[Edit]:
        """User code that is not what was written."""
        edits: list[Edit] = []
        for owner, text in code.regions.items():
            written = self._digests("regions").get(f"{path}:{owner}")
            if written is None or written == digest(text):
                continue
            edit = _user_code(workflow, path, owner, _absolute(text, [m.name for m in code_modules(workflow)]))
            if edit is None:
                self.note("code_outside_region", owner, f"New user code in {path} belongs to nothing.", "info")
            else:
                edits.append(edit)
        return edits

    def _blocks(self, workflow: Workflow, path: str, code: Code, renamed: bool) -> list[Edit]:
        """Generated code that is not what was written."""
        edits: list[Edit] = []
        for name in code.blocks:
            if name == EDGES or not self._changed(path, name, code):
                continue
            if name == HEAD and renamed:
                continue  # the names in the imports, in another order
            self.edited.append(name)
            if (edit := self._condition(workflow, path, name, code)) is not None:
                edits.append(edit)
                workflow = edit.apply(workflow).workflow
                continue
            node = workflow.node(name)
            fields = agent_fields(code.whole[name], node, workflow) if isinstance(node, AgentNode) else None
            label = label_fields(code, name, node, str(self._digests("blocks").get(f"{path}:{name}")))
            if fields is not None or label is not None:
                values = {**(fields or {}), **(label or {})}
                edits += [SetFields("nodes", name, values)] if values else []
                continue
            where = "in front of the blocks" if name == HEAD else f"of {name}"
            text = f"Generated lines {where} in {path} were edited, which is not taken over."
            self.note("block_changed", path if name == HEAD else name, text, "warn")
        return edits

    def _condition(self, workflow: Workflow, path: str, name: str, code: Code) -> Edit | None:
        """What the function of a condition says now; a region in it is user code, which is compared by itself."""
        owner = name.removeprefix("condition:")
        defined = re.search(r"^(?:async )?def (\w+)\(", code.whole[name], re.MULTILINE)
        if owner == name or defined is None or owner in code.regions:
            return None
        support = self._text(f"{path.rpartition('/')[0]}/support.py".lstrip("/")) or ""
        module = "\n\n".join(code.whole.values())

        def said_now(old: Condition | None) -> Condition | None:
            now = edited_condition(defined[1], module, support, old)
            return now if now != old else None

        return _condition(workflow, owner, said_now)

    def _builder(self, workflow: Workflow, prefix: str, codes: dict[str, Code]) -> list[Edit]:
        self.edited.append(EDGES)
        calls = {
            key[len(prefix) :]: value
            for key, value in self._digests("calls").items()
            if key.startswith(prefix) and "/" not in key[len(prefix) :] and isinstance(value, list)
        }
        modules = {path[len(prefix) :]: code for path, code in codes.items()}
        text = self._text(f"{prefix}workflow.py") or ""
        above = text[: match.start()].count("\n") if (match := re.search(r"^# edges\s*$", text, re.MULTILINE)) else 0
        reading = BuilderReading(workflow, calls, modules, self._names(prefix), self._text(f"{prefix}support.py") or "")
        edits = reading.edits()
        for problem, line in reading.problems:
            self.note("block_changed", EDGES, problem, "warn", line + above if line is not None else None)
        if not edits and not reading.problems:
            words = f"Lines of {prefix}workflow.py were edited that change nothing in the drawing; they stay there."
            self.note("code_outside_region", EDGES, words, "info")
        return edits


def _with_new_id(workflow: Workflow, one: Renamed) -> list[Edit]:
    """The same node with another id, where it was."""
    at = next(i for i, node in enumerate(workflow.nodes) if node.id == one.item)
    again = Insert("nodes", workflow.nodes[at].model_copy(update={"id": one.new}), at)
    return [again, *renamed_mentions(workflow, one.item, one.new), Remove("nodes", one.item)]


def _identifier(item: str) -> str:
    """The name of the package of a sub-workflow."""
    found = re.sub(r"\W+", "_", item.lower(), flags=re.ASCII).strip("_")
    return found or slug(item)


def _absolute(text: str, modules: list[str]) -> str:
    """Imports of the modules of the document as user code writes them; declared types need none here."""
    text = re.sub(r"^from \.+types import .*\n+", "", text, flags=re.MULTILINE)
    for name in modules:
        text = re.sub(rf"^(\s*)from \.{re.escape(name)}\b", rf"\1from {name}", text, flags=re.MULTILINE)
        text = re.sub(rf"^(\s*)from \. import {re.escape(name)}\b", rf"\1import {name}", text, flags=re.MULTILINE)
    return text


def _user_code(workflow: Workflow, path: str, owner: str, text: str) -> Edit | None:
    """The edit that puts user code where it belongs."""
    node = workflow.node(owner)
    match node:
        case FunctionNode() | JoinNode():
            return SetFields("nodes", owner, {"body": text})
        case AgentNode():
            return SetFields("nodes", owner, {"context_filter": text})
    if path.endswith(f"{owner.replace('.', '/')}.py") and any(m.name == owner for m in workflow.modules):
        modules = tuple(
            m.model_copy(update={"source": text + "\n"}) if m.name == owner else m for m in workflow.modules
        )
        return SetWorkflow({"modules": modules})
    written = [t for t in workflow.tools if t.source.strip() and module_of(t) == owner]
    if path.endswith(f"{owner}.py") and written:
        tools = (t.model_copy(update={"source": text + "\n"}) if t in written else t for t in workflow.tools)
        return SetWorkflow({"tools": tuple(tools)})
    python = Condition(kind="python", body=text)
    return _condition(workflow, owner, lambda old: (old or python).model_copy(update={"kind": "python", "body": text}))


def _condition(workflow: Workflow, owner: str, changed: Callable[[Condition | None], Condition | None]) -> Edit | None:
    """The edit that changes the condition of an edge, a case or a way of a fan-out; None if it is not there, or has no
    new one."""
    for edge in workflow.edges:
        match edge:
            case DirectEdge() if edge.id == owner:
                now = changed(edge.condition)
                return SetFields("edges", edge.id, {"condition": now}) if now is not None else None
            case SwitchEdge() if any(case.id == owner for case in edge.cases):
                now = changed(next(case.condition for case in edge.cases if case.id == owner))
                cases = tuple(c.model_copy(update={"condition": now}) if c.id == owner else c for c in edge.cases)
                return SetFields("edges", edge.id, {"cases": cases}) if now is not None else None
            case FanOutEdge() if edge.selection and owner.partition(".")[0] == edge.id:
                target = owner.partition(".")[2]
                now = changed(edge.selection.get(target))
                selection = {**edge.selection, target: now}
                return SetFields("edges", edge.id, {"selection": selection}) if now is not None else None
    return None
