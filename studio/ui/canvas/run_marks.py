"""What a run says about lines and next nodes: pure functions of the run model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import QueuedView, RunUpdate
from studio.debugger.states import ENDED, RunState
from studio.document.lines import Line
from studio.document.problems import Problem
from studio.ui.canvas.edge_item import IDLE, LineState
from studio.ui.text import tr

_QUIET = frozenset({RunState.IDLE, *ENDED})
_HELD = frozenset({RunState.PAUSED, RunState.WAITING})
BUFFERED = "buffered"
"""The engine's word for a message that waits at a join bar for the others."""
_LOOKED_AT = 2000
"""Messages of an ended run that are looked at, the newest ones."""
_LONGEST = 64
_INTO = frozenset({"into_switch", "into_fan_out"})


class Lines:
    """The lines of a drawing, found by what run and problems say about them."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.all = tuple(lines)
        self._by_source: dict[str, list[Line]] = {}
        self._by_edge: dict[str, list[Line]] = {}
        self._by_id = {line.id: line for line in self.all}
        self.never: tuple[object, dict[str, str]] = (None, {})
        """What an ended run never took, and of which messages that is known."""
        self._faults: tuple[Mapping[str, Sequence[Problem]], Mapping[str, LineState]] | None = None
        for line in self.all:
            self._by_source.setdefault(line.source, []).append(line)
            self._by_edge.setdefault(line.edge, []).append(line)

    def of(self, edge_or_line: str) -> list[Line]:
        """The lines of an edge group, or the line with this id."""
        group = self._by_edge.get(edge_or_line)
        if group is not None:
            return group
        line = self._by_id.get(edge_or_line)
        return [line] if line is not None else []

    def faults(self, problems: Mapping[str, Sequence[Problem]]) -> Mapping[str, LineState]:
        """The lines with an error on them, or on their edge group. Kept for the problems that were asked about last:
        a run asks many times a second, and they stay the same."""
        if self._faults is None or self._faults[0] is not problems:
            found: dict[str, LineState] = {}
            for place, there in problems.items():
                error = next((p for p in there if p.severity == "error"), None)
                if error is not None and place:
                    for line in self.of(place):
                        found.setdefault(line.id, LineState(fault=error.message))
            self._faults = (problems, found)
        return self._faults[1]

    def first(self, edge: str, source: str) -> list[Line]:
        """The lines that a message of ``source`` takes first: into the rhombus or bar, or the edge itself."""
        found = self.of(edge)
        own = [line for line in found if source in (line.source, line.id)]
        return own or found

    def leading(self, edge: str, source: str, target: str) -> list[Line]:
        """The lines on the way from a source through a group to a target; ``edge`` may be any line of the group: a
        switch reports the case that it chose."""
        line = self._by_id.get(edge)
        found = self.of(line.edge if line is not None else edge)
        if len(found) == 1:
            return found
        way = [line for line in found if line.target == target and (line.kind != "fan_in" or source in _ends(line))]
        return way + [line for line in found if line.kind in _INTO and line.source == source]

    def after(self, source: str) -> list[Line]:
        """The lines that leave a node, switch or bar."""
        return self._by_source.get(source, [])


def _ends(line: Line) -> tuple[str, str]:
    """What may send over a line to a bar: the node, or what collects its turns, which has the id of the line."""
    return line.source, line.id


def line_states(lines: Lines, run: RunModel, problems: Mapping[str, Sequence[Problem]]) -> dict[str, LineState]:
    """How each line looks; lines that are not named are idle."""
    carrying = _carrying(lines, run)
    tokens = _carrying(lines, run, "turn_token")
    delivered, refused = _routed(lines, run)
    faults = lines.faults(problems)
    states = dict(faults)
    for i in carrying.keys() | delivered | refused.keys():
        fault = faults[i].fault if i in faults else ""
        states[i] = LineState(carrying.get(i, 0), i in delivered, refused.get(i, ""), fault, i in tokens)
    return states


def _carrying(lines: Lines, run: RunModel, type_name: str = "") -> dict[str, int]:
    """How many messages wait on each line: all, or those of one type."""
    counts: dict[str, int] = {}
    if run.state in _QUIET:
        return counts
    for message in run.queued:
        if type_name and message.type_name != type_name:
            continue
        for line in queued_on(lines, message):
            counts[line.id] = counts.get(line.id, 0) + 1
    return counts


def queued_on(lines: Lines, message: QueuedView) -> list[Line]:
    """The lines on which a queued message waits: the first ones it takes."""
    found: dict[str, Line] = {}
    for edge in message.edges:
        for line in lines.first(edge, message.source):
            behind = message.source == line.edge and message.target == line.target
            if behind or line.kind not in ("case", "default", "leg"):
                found[line.id] = line
    return list(found.values())


def _routed(lines: Lines, run: RunModel) -> tuple[set[str], dict[str, str]]:
    """Lines on which a message was delivered in the running superstep, and lines whose condition was false."""
    arrived: set[str] = set()
    refused: dict[str, str] = {}
    if run.state in ENDED:
        return set(), _never_taken(lines, run)
    if run.state in _QUIET or not run.supersteps:
        return arrived, refused
    number = run.supersteps[-1].number
    for message in reversed(run.messages):
        if message.superstep < number - 1:
            break  # they are in the order of their supersteps
        if message.superstep != number - 1:
            continue
        for edge, target, taken, reason in message.routes:
            for line in lines.leading(edge, message.source, target):
                if taken or reason == BUFFERED:
                    arrived.add(line.id)
                elif line.kind not in _INTO:
                    refused.setdefault(line.id, reason_text(reason, line))
    delivered = set() if run.state in _HELD else arrived
    return delivered, {i: why for i, why in refused.items() if i not in arrived}


def _never_taken(lines: Lines, run: RunModel) -> dict[str, str]:
    """After a run: the lines that refused messages and took none, with the newest reason."""
    seen = (id(run.messages), len(run.messages), tuple(len(m.routes) for m in run.messages[-8:]), run.state)
    if lines.never[0] == seen:
        return lines.never[1]
    taken: set[str] = set()
    refused: dict[str, str] = {}
    for message in run.messages[: -_LOOKED_AT - 1 : -1]:
        for edge, target, delivered, reason in message.routes:
            for line in lines.leading(edge, message.source, target):
                if delivered or reason == BUFFERED:
                    taken.add(line.id)
                elif line.kind not in _INTO:
                    refused.setdefault(line.id, reason_text(reason, line))
    lines.never = (seen, {line: why for line, why in refused.items() if line not in taken})
    return lines.never[1]


def reason_text(reason: str, line: Line) -> str:
    """Why a message did not take a line: the engine's word for it, or a whole reason, in few words."""
    match reason:
        case "" | "condition" | "selection":
            return line.label or tr("not chosen")
        case "type":
            return tr("does not fit")
        case "target" | "no_edge":
            return tr("not meant for this")
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"


