"""What versions and their differences are called."""

from __future__ import annotations

import time

from studio.document.difference import Difference, ItemChange, What
from studio.ui.text import tr

SIGNS: dict[What, str] = {"added": "+", "removed": "−", "changed": "~", "moved": "↔"}
WORDS: dict[What, str] = {"added": "Added", "removed": "Removed", "changed": "Changed", "moved": "Moved"}
TOKENS: dict[What, str] = {"added": "done_t", "removed": "fail_t", "changed": "wait_t", "moved": "muted"}


def moment(seconds: float, now: float | None = None) -> str:
    """A unix time as one says it: "Today 14:12", "Yesterday 09:01", "27 Nov 14:12", "27 Nov 2025 14:12"."""
    now = time.time() if now is None else now
    there, here = time.localtime(seconds), time.localtime(now)
    clock = time.strftime("%H:%M", there)
    if there[:3] == here[:3]:
        return tr("Today {time}").format(time=clock)
    if there[:3] == time.localtime(now - 86_400)[:3]:
        return tr("Yesterday {time}").format(time=clock)
    day = time.strftime("%d %b" if there.tm_year == here.tm_year else "%d %b %Y", there).removeprefix("0")
    return f"{day} {clock}"


def size_text(size: int) -> str:
    """Bytes: "840 B", "12 kB", "3.4 MB"."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def summary(found: Difference) -> str:
    """ "2 added, 1 removed, 3 changed"; "no difference"."""
    counts = (
        (found.count("added"), tr("{count} added")),
        (found.count("removed"), tr("{count} removed")),
        (found.count("changed"), tr("{count} changed")),
        (found.count("moved"), tr("{count} moved")),
    )
    words = [text.format(count=count) for count, text in counts if count]
    return ", ".join(words) or tr("no difference")


FIELDS = {
    "flow": "lines run",
    "start": "start node",
    "outputs": "output nodes",
    "intermediate": "nodes with intermediate outputs",
    "max_supersteps": "most supersteps",
    "budget_tokens": "tokens of a run",
    "budget_cost": "cost of a run",
    "budget_currency": "currency",
    "state": "state keys",
    "mcp_servers": "MCP servers",
    "offline": "offline script",
    "sample_input": "example input",
    "runs_on_disk": "runs are kept in a file",
    "imported": "import report",
}
"""What fields of a workflow are called whose names do not say it."""
_VALUES = {
    ("flow", "right"): "from left to right",
    ("flow", "down"): "from top to bottom",
    ("runs_on_disk", "true"): "yes",
    ("runs_on_disk", "false"): "no",
}


def field_name(field: str) -> str:
    """What a field is called."""
    return tr(FIELDS.get(field, field.replace("_", " ")))


def value_words(field: str, value: str) -> str:
    """A value of a field in words, where it has some."""
    return tr(_VALUES[field, value]) if (field, value) in _VALUES else value


def change_words(change: ItemChange) -> str:
    """What is behind the name of a change: its fields, or what happened."""
    if change.what == "changed" and change.item:
        return ", ".join(field_name(field.field) for field in change.fields)
    return tr(WORDS[change.what]).lower()


def change_name(change: ItemChange) -> str:
    """What a change is about: the name of an item, or "Workflow · most supersteps"."""
    if change.part == "workflow":
        return tr("Workflow · {field}").format(field=field_name(change.name))
    return change.name
