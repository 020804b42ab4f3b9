"""What people call the ends of a message."""

from __future__ import annotations

from collections.abc import Iterable

from studio.agents.messages import Usage
from studio.document.lines import counts, line, lines, name_of
from studio.document.model import Workflow
from studio.engine.values import FROM_OUTSIDE
from studio.ui.paint.numbers import count_text, tokens_text
from studio.ui.text import one_line, tr


def source_name(workflow: Workflow, source: str, purpose: str = "send") -> str:
    """A node's name; "Input" for the input of a run, "Answer" for what a person answered. ``purpose``: that of
    the message."""
    if not source or (purpose == "input" and source.startswith(FROM_OUTSIDE)):
        return tr("Input")
    return tr("Answer") if source.startswith(FROM_OUTSIDE) else name_of(workflow, source)


def target_names(workflow: Workflow, target: str | None, edges: Iterable[str]) -> list[str]:
    """The nodes that a waiting message goes to: the one it is for, or the ends of its edges."""
    if target:
        return [name_of(workflow, target)]
    wanted = frozenset(edges)
    direct = [line(workflow, e) for e in wanted]
    ends = [f.target for f in direct if f is not None]
    known = {f.id for f in direct if f is not None}
    ends += [f.target for f in lines(workflow) if f.edge in wanted and f.edge not in known]
    nodes = [end for end in ends if workflow.edge(end) is None]  # not the rhombus or bar on the way
    return [name_of(workflow, end) for end in dict.fromkeys(nodes or ends)]


def counted(number: int, one: str, many: str, shown: str = "") -> str:
    """ "1 message" or "3 messages": ``many`` has ``{count}``; ``shown`` is the number as it is written."""
    return one if number == 1 else many.format(count=shown or number)


def size_words(workflow: Workflow, between: str = " · ") -> str:
    """ "6 nodes · 9 edges" """
    nodes, edges = counts(workflow)
    node_words = counted(nodes, tr("1 node"), tr("{count} nodes"))
    return node_words + between + counted(edges, tr("1 edge"), tr("{count} edges"))


def tokens_words(number: int) -> str:
    """ "1 token", "1 204 tokens" """
    return counted(number, tr("1 token"), tr("{count} tokens"), count_text(number))


def usage_words(usage: Usage | None) -> str:
    """ "10.3 k tokens" of model calls, "≥" where some reported none; "" if nobody did."""
    if usage is None or (usage.input is None and usage.output is None):
        return ""
    number = (usage.input or 0) + (usage.output or 0)
    sign = "≥ " if usage.partial else ""
    return sign + counted(number, tr("1 token"), tr("{count} tokens"), tokens_text(number))


def tokens_short(usage: Usage | None) -> str:
    """ "10.3 k", "≥" where some reported none; "" if nobody did."""
    if usage is None or (usage.input is None and usage.output is None):
        return ""
    return ("≥ " if usage.partial else "") + tokens_text((usage.input or 0) + (usage.output or 0))


def short(name: str, most: int = 40) -> str:
    """A name as it stands in a sentence: in one line, at most so many characters."""
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"
