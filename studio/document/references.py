"""Renaming what other parts of a document mention by name: state keys, types, tools, modules, nodes.

A mention is *sure* where the language says that it can mean nothing else (a field of a template, the path of a rule, a
literal given to ``get_state``, an import); those are renamed. The others (a word in a prompt, a text in code that looks
the same) are listed, so that a person decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from studio.document.code_mentions import code_mentions
from studio.document.edits import Batch, Edit
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.document.rewiring import change_id
from studio.document.searching import Hit
from studio.document.text_slots import TYPE_VALUE, Key, TextSlot, put_texts, text_slots

Kind = Literal["node", "id", "state", "type", "tool", "module"]
KINDS: tuple[Kind, ...] = ("node", "id", "state", "type", "tool", "module")
"""``node``: the name that people read; ``id``: what edges, checkpoints and code name."""

_DECLARED = {
    "state": ("state", "key"),
    "type": ("types", "name"),
    "tool": ("tools", "name"),
    "module": ("modules", "name"),
}
_TYPED = ("accepts", "sends", "yields", "answer_type", "type")


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that says the name. ``sure``: it can mean nothing else."""

    hit: Hit
    sure: bool


def names_of(workflow: Workflow, kind: Kind) -> tuple[tuple[str, str], ...]:
    """What can be renamed: (name, how it is shown); a node is named by its id in both kinds of nodes."""
    if kind in ("node", "id"):
        return tuple((n.id, f"{n.name} ({n.id})" if kind == "id" else n.name) for n in workflow.nodes)
    where, field = _DECLARED[kind]
    return tuple((name, name) for item in getattr(workflow, where) if (name := getattr(item, field)))


def references(workflow: Workflow, kind: Kind, name: str) -> tuple[Reference, ...]:
    """Every place that says the name, in reading order, without the declaration. A node is named by its id."""
    node = workflow.node(name) if kind in ("node", "id") else None
    said = node.name if kind == "node" and node is not None else name
    if not said:
        return ()
    found: list[Reference] = []
    for slot in text_slots(workflow):
        if slot.inside or _declares(slot, kind, name, node_index(workflow, name)):
            continue
        sure = set(_sure(slot, kind, said))
        found += [Reference(Hit(slot, start, end), True) for start, end in sorted(sure)]
        found += [Reference(Hit(slot, start, end), False) for start, end in _unsure(slot, kind, said, sure)]
    return tuple(found)


def node_index(workflow: Workflow, node_id: str) -> int:
    """Where a node is in the list; -1 if it is not there."""
    return next((i for i, n in enumerate(workflow.nodes) if n.id == node_id), -1)


def renamed(
    workflow: Workflow, kind: Kind, name: str, new: str, chosen: Iterable[Reference] | None = None
) -> Edit | Problem:
    """The declaration and the chosen places (None: all sure ones) with the new name, as one edit.

    A :class:`Problem` says why a name cannot be. Raises ``KeyError`` if nothing has the old name.
    """
    problem = _refused(workflow, kind, name, new)
    if problem is not None:
        return problem
    if chosen is None:
        chosen = [r for r in references(workflow, kind, name) if r.sure]
    texts = _texts(chosen, new)
    edits: list[Edit] = []
    if kind == "id":
        edit = change_id(workflow, name, new)
        if isinstance(edit, Problem):
            return edit
        edits.append(edit)
    else:
        texts |= _declaration(workflow, kind, name, new)
    return Batch((put_texts(workflow, texts), *edits)) if texts else edits[0]


def _texts(chosen: Iterable[Reference], new: str) -> dict[tuple[str | int | Key, ...], str]:
    by_path: dict[tuple[str | int | Key, ...], list[Hit]] = {}
    for reference in chosen:
        by_path.setdefault(reference.hit.slot.path, []).append(reference.hit)
    made = {}
    for path, hits in by_path.items():
        text = hits[0].slot.text
        for hit in sorted(hits, key=lambda h: -h.start):
            text = text[: hit.start] + new + text[hit.end :]
        made[path] = text
    return made


