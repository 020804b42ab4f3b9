"""How the drawing differs from the one that a checkpoint was saved with: node by node, by id and then by likeness."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from studio.document.fingerprint import node_fingerprints
from studio.document.lines import pairs
from studio.document.model import Node, Workflow

Kind = Literal["same", "changed", "renamed", "removed", "added"]
_ALIKE = 0.6
"""From this likeness on a node that is gone is proposed to be one that is new."""
_WORDS = {
    "instructions": "prompt",
    "text": "text",
    "question": "question",
    "name": "name",
    "body": "code",
    "call": "code",
    "model": "model",
    "profile": "model",
    "temperature": "model",
    "max_tokens": "model",
    "tools": "tools",
}


@dataclass(frozen=True, slots=True)
class NodeDrift:
    """One node of the old drawing, the new one, or both. ``differs``: what, in words; ``likeness`` from 0 to 1."""

    kind: Kind
    old: str | None
    new: str | None
    old_name: str = ""
    new_name: str = ""
    differs: tuple[str, ...] = ()
    likeness: float = 1.0


@dataclass(frozen=True, slots=True)
class Drift:
    """All nodes, and how many edges are gone and new once the nodes are mapped. ``same_graph``: a checkpoint can go on
    without a mapping."""

    nodes: tuple[NodeDrift, ...]
    edges_gone: int = 0
    edges_new: int = 0
    same_graph: bool = True
    other: bool = False
    """Something differs that belongs to no node: limits, shared state, outputs."""
    linked: bool = False
    """The drawings are the same, but a workflow file that they link is not what it was."""

    def of(self, *kinds: Kind) -> list[NodeDrift]:
        """The nodes of these kinds."""
        return [n for n in self.nodes if n.kind in kinds]

    @property
    def mapping(self) -> dict[str, str | None]:
        """Old ids to new ones; None for what is removed."""
        return {n.old: n.new for n in self.nodes if n.old is not None}

    @property
    def differs(self) -> bool:
        """Whether anything is not as it was."""
        nodes = self.of("changed", "renamed", "removed", "added")
        return bool(nodes or self.edges_gone or self.edges_new or self.linked)

    def sentences(self) -> list[str]:
        """What a person must know before going on, "1 prompt differs: Tech research."."""
        said: dict[str, list[str]] = {}
        for node in self.of("changed", "renamed"):
            for word in node.differs:
                said.setdefault(word, []).append(node.new_name or node.new or "")
        found = [_differ(word, names) for word, names in sorted(said.items()) if word != "name"]
        renamed = [n for n in self.nodes if n.old and n.new and n.old_name != n.new_name]
        found += [f"{n.old_name} is now called {n.new_name}." for n in renamed]
        anew = [n for n in self.of("renamed", "changed") if n.old != n.new and n.old_name == n.new_name]
        found += [f"{n.old_name} was drawn anew, and is taken for the same node." for n in anew]
        found += [f"{n.old_name} was removed." for n in self.of("removed")]
        found += [f"{n.new_name} was added." for n in self.of("added")]
        if self.edges_gone or self.edges_new:
            parts = [(self.edges_gone, "gone"), (self.edges_new, "new")]
            text = ", ".join(
                f"{count} {'edge is' if count == 1 else 'edges are'} {word}" for count, word in parts if count
            )
            found.append(f"{text}.")
        if self.other and not found:
            found.append("Settings of the workflow differ.")
        if self.linked:
            found.append("A linked workflow file has changed.")
        return found

    def note(self) -> str:
        """The same for a branch, in a few words: "prompt of Writer changed"; "" if nothing that runs differs."""
        parts = [f"{', '.join(n.differs)} of {n.new_name} changed" for n in self.of("changed")]
        parts += [f"{n.old_name} removed" for n in self.of("removed")] + [
            f"{n.new_name} added" for n in self.of("added")
        ]
        parts += [_renaming(n) for n in self.of("renamed")]
        if not parts and (self.edges_gone or self.edges_new):
            parts = ["edges changed"]
        if self.linked:
            parts.append("linked file changed")
        return ", ".join(parts[:2]) + (f" and {len(parts) - 2} more" if len(parts) > 2 else "")


def _renaming(node: NodeDrift) -> str:
    same = node.old_name == node.new_name
    return f"{node.old_name} drawn anew" if same else f"{node.old_name} is now {node.new_name}"


def _differ(word: str, names: Sequence[str]) -> str:
    plural = {"prompt": "prompts", "model": "models", "condition": "conditions", "question": "questions"}
    shown = ", ".join(names)
    if word not in plural:
        return f"{word.capitalize()} of {shown} {'differ' if word.endswith('s') else 'differs'}."
    return f"1 {word} differs: {shown}." if len(names) == 1 else f"{len(names)} {plural[word]} differ: {shown}."


def compare(old: Workflow, new: Workflow, *, same_graph: bool) -> Drift:
    """Compares two drawings. ``same_graph``: whether the engine takes checkpoints of the one for the other."""
    prints = node_fingerprints(old), node_fingerprints(new)
    rules = _conditions(old), _conditions(new)
    by_id = {n.id: n for n in new.nodes}
    found: list[NodeDrift] = []
    gone = [n for n in old.nodes if n.id not in by_id]
    kept = {n.id for n in old.nodes}
    fresh = [n for n in new.nodes if n.id not in kept]
    likely = _likely(gone, fresh)
    for node in old.nodes:
        now, likeness = (by_id.get(node.id), 1.0) if node.id in by_id else likely.get(node.id, (None, 0.0))
        if now is None:
            found.append(NodeDrift("removed", node.id, None, _name(node), likeness=0.0))
            continue
        differs = _differences(node, now)
        if rules[0].get(node.id) != rules[1].get(now.id) and now.id == node.id:
            differs += ("condition",)
        if not differs and now.id == node.id and prints[0][node.id] != prints[1][now.id]:
            differs = ("tools or code",)
        only_name = now.id != node.id or differs == ("name",)
        kind: Kind = "same" if not differs and now.id == node.id else "renamed" if only_name else "changed"
        found.append(NodeDrift(kind, node.id, now.id, _name(node), _name(now), differs, likeness))
    taken = {n.new for n in found}
    found += [NodeDrift("added", None, n.id, "", _name(n)) for n in fresh if n.id not in taken]
    return _with_edges(old, new, tuple(found), same_graph)


def changes_of(old: Workflow, new: Workflow, nodes: Iterable[str]) -> dict[str, str]:
    """What changed of these nodes of both drawings, as the reason why a recording does not hold for them."""
    differs = {n.old: n.differs for n in compare(old, new, same_graph=True).nodes}
    words = {id: [w for w in differs.get(id, ()) if w != "name"] for id in nodes}
    return {
        id: f"its {' and '.join(said)} {'have' if len(said) > 1 or said[0].endswith('s') else 'has'} changed"
        if said
        else "it is drawn differently now"
        for id, said in words.items()
    }


def _with_edges(old: Workflow, new: Workflow, nodes: tuple[NodeDrift, ...], same_graph: bool) -> Drift:
    mapped = {n.old: n.new or n.old for n in nodes if n.old}
    before = {(mapped.get(s, s), mapped.get(t, t)) for s, t, _ in pairs(old)}
    after = {(s, t) for s, t, _ in pairs(new)}
    other = (old.max_supersteps, old.state, old.outputs, old.start) != (
        new.max_supersteps,
        new.state,
        new.outputs,
        new.start,
    )
    return Drift(nodes, len(before - after), len(after - before), same_graph, other)


def _name(node: Node) -> str:
    return str(getattr(node, "name", "") or node.id)


def _plain(node: Node) -> dict[str, Any]:
    return node.model_dump(mode="json", exclude={"id", "description"})


def _conditions(workflow: Workflow) -> dict[str, list[Any]]:
    """The conditions on what a node sends, by node."""
    found: dict[str, list[Any]] = {}
    for edge in workflow.edges:
        source = getattr(edge, "source", None)
        data = edge.model_dump(mode="json")
        rules = [data.get("condition"), data.get("cases"), data.get("selection")]
        if isinstance(source, str) and any(rules):
            found.setdefault(source, []).append(rules)
    return found


def _differences(old: Node, new: Node) -> tuple[str, ...]:
    """In words, each once."""
    before, after = _plain(old), _plain(new)
    fields = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return tuple(dict.fromkeys(_WORDS.get(key, "settings") for key in fields))


def _likely(gone: Iterable[Node], fresh: Iterable[Node]) -> Mapping[str, tuple[Node, float]]:
    """The likeliest pairs of nodes that are gone and nodes that are new, best first, each node once."""
    scores = [(likeness(a, b), a, b) for a in gone for b in fresh if a.kind == b.kind]
    found: dict[str, tuple[Node, float]] = {}
    taken: set[str] = set()
    for score, a, b in sorted(scores, key=lambda s: -s[0]):
        if score >= _ALIKE and a.id not in found and b.id not in taken:
            found[a.id] = b, score
            taken.add(b.id)
    return found


def likeness(old: Node, new: Node) -> float:
    """How alike two nodes are in what they do, from 0 to 1. What both leave at its default says nothing."""
    told = [n.model_dump(mode="json", exclude={"id", "description"}, exclude_defaults=True) for n in (old, new)]
    texts = [json.dumps(data, sort_keys=True, ensure_ascii=False)[:4000] for data in told]
    return SequenceMatcher(None, texts[0], texts[1], autojunk=False).ratio() if texts[0] != texts[1] else 1.0
