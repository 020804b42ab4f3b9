"""Rules about one invocation: they hold as soon as it ended, W4 and W12 already before its model call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from studio.agents.messages import Message, ToolCall, ToolResult
from studio.debugger.context.folding import WORKFLOW_INPUT, ContextFolder, Request
from studio.debugger.context.items import ContextRecord, Finding, Item, normal, same
from studio.debugger.context.points_of_view import view_of
from studio.debugger.context.words import counted, finding
from studio.document.lines import lines, name_of
from studio.document.model import AgentNode

_WIDE = 0.5


def duplicates(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W1: the same message twice in one call, from two sources."""
    for seen in record.seen if record.calls_model else []:
        groups: dict[str, list[Item]] = {}
        for item in seen:
            said_now = item.origin_ref == WORKFLOW_INPUT  # a person may say a thing again
            if item.text and not said_now and item.origin not in ("tool_loop", "instructions"):
                groups.setdefault(item.digest, []).append(item)
        doubled = [
            [item for item in group if _as_said(item) == _as_said(group[0])]
            for group in groups.values()
            if len({(i.origin, i.origin_ref) for i in group}) > 1
        ]
        doubled = [group for group in doubled if len({(i.origin, i.origin_ref) for i in group}) > 1]
        if doubled:
            name = name_of(run.document, record.node)
            tokens = sum(item.tokens for group in doubled for item in group[1:])
            places = list(dict.fromkeys(_place(run, item) for group in doubled for item in group))
            where = " and ".join(part for part in (", ".join(places[:-1]), places[-1]) if part)
            text = f"{name} sees {counted(len(doubled), 'message', 'messages')} twice: {where}. "
            text += f"That is about {tokens} tokens, and the model may answer again."
            yield finding("W1", record, text, tuple(item for group in doubled for item in group))
            return


def _as_said(item: Item) -> str:
    """The role before a host reassigned it: a reassigned copy is the same message."""
    return item.original


def _place(run: ContextFolder, item: Item) -> str:
    match item.origin:
        case "history":
            return "in its history"
        case "implicit_conversation":
            return f"in the conversation that {_who(run, item.origin_ref)} passed on"
        case "provider":
            return f"from {item.origin_ref}"
    return f"in the input from {_who(run, item.origin_ref)}"


def _who(run: ContextFolder, source: str) -> str:
    return name_of(run.document, source) if run.document.node(source) is not None else source or "the workflow"


def open_requests(seen: Sequence[Item], requests: Sequence[Request]) -> Iterator[Item]:
    """Requests in a list with no text of an assistant behind them before the next one."""
    digests = {request.item.digest for request in requests}
    waiting: Item | None = None
    for item in seen:
        if item.original == "user" and item.digest in digests:
            if waiting is not None:
                yield waiting
            waiting = item
        elif waiting is not None and item.original == "assistant" and item.text and item.plain:
            waiting = None
    if waiting is not None:
        yield waiting


def answering_again(run: ContextFolder, record: ContextRecord, seen: Sequence[Item]) -> Iterator[Finding]:
    """W4: an open request in the conversation passed on that has a reply elsewhere in the run."""
    explicit = {item.digest for item in seen if item.origin == "explicit_input"}
    risky = [i for i in open_requests(seen, run.requests) if i.origin == "implicit_conversation"]
    for item in risky:
        by = _answered_by(run, record, item) if item.digest not in explicit else None
        if by is not None:
            name, other = name_of(run.document, record.node), name_of(run.document, by.node)
            text = f"{name} sees “{short(item.text)}” as if it were open; {other} has answered it already."
            yield finding("W4", record, text, (item,))


def _answered_by(run: ContextFolder, record: ContextRecord, request: Item) -> ContextRecord | None:
    """An earlier invocation that had the request and said something."""
    for other in run.records.values():
        had = other.order < record.order and any(item.digest == request.digest for item in other.context)
        if had and any(item.text and item.original != "user" for item in (*other.shown, *other.explicit_out)):
            return other
    return None


def orphan_calls(messages: Sequence[Message]) -> list[str]:
    """Names or ids of calls without a later result, and of results without an earlier call."""
    waiting: dict[str, str] = {}
    orphans: list[str] = []
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, ToolCall):
            waiting[part.call_id] = part.name
        elif isinstance(part, ToolResult) and waiting.pop(part.call_id, None) is None:
            orphans.append(f"the result of {part.call_id}")
    return [f"the call of {name}" for name in waiting.values()] + orphans