def _declaration(workflow: Workflow, kind: Kind, name: str, new: str) -> dict[tuple[str | int | Key, ...], str]:
    if kind == "node":
        return {("nodes", node_index(workflow, name), "name"): new}
    where, field = _DECLARED[kind]
    items = getattr(workflow, where)
    return {(where, i, field): new for i, item in enumerate(items) if getattr(item, field) == name}


def _declares(slot: TextSlot, kind: Kind, name: str, index: int) -> bool:
    if kind == "node":
        return slot.path == ("nodes", index, "name")
    if kind == "id":
        return False
    where, field = _DECLARED[kind]
    return slot.path[0] == where and slot.path[-1] == field and slot.text == name


_FORMS = {
    "state": (
        re.compile(r"[^\W_][\w.-]*\Z"),
        "A key begins with a letter or digit and has letters, digits, “_” and “-”.",
    ),
    "type": (re.compile(r"[A-Za-z_]\w*\Z"), "A type is named like a class: letters, digits and underscores."),
    "tool": (re.compile(r"[A-Za-z0-9_-]{1,64}\Z"), "A tool has up to 64 letters, digits, “_” and “-”."),
    "module": (re.compile(r"[A-Za-z_]\w*\Z"), "A module is named with letters, digits and underscores."),
}


def _refused(workflow: Workflow, kind: Kind, name: str, new: str) -> Problem | None:
    there = [n for n, _ in names_of(workflow, kind)]
    if name not in there:
        raise KeyError(name)
    if not new.strip():
        return Problem("no_name", "Enter a name.")
    if kind in ("node", "id"):
        return None  # names of nodes may be anything; ids are checked where they are changed
    form, words = _FORMS[kind]
    if not form.match(new) or (kind == "state" and "." in new):
        return Problem("name_form", words)
    if new != name and new in there:
        return Problem("declared_twice", f"“{new}” is there already.")
    return None


# ------------------------------------------------------------------------------------------------- mentions

Span = tuple[int, int]


def _sure(slot: TextSlot, kind: Kind, name: str) -> Iterator[Span]:
    step, text = slot.path[-1], slot.text
    if kind == "state":
        if slot.scope == "prompts" and step in ("text", "question"):
            yield from _spans(rf"\{{state\.({re.escape(name)})(?=[.}}])", text)
        elif step == "path" and slot.scope == "conditions":
            yield from _spans(rf"\Astate\.({re.escape(name)})(?=\.|\Z)", text)
    elif kind == "type":
        if slot.title == TYPE_VALUE and text == name:
            yield 0, len(text)
        elif step in _TYPED and slot.field in ("accepts", "sends", "yields", "answer_type", "state"):
            yield from _spans(rf"(?<!\w)({re.escape(name)})(?!\w)", text)
    elif kind == "tool":
        called = slot.field == "offline" and step == "tool"
        listed = slot.place and {"tools", "additional_tools", "tool_choice"} & set(map(str, slot.path))
        if text == name and (called or listed):
            yield 0, len(text)
    elif kind == "module" and step == "call":
        yield from _spans(rf"\A({re.escape(name)})(?=:)", text)
    if _is_code(slot):
        yield from code_mentions(text, kind, name, expression=step == "expression")


def _is_code(slot: TextSlot) -> bool:
    return slot.scope in ("code", "conditions") and slot.path[-1] in ("body", "source", "context_filter", "expression")


def _spans(pattern: str, text: str) -> Iterator[Span]:
    for found in re.finditer(pattern, text):
        yield found.span(1)


def _unsure(slot: TextSlot, kind: Kind, name: str, sure: set[Span]) -> Iterator[Span]:
    """Whole words that look like it, in code and in what people write for models and people."""
    if slot.scope == "names":
        return
    if slot.path[-1] in ("path", "call") or (slot.scope == "texts" and slot.field in (*_TYPED, "tools", "model")):
        return
    if kind not in ("node", "tool") and not _is_code(slot):
        return
    for start, end in _spans(rf"(?<!\w)({re.escape(name)})(?!\w)", slot.text):
        if not any(start < e and end > s for s, e in sure):
            yield start, end
