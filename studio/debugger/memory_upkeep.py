"""What a store in memory has of looking after: nobody else can have it, and it takes no room on disk."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable

from studio.checkpoints.retention import RetentionRules
from studio.checkpoints.upkeep import Compaction, Discarded, Sizes, Stop
from studio.checkpoints.usage import Weight


class MemoryUpkeep:
    """Part of :class:`studio.debugger.memory_run_store.MemoryRunStore`."""

    def __init__(self) -> None:
        self._rules = RetentionRules()
        self._discarded: dict[int, Discarded] = {}
        self._numbers = 0

    @abstractmethod
    async def delete(self, ids: Collection[str]) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.delete`."""

    @abstractmethod
    async def delete_run(self, id: str) -> int:
        """See :meth:`studio.checkpoints.runs.RunStore.delete_run`."""

    async def claim_run(self, id: str) -> None:
        """Nobody else can have it."""

    async def release_run(self, id: str) -> None:
        """Nobody else wants it."""

    async def owners(self) -> dict[str, str]:
        """None."""
        return {}

    def changed_elsewhere(self) -> bool:
        """Never."""
        return False

    async def retention(self) -> RetentionRules:
        """Which checkpoints are kept."""
        return self._rules

    async def set_retention(self, rules: RetentionRules) -> None:
        """Other rules."""
        self._rules = rules

    async def discard(self, text: str, at: float, checkpoints: Collection[str] = (), runs: Collection[str] = ()) -> int:
        """Hides checkpoints and runs."""
        self._numbers += 1
        self._discarded[self._numbers] = Discarded(self._numbers, at, text, tuple(checkpoints), tuple(runs))
        return self._numbers

    async def put_back(self, number: int) -> None:
        """Undoes one :meth:`discard`."""
        self._discarded.pop(number, None)

    async def discarded(self) -> list[Discarded]:
        """Everything that can be put back."""
        return list(self._discarded.values())

    async def sizes(self) -> Sizes:
        """Nothing on disk."""
        return Sizes(0)

    async def freed_by(self, checkpoints: Iterable[str], runs: Iterable[str] = ()) -> int:
        """Nothing on disk."""
        return 0

    async def weight(self, id: str) -> Weight:
        """Nothing on disk."""
        return Weight(0, 0)

    async def compact(self, say: Callable[[str], None], stop: Stop) -> Compaction:
        """Removes what was discarded."""
        checkpoints = runs = 0
        for batch in list(self._discarded.values()):
            checkpoints += await self.delete(batch.checkpoints)
            for run in batch.runs:
                runs += 1
                checkpoints += await self.delete_run(run)
        self._discarded.clear()
        return Compaction(0, 0, checkpoints, runs)
