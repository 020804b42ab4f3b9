"""Repeated branch ends become one: programs that were exported repeat everything behind a meeting point."""

from __future__ import annotations

import json
import re

from studio.importers.draft import Draft, DraftEdge

_NUMBER = re.compile(r"_\d+\Z")
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def merge(draft: Draft) -> None:
    """Merges equal nodes with equal ways out, from the ends upwards, until nothing is equal any more."""
    while found := _pairs(draft):
        for kept, gone in found:
            _into(draft, kept, gone)


def _pairs(draft: Draft) -> list[tuple[str, str]]:
    """Equal nodes: the one that stays, and the one that goes."""
    together = {
        frozenset((a, b)) for e in draft.edges if e.kind in ("fan_out", "fan_in") for a in _ends(e) for b in _ends(e)
    }
    leaving: dict[str, list[DraftEdge]] = {}
    for edge in draft.edges:
        for source in edge.sources:
            leaving.setdefault(source, []).append(edge)
    first: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for node in draft.nodes.values():
        data = {k: v for k, v in node.data.items() if k != "result"}
        ways = [_shape(edge, node.id) for edge in leaving.get(node.id, [])]
        key = json.dumps([node.kind, _NUMBER.sub("", node.id), data, sorted(ways)], sort_keys=True, default=str)
        other = first.setdefault(key, node.id)
        if other != node.id and frozenset((other, node.id)) not in together and not node.added:
            found.append((other, node.id))
    return found


def _ends(edge: DraftEdge) -> list[str]:
    return edge.targets if edge.kind == "fan_out" else edge.sources


def _shape(edge: DraftEdge, node_id: str) -> str:
    """An edge group without the name of its source; ways back to the source itself look alike."""
    own = "(itself)"
    to = [own if t == node_id else t for t in edge.targets]
    cases = [(c.rule.text if c.rule else None, own if c.target == node_id else c.target) for c in edge.cases]
    default = edge.default.target if edge.default else None
    return json.dumps([edge.kind, to, cases, own if default == node_id else default])


def _into(draft: Draft, kept: str, gone: str) -> None:
    node = draft.nodes[gone]
    count = sum(1 for f in draft.folded if f.into == kept and f.item.endswith("call)"))
    ordinal = _ORDINALS[count] if count < len(_ORDINALS) else "later"
    item = f"{kept} ({ordinal} call)" if node.kind == "agent" else gone
    draft.fold(item, kept)
    if not any(e.code == "duplicated_tail_merged" and e.item == kept for e in draft.entries):
        draft.note("duplicated_tail_merged", kept, "The program repeats this step at the end of several branches.")
    draft.entries[:] = [e for e in draft.entries if e.item != gone]
    draft.edges[:] = [e for e in draft.edges if gone not in e.sources or e.kind == "fan_in"]
    for edge in draft.edges:
        edge.sources = [kept if s == gone else s for s in edge.sources]
        edge.targets = [kept if t == gone else t for t in edge.targets]
        for case in (*edge.cases, *([edge.default] if edge.default else [])):
            case.target = kept if case.target == gone else case.target
    if isinstance(draft.outputs, tuple):
        draft.outputs = tuple(dict.fromkeys(kept if o == gone else o for o in draft.outputs))
    draft.start = kept if draft.start == gone else draft.start
    draft.remove(gone)
