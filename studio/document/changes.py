"""What an edit changed, said once per command; views look here to decide whether they care."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Ids by kind of change.

    ``nodes`` also covers joins; ``edges`` covers switches and fan-outs; ``workflow`` names changed workflow fields
    (``name``, ``start``, ``tools``, ``offline`` ...). ``everything``: treat as a new document.
    """

    nodes_added: frozenset[str] = frozenset()
    nodes_removed: frozenset[str] = frozenset()
    nodes_changed: frozenset[str] = frozenset()
    edges_added: frozenset[str] = frozenset()
    edges_removed: frozenset[str] = frozenset()
    edges_changed: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    placed: frozenset[str] = frozenset()
    workflow: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: ChangeSet) -> ChangeSet:
        return ChangeSet(*(getattr(self, f.name) | getattr(other, f.name) for f in fields(ChangeSet)))

    @property
    def size(self) -> int:
        """How many ids it names."""
        return sum(len(getattr(self, f.name)) for f in fields(ChangeSet) if f.name != "everything")

    def reversed(self) -> ChangeSet:
        """What changes when this is taken back."""
        return replace(
            self,
            nodes_added=self.nodes_removed,
            nodes_removed=self.nodes_added,
            edges_added=self.edges_removed,
            edges_removed=self.edges_added,
        )

    def __bool__(self) -> bool:
        return any(getattr(self, f.name) for f in fields(ChangeSet))
