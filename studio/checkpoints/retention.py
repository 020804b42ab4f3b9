"""Which checkpoints of a workflow are kept: rules, and what they would take away. Nothing here touches a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from studio.checkpoints.checkpoint import CheckpointInfo
from studio.checkpoints.marks import Mark

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """``last``: how many of each branch stay; ``days``: how old one may be; ``megabytes``: how much all may take, the
    oldest go first. None: no such limit. The others protect checkpoints from all three.

    ``automatic``: the rules are applied when a run ends.
    """

    named: bool = True
    pinned: bool = True
    branch_points: bool = True
    open_requests: bool = True
    last: int | None = 20
    days: float | None = None
    megabytes: float | None = None
    automatic: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> RetentionRules:
        """The rules of :meth:`to_json`; what does not fit has its default."""
        if not isinstance(data, Mapping):
            return RetentionRules()
        given: dict[str, Any] = {}
        for field in fields(RetentionRules):
            value, default = data.get(field.name, field.default), field.default
            if isinstance(default, bool):
                fits = isinstance(value, bool)
            else:
                number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
                fits = value is None or (number and (field.name != "last" or value >= 1))
            given[field.name] = value if fits else default
        if given["last"] is not None:
            given["last"] = int(given["last"])
        return RetentionRules(**given)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the rules must know besides the checkpoints. ``open_branches`` wait for somebody or can go on: their last
    checkpoint is never taken. ``busy_branches`` are at work: nothing of them is."""

    marks: Mapping[str, Mark]
    open_branches: Collection[str] = ()
    busy_branches: Collection[str] = ()
    forked: Collection[str] = ()
    """Checkpoints that branches begin at."""


@dataclass(frozen=True, slots=True)
class Retention:
    """What goes, oldest first, and how many of the others are protected by which rule."""

    gone: tuple[CheckpointInfo, ...]
    kept: int
    named: int = 0
    pinned: int = 0
    branch_points: int = 0
    open_requests: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what goes."""
        return tuple(info.id for info in self.gone)

    @property
    def bytes(self) -> int:
        """What they added when they were saved; what others share of it stays."""
        return sum(info.bytes for info in self.gone)


def plan_retention(
    infos: Sequence[CheckpointInfo], kept: Kept, rules: RetentionRules, now: float, *, file_bytes: int = 0
) -> Retention:
    """What the rules take away of ``infos`` (in the order they were saved). ``now``: unix seconds; ``file_bytes``: what
    the file takes, for the limit of size."""
    newest: dict[str, str] = {info.run: info.id for info in infos}
    points = _branch_points(infos, kept)
    opens = {newest[run] for run in kept.open_branches if run in newest}
    why: dict[str, int] = dict.fromkeys(("named", "pinned", "branch_points", "open_requests"), 0)
    protected: set[str] = set()
    for info in infos:
        mark = kept.marks.get(info.id, Mark(info.name))
        reasons = (
            ("named", rules.named and bool(mark.name or mark.tags)),
            ("pinned", rules.pinned and mark.pinned),
            ("branch_points", rules.branch_points and info.id in points),
            ("open_requests", rules.open_requests and info.id in opens),
        )
        for name, holds in reasons:
            why[name] += holds
        if any(holds for _, holds in reasons) or info.run in kept.busy_branches or info.id in opens:
            protected.add(info.id)
    gone = {i.id for i in _too_many(infos, rules.last) if i.id not in protected}
    if rules.days is not None:
        gone |= {i.id for i in infos if now - i.created > rules.days * _DAY and i.id not in protected}
    if rules.megabytes is not None:
        gone |= _too_large(infos, gone, protected, file_bytes, rules.megabytes * 1e6)
    taken = tuple(i for i in infos if i.id in gone)
    return Retention(taken, len(infos) - len(taken), **why)


def _branch_points(infos: Iterable[CheckpointInfo], kept: Kept) -> set[str]:
    run_of = {info.id: info.run for info in infos}
    points = {i.parent for i in infos if i.parent in run_of and run_of[i.parent] != i.run}
    return {p for p in points if p is not None} | set(kept.forked)


def _too_many(infos: Sequence[CheckpointInfo], last: int | None) -> list[CheckpointInfo]:
    """All but the last of each branch; none without a limit."""
    if last is None:
        return []
    counts: dict[str, int] = {}
    found: list[CheckpointInfo] = []
    for info in reversed(infos):
        counts[info.run] = counts.get(info.run, 0) + 1
        if counts[info.run] > last:
            found.append(info)
    return found


def _too_large(
    infos: Sequence[CheckpointInfo], gone: Collection[str], protected: Collection[str], total: int, limit: float
) -> set[str]:
    """The oldest, until what they added no longer exceeds the limit."""
    left = total - sum(i.bytes for i in infos if i.id in gone)
    found: set[str] = set()
    for info in infos:
        if left <= limit:
            break
        if info.id not in gone and info.id not in protected:
            found.add(info.id)
            left -= info.bytes
    return found