def orphan_finding(run: ContextFolder, record: ContextRecord, messages: Sequence[Message]) -> Iterator[Finding]:
    """W12: half a pair of call and result."""
    orphans = orphan_calls(messages)
    if orphans:
        name = name_of(run.document, record.node)
        text = f"{name} is about to send {' and '.join(orphans)} without the other half."
        yield finding("W12", record, text)


def shown_only(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W5: what the user read is not in what was returned, and an agent comes later."""
    if not record.shown or run.last_model_call.get(record.turn, 0) <= record.order:
        return
    returned = (*record.explicit_out, *record.implicit_out)
    lost = [item for item in record.shown if item.text and not any(_same_text(item, other) for other in returned)]
    if lost:
        name = name_of(run.document, record.node)
        yield finding("W5", record, f"{name} showed “{short(lost[0].text)}” and did not send it on.", tuple(lost))


def _same_text(a: Item, b: Item) -> bool:
    return normal(a.text) == normal(b.text) or same(a, b)


def _waits_for_more(run: ContextFolder, record: ContextRecord) -> bool:
    """Whether it took one of several answers: its node goes on when all are there."""
    if not record.by_answer:
        return False
    later = (r for r in run.records.values() if r.node == record.node and r.inside == record.inside and r.by_answer)
    return record.node in run.pending.values() or any(r.turn == record.turn and r.order > record.order for r in later)


def silent(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W6: it ended and gave nothing. Worse if nobody else got the request."""
    if record.status != "done" or not record.took_turn or record.kind == "junction":
        return
    if record.explicit_out or record.implicit_out or record.shown or _waits_for_more(run, record):
        return
    asked = {request.item.digest for request in run.requests if request.turn == record.turn}
    had = {item.digest for item in record.context} & asked
    others = (r for r in run.records.values() if r is not record and r.turn == record.turn)
    alone = bool(had) and not any({i.digest for i in r.context} & had for r in others)
    name = name_of(run.document, record.node)
    text = (
        f"{name} took “{short(record.context[0].text)}” and gave nothing."
        if record.context
        else f"{name} gave nothing."
    )
    yield finding("W6", record, text, severity="warning" if alone else "info")


def lost_card(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W11: something that is not plain text was shown, and the node set no output."""
    cards = [item for item in record.shown if not item.plain]
    wrote = any(invocation == record.invocation for invocation, _ in run.written)
    if cards and not record.explicit_out and not wrote and not _is_end(run, record.node):
        name = name_of(run.document, record.node)
        yield finding("W11", record, f"{name} showed data that is in none of its outputs.", tuple(cards))


def _is_end(run: ContextFolder, node: str) -> bool:
    return not any(line.source == node for line in lines(run.document))


def wide(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W13: an agent with tools reads mostly what others passed on."""
    node = run.document.node(record.node)
    if not isinstance(node, AgentNode) or not (node.tools or node.mcp_servers) or not record.calls_model:
        return
    if not view_of(node).sees_parent_context:
        return
    passed = [item for item in record.context if item.origin == "implicit_conversation"]
    tokens, whole = sum(i.tokens for i in passed), sum(i.tokens for i in record.context)
    if whole and tokens > whole * _WIDE:
        share = round(100 * tokens / whole)
        text = f"{share} % of what {node.name} reads is conversation passed on, about {tokens} of {whole} tokens."
        yield finding("W13", record, text, tuple(passed))


def overridden(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W14: what was sent is not what the model said, which the history keeps."""
    said = record.answers[-1] if record.answers else ""
    if record.replaced or record.sent_reply is None or not said.strip():
        return
    if normal(said) not in normal(record.sent_reply):
        name = name_of(run.document, record.node)
        text = f"{name} sent “{short(record.sent_reply)}” where the model said “{short(said)}”."
        yield finding("W14", record, text)


def emit_conflict(run: ContextFolder, record: ContextRecord) -> Iterator[Finding]:
    """W15: the option says one thing and the token another."""
    node = run.document.node(record.node)
    if record.host != "turn_token" or record.emit is None or not isinstance(node, AgentNode):
        return
    option = node.turn_token.emit_agent_update_events
    if option is not None and option != record.emit:
        does = "shows its updates" if record.emit else "does not show its updates"
        yield finding("W15", record, f"{node.name} {does}, because the token of its turn says so.")


def short(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


RECORD_RULES: tuple[Callable[[ContextFolder, ContextRecord], Iterator[Finding]], ...] = (
    duplicates,
    shown_only,
    silent,
    lost_card,
    wide,
    overridden,
    emit_conflict,
)
