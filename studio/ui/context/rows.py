"""The groups of the columns, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from studio.debugger.context.inspection import Inspection
from studio.debugger.context.items import ContextRecord, Item
from studio.document.lines import path_names
from studio.document.model import Workflow
from studio.ui.text import tr
from studio.ui.widgets.sources import counted


@dataclass(frozen=True, slots=True)
class Group:
    """Items under one heading. ``hint`` stands for a group without items."""

    title: str
    note: str = ""
    items: tuple[Item, ...] = ()
    hint: str = ""

    @property
    def tokens(self) -> int:
        """Estimated, of all items."""
        return sum(item.tokens for item in self.items)


@dataclass(frozen=True, slots=True)
class Column:
    """One of the four columns."""

    title: str
    subtitle: str
    groups: tuple[Group, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """Of all groups."""
        return tuple(item for group in self.groups for item in group.items)

    @property
    def summary(self) -> str:
        """ "13 messages · 3 348 tokens"."""
        items = self.items
        if not items:
            return ""
        tokens = sum(item.tokens for item in items)
        return " · ".join(
            (counted(len(items), tr("1 item"), tr("{count} items")), tr("≈ {count} tokens").format(count=tokens))
        )


def in_context(workflow: Workflow, record: ContextRecord, call: int, without: Collection[str] = ()) -> Column:
    """What a model call was sent, in this order, as runs of one origin. ``without``: origins and roles that are left
    out."""
    seen = record.seen[call] if 0 <= call < len(record.seen) else ()
    runs: list[tuple[tuple[str, str], list[Item]]] = []
    left_out = 0
    for item in seen:
        if item.origin in without or item.role in without:
            left_out += 1
            continue
        key = (item.origin, item.origin_ref)
        if runs and runs[-1][0] == key:
            runs[-1][1].append(item)
        else:
            runs.append((key, [item]))
    groups = tuple(
        Group(origin_title(o), _from(workflow, record.inside, o, ref), tuple(items)) for (o, ref), items in runs
    )
    subtitle = tr("What the model was sent, in this order") if record.calls_model else tr("What the node was given")
    if left_out:
        subtitle += " · " + counted(left_out, tr("1 item left out"), tr("{count} items left out"))
    return Column(tr("In context"), subtitle, groups)


def origin_title(origin: str) -> str:
    """What people call an origin."""
    return {
        "explicit_input": tr("Explicit input"),
        "implicit_conversation": tr("Conversation passed on"),
        "provider": tr("Context provider"),
        "history": tr("History"),
        "instructions": tr("Instructions"),
        "tool_loop": tr("Tool loop"),
        "synthetic": tr("Added by the host"),
    }.get(origin, tr("Other"))


def _from(workflow: Workflow, inside: Sequence[str], origin: str, ref: str) -> str:
    if origin == "history":
        return tr("from the session") if ref == "session" else tr("from {name}").format(name=ref)
    if origin in ("explicit_input", "implicit_conversation") and ref:
        if ref == "input":
            return tr("of the workflow")
        return tr("from {name}").format(name=path_names(workflow, inside, ref)[-1])
    return ref if origin == "provider" else ""


def with_names(column: Column, workflow: Workflow, record: ContextRecord) -> Column:
    """Nodes that said something, under the names that people gave them."""

    def named(item: Item) -> Item:
        inside = (*record.inside, record.node) if item.note == "inside" else record.inside
        return replace(item, author=path_names(workflow, inside, item.author)[-1]) if item.author else item

    groups = (replace(group, items=tuple(map(named, group.items))) for group in column.groups)
    return replace(column, groups=tuple(groups))


def explicit(record: ContextRecord, waiting: Collection[str]) -> Column:
    """What was sent on edges or asked."""
    asked = tuple(i for i in record.explicit_out if i.note == "request")
    sent = tuple(i for i in record.explicit_out if i.note != "request")
    state = tr("open") if set(record.asked) & set(waiting) else tr("answered")
    groups = [Group(tr("Requests"), state, asked)] if asked else []
    if sent:
        groups.append(Group(tr("Sent on edges"), "", sent))
    elif asked:
        groups.append(Group("", hint=tr("No reply sent yet. The node goes on when its requests are answered.")))
    else:
        running = record.status == "running"
        groups.append(Group("", hint=tr("Nothing yet.") if running else tr("It sent nothing.")))
    return Column(tr("Returned explicitly"), tr("Sent over edges, or asked"), tuple(groups))


def implicit(record: ContextRecord) -> Column:
    """What was passed along."""
    passed = tuple(record.implicit_out)
    hint = tr("Nothing was passed along.") if record.status != "running" else tr("Nothing yet.")
    groups = [Group(tr("Conversation"), tr("as it was given"), passed) if passed else Group("", hint=hint)]
    for source in dict.fromkeys(item.origin_ref for item in record.written):
        where = tr("to the session") if source == "session" else tr("to {name}").format(name=source)
        groups.append(Group(tr("History written"), where, tuple(i for i in record.written if i.origin_ref == source)))
    return Column(tr("Returned implicitly"), tr("Passed along without being asked for"), tuple(groups))


def hidden(inspection: Inspection, record: ContextRecord) -> Column:
    """What nobody got to see."""
    titles = {
        "reasoning": tr("Reasoning"),
        "usage": tr("Usage record"),
        "dropped": tr("Dropped messages"),
        "state": tr("State not read"),
        "inside": tr("Inside the sub-workflow"),
    }
    found = inspection.hidden(record)
    groups = [
        Group(title, "", tuple(i for i in found if i.note == note))
        for note, title in titles.items()
        if any(i.note == note for i in found)
    ]
    if not groups:
        groups.append(Group("", hint=tr("Nothing stayed hidden.")))
    return Column(tr("Stayed hidden"), tr("Produced, seen by nobody after"), tuple(groups))


def linked(own: Sequence[Item], other: Iterable[Item]) -> frozenset[str]:
    """Ids of the items whose content the other list has too."""
    digests = {item.digest for item in other}
    return frozenset(item.id for item in own if item.digest in digests)
