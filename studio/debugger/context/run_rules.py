"""Rules about a whole run: replies to requests, dropped and waiting messages, double turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, pairwise

from studio.debugger.context.folding import ContextFolder, Request
from studio.debugger.context.items import ContextRecord, Finding, Item, same
from studio.debugger.context.rules import short
from studio.debugger.context.words import counted, finding
from studio.document.lines import lines, name_of
from studio.engine.values import TurnToken

_MOST_COMPARED = 60
"""Shown items of one turn that are compared word by word; more are compared by digest alone."""


def _senders(run: ContextFolder) -> dict[str, set[str]]:
    """By node: the invocations whose messages it got."""
    senders: dict[str, set[str]] = {}
    for sent in run.sent.values():
        for _, target, reason in sent.outcomes:
            if reason in ("", "buffered") and sent.record is not None:
                senders.setdefault(target, set()).add(sent.record.invocation)
    return senders


def _reaches(run: ContextFolder, request: Request, senders: dict[str, set[str]]) -> set[str]:
    """Invocations that saw a request, and those that go on from what such ones sent."""
    found: set[str] = set()
    for record in sorted(run.records.values(), key=lambda r: r.order):
        if record.turn != request.turn or record.order < request.order:
            continue
        saw = any(i.digest == request.item.digest and i.original == "user" for call in record.seen for i in call)
        if saw or senders.get(record.node, set()) & found:
            found.add(record.invocation)
    return found


def _says(record: ContextRecord) -> bool:
    """Whether it gave a person something: an output, a reply, or a question, whose answer is a request of its own."""
    spoken = any(i.text and i.original == "assistant" and i.plain for i in record.explicit_out)
    return bool(record.shown) or spoken or any(i.role == "ask" for i in record.explicit_out)


def unanswered(run: ContextFolder) -> Iterator[Finding | None]:
    """W3: the run is idle, nobody is asked, and a request has no reply."""
    if not run.idle or run.pending:
        return
    senders = _senders(run)
    for at, request in enumerate(run.requests):
        yield None  # a caller may pause
        until = run.requests[at + 1].order if at + 1 < len(run.requests) else None
        reached = _reaches(run, request, senders)
        records = [run.records[key] for key in reached]
        if not any(_says(r) and (until is None or r.order < until) for r in records):
            last = max(records, key=lambda r: r.order, default=None)
            text = f"Nobody answered “{short(request.item.text)}”."
            if last is not None:
                text += f" {name_of(run.document, last.node)} had it last."
            yield finding("W3", last, text, (request.item,))


def doubled_replies(run: ContextFolder) -> Iterator[Finding | None]:
    """W2: two nodes showed the same, or two showed a reply to one request."""
    by_turn: dict[int, list[tuple[ContextRecord, Item]]] = {}
    for record in run.records.values():
        for item in record.shown:
            if item.text and item.id not in record.intermediate:
                by_turn.setdefault(record.turn, []).append((record, item))
    for turn, shown in by_turn.items():
        yield None
        yield from _doubled(run, turn, shown)


def _doubled(run: ContextFolder, turn: int, shown: list[tuple[ContextRecord, Item]]) -> Iterator[Finding | None]:
    told: set[tuple[str, str]] = set()
    near = len(shown) <= _MOST_COMPARED
    for (a, one), (b, other) in combinations(shown, 2) if near else _by_digest(shown):
        pair = (a.invocation, b.invocation)
        if a.invocation != b.invocation and pair not in told and same(one, other):
            told.add(pair)
            yield finding("W2", b, f"{_names(run, a, b)} showed the same: “{short(one.text)}”.", (one, other))
    requests = [request for request in run.requests if request.turn == turn]
    for (a, one), (b, other) in pairwise(shown):
        request = _both_reply(requests, a, b)
        if request is None or a.superstep == b.superstep or (a.invocation, b.invocation) in told:
            continue
        went_on = any(item.digest == one.digest for item in b.context)  # it knew what was answered
        text = f"{_names(run, a, b)} both answered “{short(request.item.text)}”."
        yield finding("W2", b, text, (one, other), severity="info" if went_on else "error")


def _by_digest(
    shown: list[tuple[ContextRecord, Item]],
) -> Iterator[tuple[tuple[ContextRecord, Item], tuple[ContextRecord, Item]]]:
    first: dict[str, tuple[ContextRecord, Item]] = {}
    for one in shown:
        before = first.setdefault(one[1].digest, one)
        if before is not one:
            yield before, one


def _both_reply(requests: list[Request], a: ContextRecord, b: ContextRecord) -> Request | None:
    """The request that both saw last, with no other one between them. Branches of one superstep are meant to answer
    side by side."""
    for at, request in enumerate(requests):
        until = requests[at + 1].order if at + 1 < len(requests) else None
        if all(
            r.order > request.order
            and (until is None or r.order < until)
            and any(i.digest == request.item.digest and i.original == "user" for call in r.seen for i in call)
            for r in (a, b)
        ):
            return request
    return None


def _names(run: ContextFolder, a: ContextRecord, b: ContextRecord) -> str:
    return f"{name_of(run.document, a.node)} and {name_of(run.document, b.node)}"


_REASONS: Mapping[str, str] = {
    "condition": "the condition was not met",
    "type": "the next node does not take this type",
    "target": "it was meant for another node",
    "selection": "the selection did not choose it",
    "no_edge": "no edge leads on",
}


def leading_on(run: ContextFolder) -> frozenset[str]:
    """Nodes with an edge behind them."""
    from_edges = {e.source for e in run.document.edges if hasattr(e, "source") and e.source}
    return frozenset({line.source for line in lines(run.document) if line.source} | from_edges)


def dropped(run: ContextFolder) -> Iterator[Finding | None]:
    """W7: a message that was delivered nowhere, unless nothing follows its node anyway."""
    leading = leading_on(run)
    for sent in run.sent.values():
        if not sent.dropped or sent.record is None or sent.source not in leading or isinstance(sent.data, TurnToken):
            continue
        reasons = dict.fromkeys(_REASONS.get(reason, reason) for _, _, reason in sent.outcomes) or {
            "no case matched": None
        }
        what = short(sent.items[0].text) if sent.items else "a message"
        text = f"“{what}” of {name_of(run.document, sent.source)} went nowhere: {', '.join(reasons)}."
        yield finding("W7", sent.record, text, tuple(sent.items))


def starved(run: ContextFolder) -> Iterator[Finding | None]:
    """W8: a turn-token agent was told something and never got its turn."""
    if not run.idle:
        return
    for node in run.document.nodes:
        waiting = run.buffered(node.id) if run.host_of(node.id) == "turn_token" else []
        if waiting:
            last = _last(run, node.id)
            many = counted(len(waiting), "message waits", "messages wait")
            yield finding("W8", last, f"{many} in {node.name}, and its turn token did not come.", node=node.id)


def double_turns(run: ContextFolder) -> Iterator[Finding | None]:
    """W9: two turns of one turn-token agent in one superstep, from different senders."""
    turns: dict[tuple[int, int, str], list[ContextRecord]] = {}
    for record in run.records.values():
        if record.host == "turn_token" and record.took_turn:
            turns.setdefault((record.turn, record.superstep, record.node), []).append(record)
    for (_, superstep, node), records in turns.items():
        if len({record.sources for record in records}) > 1:
            text = f"{name_of(run.document, node)} took {len(records)} turns in superstep {superstep}."
            yield finding("W9", records[-1], text)


def residue(run: ContextFolder) -> Iterator[Finding | None]:
    """W10: a join keeps messages at the end of the run."""
    if not run.idle:
        return
    for (_, target), waiting in run.kept.items():
        names = ", ".join(dict.fromkeys(name_of(run.document, sent.source) for sent in waiting))
        many = counted(len(waiting), "message", "messages")
        text = f"{name_of(run.document, target)} still keeps {many} from {names}."
        yield finding("W10", waiting[-1].record, text, tuple(waiting[-1].items), node=target)


def _last(run: ContextFolder, node: str) -> ContextRecord | None:
    return next((r for r in reversed(run.records.values()) if r.node == node), None)


RUN_RULES: tuple[Callable[[ContextFolder], Iterator[Finding | None]], ...] = (
    doubled_replies,
    unanswered,
    dropped,
    starved,
    double_turns,
    residue,
)
