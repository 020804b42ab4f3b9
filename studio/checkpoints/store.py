"""What every checkpoint store can do, and what it needs to know about values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from studio.checkpoints.checkpoint import Checkpoint, CheckpointInfo


class StoreError(Exception):
    """Something is wrong with the store itself: damaged, read-only, full, of a newer version."""


class UnusableStore(StoreError):
    """The file cannot be used as it is, and is never changed: damaged, of another program, of another version.

    ``kind`` is ``damaged``, ``foreign``, ``older`` or ``newer``; ``version`` that of the file, 0 if nobody knows.
    """

    def __init__(self, text: str, kind: str, version: int = 0) -> None:
        super().__init__(text)
        self.kind, self.version = kind, version


class ReadOnlyStore(StoreError):
    """The store was opened to be read only."""


class CheckpointNotFound(StoreError, KeyError):
    """No checkpoint with this id."""

    def __init__(self, checkpoint: str) -> None:
        super().__init__(checkpoint)
        self.checkpoint = checkpoint

    def __str__(self) -> str:
        return f"No checkpoint found with the id {self.checkpoint!r}"


class RunIsElsewhere(StoreError):
    """Another process works on this run. ``owner``: who, in words."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"This branch is at work in {owner}. Go on there, or fork from one of its checkpoints.")
        self.owner = owner


class RunWentOn(StoreError):
    """Another process has gone on with the run since this one looked at it."""

    def __init__(self) -> None:
        super().__init__(
            "This branch went on elsewhere since it was shown here. Show it again to see how it stands now."
        )


class UnknownType(TypeError):
    """A value of a class that the codec does not know; refused when saving, never pickled."""


class Codec(Protocol):
    """Takes objects apart and puts them together again; the store handles JSON values, lists and dicts itself."""

    @property
    def hide(self) -> Callable[[str], str]:
        """Gives a text that goes to a disk, JSON mostly, without the secrets in it."""

    def open(self, value: object) -> tuple[str, Mapping[str, Any]]:
        """Tag and fields of an object. Raises :class:`UnknownType`."""

    def close(self, tag: str, fields: Mapping[str, Any]) -> Any:
        """The object of a tag and its fields. Raises :class:`UnknownType`."""

    def flat(self, value: object) -> tuple[str, Sequence[Any]]:
        """As :meth:`open`, but short: a tag and the fields in order, without the last ones that have their default."""

    def maker(self, tag: str) -> tuple[Callable[..., Any], bool]:
        """What makes an object of the fields in order, and whether these are only texts and None."""


class CheckpointStore(Protocol):
    """Keeps checkpoints; what was saved is never changed."""

    async def save(self, checkpoint: Checkpoint) -> int:
        """Keeps the checkpoint; it survives the process once this returns. Gives the bytes it added.

        Raises :class:`UnknownType`, and :class:`StoreError` or ``OSError`` for the store's own trouble.
        """

    async def load(self, id: str) -> Checkpoint:
        """The checkpoint, fresh containers every time. Raises :class:`CheckpointNotFound`."""

    async def infos(self, run: str | None = None) -> list[CheckpointInfo]:
        """All checkpoints (of one run), in the order they were saved."""

    async def latest(self, run: str | None = None) -> CheckpointInfo | None:
        """The checkpoint that was saved last (of one run)."""

    async def delete(self, ids: Collection[str]) -> int:
        """Removes checkpoints and what only they needed; others stay as they are. Gives how many there were."""

    async def prune(self, keep: int, run: str | None = None) -> int:
        """Removes all but the last ``keep`` checkpoints (of one run). Gives how many it removed."""

    async def close(self) -> None:
        """Gives up files and connections."""
