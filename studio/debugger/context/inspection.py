"""The context inspector without a screen: records, findings, "who has this fact?", and the export as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from studio.agents.messages import Message
from studio.debugger.context.folding import ContextFolder
from studio.debugger.context.items import ContextRecord, Finding, Item, canonical_parts, digest_of, normal
from studio.debugger.context.points_of_view import view_of
from studio.debugger.context.rules import RECORD_RULES, answering_again, orphan_finding
from studio.debugger.context.run_rules import RUN_RULES, leading_on
from studio.document.lines import name_of, node_at
from studio.document.model import Workflow
from studio.engine import events as ev


@dataclass(frozen=True, slots=True)
class Holder:
    """An invocation that has a fact. ``exact``: an item is the text, not only has it inside."""

    record: ContextRecord
    item: Item
    point_of_view: str
    exact: bool


class Inspection:
    """Takes events; findings are computed when somebody asks."""

    def __init__(self, document: Workflow) -> None:
        self.run = ContextFolder(document)
        self._kept: dict[str, list[Finding]] = {}
        self._before: dict[str, list[Finding]] = {}

    def fold(self, event: ev.Event) -> None:
        """Takes the next event."""
        self.run.fold(event)
        if isinstance(event, ev.ModelCallStarted):
            record = self.run.records.get(event.invocation)
            if record is not None:
                self._note(record, record.context, event.messages)

    def before_call(self, path: str, messages: Sequence[Message]) -> list[Finding]:
        """What W4 and W12 find in messages that a node is about to send; ``path``: its id, behind those around it."""
        record = self.run.running(path)
        return self._note(record, self.run.peek(record, messages), messages) if record is not None else []

    def _note(self, record: ContextRecord, seen: Sequence[Item], messages: Sequence[Message]) -> list[Finding]:
        found = [*answering_again(self.run, record, seen), *orphan_finding(self.run, record, messages)]
        kept = self._before.setdefault(record.invocation, [])
        fresh = [f for f in found if all((f.rule, f.text) != (k.rule, k.text) for k in kept)]
        kept += fresh
        return fresh

    def findings(self, muted: Collection[tuple[str, str]] = frozenset()) -> list[Finding]:
        """What the rules find by now; ``muted`` are pairs of rule and node."""
        return [one for one in self.look() if one is not None and (one.rule, one.node) not in muted]

    def look(self) -> Iterator[Finding | None]:
        """The findings, bit by bit: None where a caller may pause. Events must not be folded meanwhile."""
        late = self._settled()
        for record in list(self.run.records.values()):
            yield from self._before.get(record.invocation, ())
            if record.ended is not None:
                kept = self._kept.get(record.invocation)
                if kept is None or not late:
                    kept = [one for rule in RECORD_RULES for one in rule(self.run, record)]
                    if late:
                        self._kept[record.invocation] = kept
                yield from kept
            yield None
        for rule in RUN_RULES:
            yield from rule(self.run)
            yield None

    def _settled(self) -> bool:
        """Whether no later event can change what a finished record means."""
        return self.run.idle

    def unread_state(self, record: ContextRecord) -> list[Item]:
        """State that the invocation wrote and that nothing in the drawing reads."""
        document = self.run.document
        told = document.model_dump_json(exclude={"state", "places", "notes"})
        found = []
        for invocation, item in self.run.written:
            key = re.escape(item.origin_ref)
            others = len(re.findall(rf"\b{key}\b", told)) - len(re.findall(rf"set_state\([^,)]*\b{key}\b", told))
            if invocation == record.invocation and others <= 0:
                found.append(replace(item, note="state"))
        return found

    def hidden(self, record: ContextRecord) -> list[Item]:
        """What stayed hidden: reasoning, usage, inner messages, dropped messages, state that nobody reads."""
        leading = leading_on(self.run)
        lost = [
            replace(item, note="dropped")
            for sent in self.run.sent.values()
            if sent.record is record and sent.dropped and sent.source in leading
            for item in sent.items
        ]
        return [*record.hidden, *lost, *self.unread_state(record)]

    def who_has(self, text: str) -> list[Holder]:
        """Invocations whose context has a text, by its digest or inside a longer one."""
        wanted, digest = normal(text), digest_of(text)
        if not wanted:
            return []
        found = []
        for record in self.run.records.values():
            items = [i for call in record.seen for i in call if i.digest == digest or wanted in normal(i.text)]
            if items:
                best = next((i for i in items if i.digest == digest), items[0])
                name = view_of(node_at(self.run.document, record.inside, record.node)).name
                found.append(Holder(record, best, name, best.digest == digest))
        return found

    def to_json(self) -> dict[str, Any]:
        """All records and findings as JSON."""
        return {
            "workflow": self.run.document.name,
            "records": [self._record(record) for record in self.run.records.values()],
            "warnings": [
                {"rule": f.rule, "severity": f.severity, "node": f.node, "invocation": f.invocation,
                 "items": list(f.items), "text": f.text, "why": f.why, "fix": f.fix}
                for f in self.findings()
            ],
        }  # fmt: skip

    def _record(self, record: ContextRecord) -> dict[str, Any]:
        return {
            "invocation_id": record.invocation,
            "node_id": record.node,
            "node": name_of(self.run.document, record.node),
            "kind": record.kind,
            "superstep": record.superstep,
            "started": record.started,
            "ended": record.ended,
            "status": record.status,
            "host": record.host,
            "seen": [canonical_parts(call) for call in record.seen],
            "explicit_out": canonical_parts(record.explicit_out),
            "implicit_out": canonical_parts(record.implicit_out),
            "history_written": canonical_parts(record.written),
            "shown": canonical_parts(record.shown),
            "hidden": canonical_parts(self.hidden(record)),
        }