def next_steps(lines: Lines, run: RunModel) -> Mapping[str, str]:
    """Nodes that run next while the run is paused, with the words for it."""
    if run.state != RunState.PAUSED:
        return {}
    text = tr("next: superstep {n}").format(n=run.next_superstep)
    if run.held_nodes:  # in the middle of a superstep, part of which may have run
        return dict.fromkeys(run.held_nodes, text)
    targets: set[str] = {q.target for q in run.queued if q.target}
    for message in run.queued:
        for edge in message.edges:
            targets.update(line.target for line in lines.of(edge) if line.kind in ("direct", "fan_in", "handoff"))
            targets.update(line.target for line in lines.of(edge) if line.kind == "leg" and line.condition is None)
    return dict.fromkeys(targets, text)


def concerns(update: RunUpdate) -> bool:
    """Whether a canvas shows any of it."""
    return bool(update.nodes or update.queued or update.supersteps or update.messages or update.everything)


def merged(a: RunUpdate, b: RunUpdate) -> RunUpdate:
    """Both, as far as a canvas shows them."""
    return RunUpdate(
        nodes=a.nodes | b.nodes,
        supersteps=a.supersteps | b.supersteps,
        messages=a.messages or b.messages,
        queued=a.queued or b.queued,
        everything=a.everything or b.everything,
    )


__all__ = ["IDLE", "Lines", "concerns", "line_states", "merged", "next_steps", "queued_on"]
