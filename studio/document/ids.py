"""Ids: made once from a name, unique without regard to case, never changed by renaming.

Nodes, edge groups, cases, notes and groups of one document share one set of ids, because they share the map of places.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterator

from studio.document.model import DirectEdge, Edge, FanInEdge, HandoffEdge, SwitchEdge, Workflow

MAX_LENGTH = 128
_VALID = re.compile(r"[a-z_][a-z0-9_]*\Z")
_RESERVED = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
"""Exported code uses an id as a variable name."""


def is_valid(item_id: str) -> bool:
    """Whether an id has the form of ids made here. Imported ids may have any form that is an identifier."""
    return len(item_id) <= MAX_LENGTH and bool(_VALID.match(item_id)) and item_id not in _RESERVED


def slug(name: str) -> str:
    """The name as an identifier in lower case; empty if nothing of it can be written in ASCII."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def make_id(name: str, taken: Collection[str], fallback: str = "node") -> str:
    """A new id from a name of any length in any script; a taken one gets ``_2``, ``_3`` ...

    ``fallback`` is used when the name leaves nothing (empty, emoji, other scripts), and in front of a leading digit.
    """
    return free_id(name, {i.casefold() for i in taken}, fallback)


def free_id(name: str, folded: Collection[str], fallback: str = "node") -> str:
    """The same, for taken ids that are folded to lower case already: for making many at once."""
    base = slug(name) or slug(fallback) or "node"
    if base[0].isdigit():
        base = f"{slug(fallback) or 'node'}_{base}"
    base = base[:MAX_LENGTH].rstrip("_")
    if base in _RESERVED:
        base = f"{base}_"
    if base not in folded:
        return base
    return next(i for i in _numbered(base) if i not in folded)


def _numbered(base: str) -> Iterator[str]:
    number = 2
    while True:
        tail = f"_{number}"
        yield f"{base[: MAX_LENGTH - len(tail)].rstrip('_')}{tail}"
        number += 1


def taken_ids(workflow: Workflow) -> frozenset[str]:
    """Every id of the document, nodes, edge groups, cases, notes and groups alike."""
    found = {i.id for i in (*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups)}
    found.update(c.id for e in workflow.edges if isinstance(e, SwitchEdge) for c in e.cases)
    return frozenset(found)


def edge_id(source: str, target: str, taken: Collection[str]) -> str:
    """The id of a new edge, made from its ends as they are now."""
    return make_id(f"{source}_to_{target}", taken, "edge")


def condition_name(owner_id: str) -> str:
    """The stable name of a condition, made once from the id of its edge or case (graph signature, exported code)."""
    return f"when_{slug(owner_id) or 'edge'}"[:MAX_LENGTH]


def unique_name(wanted: str, workflow: Workflow) -> str:
    """A name that no node, switch, fan-out or group has yet: "Writer", "Writer 2" ..."""
    return free_name(wanted, taken_names(workflow))


def taken_names(workflow: Workflow) -> set[str]:
    """The names of nodes, switches, fan-outs and groups."""
    items = (*workflow.nodes, *workflow.groups, *named_edges(workflow))
    return {name for item in items if isinstance(name := getattr(item, "name", None), str)}


def named_edges(workflow: Workflow) -> Iterator[Edge]:
    """The edge groups that have a name of their own. Asking pydantic for a field that is not there takes longer than
    all the rest."""
    return (edge for edge in workflow.edges if not isinstance(edge, DirectEdge | FanInEdge | HandoffEdge))


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    if wanted not in taken:
        return wanted
    stem = re.sub(r" \d+\Z", "", wanted) or wanted
    return next(n for n in (f"{stem} {i}" for i in range(2, len(taken) + 3)) if n not in taken)


def script_owner(key: str) -> str:
    """The node that an entry of the offline script belongs to: ``runner/agent`` is of an agent inside a runner."""
    return key.partition("/")[0]


def script_key(key: str, owner: str) -> str:
    """The key of an entry whose node has another id."""
    return owner + key[len(script_owner(key)) :]
