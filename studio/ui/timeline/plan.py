"""Where each checkpoint stands: columns are places in its chain, rows are branches. Plain data, no Qt."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from studio.bridge.run_views import BranchView, CheckpointView
from studio.ui.text import tr
from studio.ui.widgets.costs import cost_words
from studio.ui.widgets.sources import tokens_short

_ENDS = ("completed", "cancelled", "failed")
_PIECE = 250
"""Checkpoints that are arranged in one piece of work: about a millisecond."""
Glyph = Literal["input", "superstep", "answers", "finished", "broken"]


@dataclass(frozen=True, slots=True)
class Spot:
    """One checkpoint. ``parent`` is set when the parent is in the plan too."""

    checkpoint: str
    column: int
    row: int
    glyph: Glyph
    label: str
    parent: str | None
    name: str = ""
    splits: bool = False
    """Another branch begins here."""
    between: bool = False
    """An edit: it is no place in the chain, and stands between its parent's column and the next."""
    own_label: str = ""
    """Its label where the heading of its column says something else."""
    pinned: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()
    title: str = ""
    """Name and tags, as they stand at the mark."""


@dataclass(frozen=True, slots=True)
class Track:
    """One branch. ``first`` and ``last`` are columns of its own checkpoints; -1 without any."""

    branch: str
    row: int
    name: str
    note: str
    ending: str
    waiting: bool
    state: str
    first: int
    last: int
    number: int
    length: int = 0
    """How many checkpoints are its own."""
    moment: str = ""
    """How and when it ended: "finished 14:35"; how it stands, if it did not end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is drawn."""

    spots: tuple[Spot, ...] = ()
    tracks: tuple[Track, ...] = ()
    columns: int = 0
    by_id: dict[str, Spot] = field(default_factory=dict)
    by_column: dict[int, tuple[Spot, ...]] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    following: dict[str, Spot] = field(default_factory=dict)
    """The checkpoint after one on its own branch, by the id of the one."""
    by_place: dict[tuple[int, int], Spot] = field(default_factory=dict)
    row_of: dict[str, int] = field(default_factory=dict)
    """Rows by branch."""

    def at(self, column: int, row: int) -> Spot | None:
        """The checkpoint at a place."""
        return self.by_place.get((column, row))

    def next_in_chain(self, spot: Spot) -> Spot | None:
        """The checkpoint after one, on its own branch."""
        return self.following.get(spot.checkpoint)


def arrange(checkpoints: Sequence[CheckpointView], branches: Sequence[BranchView], shown: str | None) -> Plan:
    """The plan. The run that is shown comes first, then older ones; within a run branches stand as they began."""
    steps = arranging(checkpoints, branches, shown)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            plan: Plan = done.value
            return plan


def arranging(
    checkpoints: Sequence[CheckpointView], branches: Sequence[BranchView], shown: str | None
) -> Generator[None, None, Plan]:
    """The same in pieces of some milliseconds at most, for thousands of checkpoints. The sequences must not change
    meanwhile."""
    ordered = _ordered(branches, shown)
    columns: dict[str, int] = {}
    by_branch: dict[str, list[CheckpointView]] = {}
    branch_of: dict[str, str] = {}
    by_id = {view.checkpoint: view for view in checkpoints}
    yield
    parents = _parents(checkpoints, branches, by_id)
    yield
    for at, view in enumerate(checkpoints):
        _take_column(view, by_id, parents, columns)
        by_branch.setdefault(view.branch, []).append(view)
        branch_of[view.checkpoint] = view.branch
        if at % _PIECE == _PIECE - 1:
            yield
    labels = _headings([by_branch.get(b.branch, []) for b in ordered], columns)
    yield
    splitting = {p for v in checkpoints if (p := parents[v.checkpoint]) in branch_of and branch_of[p] != v.branch}
    yield
    made = _Making()
    for row, branch in enumerate(ordered):
        own = by_branch.get(branch.branch, [])
        for view in own:
            glyph = _glyph(view, branch, own[-1] is view)
            made.add(_spot(view, parents, columns, row, glyph, view.checkpoint in splitting, labels))
            if len(made.spots) % _PIECE == 0:
                yield
    tracks = tuple(_track(b, row, by_branch.get(b.branch, []), columns) for row, b in enumerate(ordered))
    yield
    return made.plan(tracks, labels)


@dataclass(slots=True)
class _Making:
    """A plan that grows mark by mark; a branch is added whole before the next, from its beginning."""

    spots: list[Spot] = field(default_factory=list)
    by_id: dict[str, Spot] = field(default_factory=dict)
    by_column: dict[int, list[Spot]] = field(default_factory=dict)
    following: dict[str, Spot] = field(default_factory=dict)
    by_place: dict[tuple[int, int], Spot] = field(default_factory=dict)

    def add(self, spot: Spot) -> None:
        self.spots.append(spot)
        self.by_id[spot.checkpoint] = spot
        self.by_column.setdefault(spot.column, []).append(spot)
        self.by_place.setdefault((spot.column, spot.row), spot)
        before = self.by_id.get(spot.parent or "")
        if before is not None and before.row == spot.row:
            self.following[before.checkpoint] = spot

    def plan(self, tracks: tuple[Track, ...], labels: dict[int, str]) -> Plan:
        return Plan(
            tuple(self.spots),
            tracks,
            max(self.by_column, default=-1) + 1,
            self.by_id,
            {column: tuple(found) for column, found in self.by_column.items()},
            labels,
            self.following,
            self.by_place,
            {track.branch: track.row for track in tracks},
        )


