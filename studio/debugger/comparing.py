"""Loads what a comparison is made of: two moments of the runs in a store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.checkpoints import Codec, RunRecord, RunStore
from studio.debugger.branches import Stretch, replay
from studio.debugger.comparison import old_document
from studio.debugger.run_comparison import Compared, RunComparison, Side, compare
from studio.debugger.traces import CostOf, TraceFolder, told_cost
from studio.document.model import Workflow


@dataclass(frozen=True, slots=True)
class Moment:
    """One side of a comparison. ``checkpoint`` None: the end of the branch; ``way`` leads there from the input."""

    record: RunRecord
    checkpoint: str | None
    way: Sequence[Stretch]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Comparing:
    """Makes comparisons from a store. ``drawing`` stands for runs whose own was not kept; ``names``: of checkpoints."""

    store: RunStore
    codec: Codec
    drawing: Workflow
    names: Mapping[str, str]
    cost_of: CostOf = told_cost

    async def compare(self, a: Moment, b: Moment) -> RunComparison:
        """Reads both sides and aligns them, in a thread. Raises :class:`studio.checkpoints.StoreError`."""
        one, other = await self._side(a), await self._side(b)
        return await asyncio.to_thread(compare, one, other)

    async def _side(self, moment: Moment) -> Compared:
        folder = TraceFolder(self.cost_of)
        await replay(moment.way, self.store, self.codec, folder.fold)
        record, trace = moment.record, folder.trace
        document = await old_document(self.store, record.document_fingerprint) or self.drawing
        state = dict(trace.state)
        if moment.checkpoint is not None:
            state = dict((await self.store.load(moment.checkpoint)).state)
        subtitle = f"run {record.number}" + (f", {record.note}" if record.note else "")
        side = Side(moment.title or record.name, subtitle, record.id)
        return Compared(side, trace, document, state, self.names)
