"""What became of a source: one outcome for each of its items, and what to know about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Severity = Literal["info", "warn", "loss"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the report. ``item`` is the id of a node or the name in the source; ``line`` counts from 1."""

    code: str
    item: str
    severity: Severity
    text: str
    line: int | None = None

    def to_json(self) -> dict[str, JsonValue]:
        return {"code": self.code, "item": self.item, "severity": self.severity, "text": self.text, "line": self.line}


@dataclass(frozen=True, slots=True)
class Folded:
    """An item of the source that became a property of something else."""

    item: str
    into: str


@dataclass(frozen=True, slots=True)
class Counts:
    """``items_in = nodes + placeholders + notes + folded + lost``; edges likewise, where a format has explicit edges
    (``edges_in`` is None where it has none)."""

    items_in: int
    nodes: int
    placeholders: int
    notes: int
    folded: int
    lost: int
    edges_in: int | None = None
    edges: int = 0
    edges_folded: int = 0
    edges_lost: int = 0

    @property
    def balanced(self) -> bool:
        """Whether every item and edge of the source has exactly one outcome."""
        items = self.nodes + self.placeholders + self.notes + self.folded + self.lost
        edges = self.edges + self.edges_folded + self.edges_lost
        return self.items_in == items and self.edges_in in (None, edges)

    def to_json(self) -> dict[str, JsonValue]:
        items: dict[str, JsonValue] = {
            "in": self.items_in,
            "node": self.nodes,
            "placeholder": self.placeholders,
            "note": self.notes,
            "folded": self.folded,
            "lost": self.lost,
        }
        found: dict[str, JsonValue] = {"items": items}
        if self.edges_in is not None:
            found["edges"] = {
                "in": self.edges_in,
                "edge": self.edges,
                "folded": self.edges_folded,
                "lost": self.edges_lost,
            }
        return found


@dataclass(frozen=True, slots=True)
class Report:
    """``detected`` is the key of the reader that made the result; ``added`` are nodes without an item in the source;
    ``edited`` the blocks of an own export that differ from what was written; ``preface`` stands above the entries."""

    detected: str
    mode: str
    counts: Counts
    entries: tuple[Entry, ...] = ()
    folded: tuple[Folded, ...] = ()
    lost: tuple[str, ...] = ()
    added: frozenset[str] = frozenset()
    edited: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    preface: str = ""

    @property
    def has_losses(self) -> bool:
        """Whether something is missing or only kept as text: never a plain success."""
        lossy = any(entry.severity == "loss" for entry in self.entries)
        return bool(self.counts.lost or self.counts.placeholders or self.counts.edges_lost or lossy)

    def of(self, *severities: Severity) -> tuple[Entry, ...]:
        """The entries of these severities."""
        return tuple(e for e in self.entries if e.severity in severities)

    def to_json(self) -> dict[str, JsonValue]:
        """For the file of the project and for ``import --json``."""
        found: dict[str, JsonValue] = {
            "detected": self.detected,
            "mode": self.mode,
            "counts": self.counts.to_json(),
            "entries": [e.to_json() for e in self.entries],
            "folded": [{"item": f.item, "into": f.into} for f in self.folded],
            "lost": [*self.lost],
            "added": [*sorted(self.added)],
        }
        return found


def in_words(report: Report) -> str:
    """One sentence: "7 of 9 items kept, 2 as placeholders."."""
    counts = report.counts
    parts = [f"{counts.nodes} of {counts.items_in} {_plural(counts.items_in, 'item')} imported"]
    extra: Iterable[tuple[int, str]] = (
        (counts.folded, "folded into settings"),
        (counts.notes, "kept as notes"),
        (counts.placeholders, "kept as placeholders"),
        (counts.lost, "lost"),
    )
    parts += [f"{count} {words}" for count, words in extra if count]
    return ", ".join(parts) + "."


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


DEFAULT_SEVERITY: Mapping[str, Severity] = {
    "unknown_item": "loss",
    "unsupported_item": "loss",
    "unsupported_format": "loss",
    "expression_kept": "warn",
    "condition_unknown": "warn",
    "code_kept": "info",
    "code_not_available": "warn",
    "code_outside_region": "info",
    "block_changed": "warn",
    "agent_reference": "warn",
    "model_unmapped": "warn",
    "tool_unmapped": "warn",
    "credential_not_imported": "info",
    "secret_removed": "warn",
    "setting_dropped": "warn",
    "trigger_dropped": "warn",
    "error_branch_dropped": "warn",
    "semantics_differ": "info",
    "dynamic_graph": "warn",
    "unreachable": "warn",
    "dangling_edge": "loss",
    "default_added": "info",
    "duplicated_tail_merged": "info",
    "id_changed": "info",
    "invalid_source": "warn",
    "older_version": "info",
    "pattern_hint": "info",
    "not_selected": "info",
    "layout_orphan": "info",
}
