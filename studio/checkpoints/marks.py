"""What a person wrote on a checkpoint: kept beside it, since what was saved is never changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """Name, note, pin and tags of a checkpoint."""

    name: str = ""
    note: str = ""
    pinned: bool = False
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.name or self.note or self.pinned or self.tags)