def _headings(rows: Sequence[Sequence[CheckpointView]], columns: dict[str, int]) -> dict[int, str]:
    """What stands above the columns: what the topmost row has there."""
    labels: dict[int, str] = {}
    for own in rows:
        for view in own:
            if not _is_edit(view):
                labels.setdefault(columns[view.checkpoint], label_of(view))
    return labels


def _parents(
    checkpoints: Sequence[CheckpointView], branches: Sequence[BranchView], by_id: Mapping[str, CheckpointView]
) -> dict[str, str | None]:
    """What each checkpoint is drawn after: its parent; where that was taken away, the one before on its branch, or the
    one that the branch began at."""
    parents: dict[str, str | None] = {}
    last = {branch.branch: branch.began for branch in branches if branch.began in by_id}
    for view in checkpoints:
        gone = view.parent is not None and view.parent not in by_id
        parents[view.checkpoint] = last.get(view.branch) if gone else view.parent
        last[view.branch] = view.checkpoint
    return parents


def _spot(
    view: CheckpointView,
    parents: Mapping[str, str | None],
    columns: dict[str, int],
    row: int,
    glyph: Glyph,
    splits: bool,
    labels: dict[int, str],
) -> Spot:
    column, label = columns[view.checkpoint], label_of(view)
    parent = parents[view.checkpoint]
    between = _is_edit(view) and parent is not None
    differs = not between and labels.get(column, label) != label
    own_label = label if differs else ""
    return Spot(
        view.checkpoint,
        column,
        row,
        glyph,
        label,
        parent,
        view.name,
        splits,
        between,
        own_label,
        view.pinned,
        view.note,
        view.tags,
        " ".join((view.name, *(f"#{tag}" for tag in view.tags))).strip() if view.tags else view.name,
    )


def _is_edit(view: CheckpointView) -> bool:
    return view.kind == "fork"


def label_of(view: CheckpointView) -> str:
    """What stands above a column."""
    if view.kind == "input":
        return tr("input")
    if _is_edit(view):
        return tr("edited at {superstep}").format(superstep=view.superstep)
    return tr("answer") if view.kind == "answers" else str(view.superstep)


def _ordered(branches: Sequence[BranchView], shown: str | None) -> list[BranchView]:
    current = next((b.number for b in branches if b.branch == shown), None)
    if current is None:
        current = max((b.number for b in branches), default=0)
    return sorted(branches, key=lambda b: (b.number != current, -b.number))


def _take_column(
    view: CheckpointView,
    by_id: Mapping[str, CheckpointView],
    parents: Mapping[str, str | None],
    columns: dict[str, int],
) -> None:
    """The column of a checkpoint, and of those before it that have none yet: a place further than its parent."""
    chain: dict[str, None] = {}
    now: CheckpointView | None = view
    while now is not None and now.checkpoint not in columns and now.checkpoint not in chain:
        chain[now.checkpoint] = None
        parent = parents[now.checkpoint]
        now = by_id[parent] if parent is not None else None
    column = columns[now.checkpoint] if now is not None and now.checkpoint in columns else -1
    for item in reversed(chain):
        column += 0 if _is_edit(by_id[item]) and column >= 0 else 1
        columns[item] = column


def _glyph(view: CheckpointView, branch: BranchView, last: bool) -> Glyph:
    if view.problem:
        return "broken"
    if last and branch.state == "completed":
        return "finished"
    if view.kind == "input":
        return "input"
    return "answers" if view.kind == "answers" else "superstep"


def _track(branch: BranchView, row: int, own: Sequence[CheckpointView], columns: dict[str, int]) -> Track:
    words = {
        "completed": tr("finished"),
        "cancelled": tr("stopped"),
        "failed": tr("failed"),
        "interrupted": tr("interrupted"),
        "waiting": tr("waiting for your answer"),
        "paused": tr("paused"),
        "running": tr("running"),
    }
    parts = [words.get(branch.state, ""), tr("in {owner}").format(owner=branch.elsewhere) if branch.elsewhere else ""]
    if branch.usage is not None:
        tokens = tokens_short(branch.usage)
        parts += [tr("{count} tokens").format(count=tokens) if tokens else "", cost_words(branch.usage)]
    if branch.seconds:
        parts.append(f"{branch.seconds:.0f} s")
    places = [columns[v.checkpoint] for v in own]
    return Track(
        branch.branch,
        row,
        branch.name,
        branch.note,
        " · ".join(p for p in parts if p),
        branch.state == "waiting" and not branch.elsewhere,
        branch.state,
        min(places, default=-1),
        max(places, default=-1),
        branch.number,
        len(places),
        f"{parts[0]} {_when(branch)}".strip(),
    )


def _when(branch: BranchView) -> str:
    """The time of the day it ended, or for another day the date; "" if that is not known."""
    if not branch.started or branch.state not in _ENDS:
        return ""
    ended = datetime.fromtimestamp(branch.started + branch.seconds)
    today = ended.date() == datetime.now().date()
    return f"{ended:%H:%M}" if today else f"{ended:%Y-%m-%d}"
