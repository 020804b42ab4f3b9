"""Finding texts in a document, and replacing them as one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from studio.document.edits import Edit
from studio.document.model import Workflow
from studio.document.patterns import SECONDS, PatternError, compiled
from studio.document.text_slots import SCOPES, Path, Scope, TextSlot, put_texts, text_slots

if TYPE_CHECKING:
    import regex

MOST = 10_000
"""No more hits than these are looked for."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. ``words``: only whole words; ``pattern``: ``text`` is a regular expression."""

    text: str
    case: bool = False
    words: bool = False
    pattern: bool = False
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def compiled(self) -> regex.Pattern[str]:
        """The pattern behind it. Raises :class:`~studio.document.patterns.PatternError`."""
        return _compiled(self.text, self.case, self.words, self.pattern)


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in one text, from ``start`` to ``end``."""

    slot: TextSlot
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line it begins in, from 1."""
        return self.slot.text.count("\n", 0, self.start) + 1

    def excerpt(self) -> tuple[str, int, int]:
        """Its line without the indent, and where in it the hit is."""
        text = self.slot.text
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.start)
        line = text[first : last if last >= 0 else len(text)]
        cut = len(line) - len(line.lstrip())
        begin = max(0, self.start - first - cut)
        return line.strip(), begin, max(begin, min(self.end - first - cut, len(line.strip())))


@lru_cache(maxsize=64)
def _compiled(text: str, case: bool, words: bool, pattern: bool) -> regex.Pattern[str]:
    import regex as module  # loads with the first search

    source = text if pattern else module.escape(text)
    if words:
        source = rf"(?<!\w)(?:{source})(?!\w)"
    return compiled(source, not case)


def find(workflow: Workflow, query: Query) -> Iterator[Hit]:
    """Every hit in reading order, at most :data:`MOST`; empty matches are none. Raises ``PatternError`` for a pattern
    that cannot be read, or one that takes too long on a text."""
    if not query.text:
        return
    wanted, count = query.compiled(), 0
    for slot in text_slots(workflow):
        if slot.scope in query.scopes and slot.text:
            for hit in _in_slot(wanted, slot):
                yield hit
                count += 1
                if count == MOST:
                    return


def _in_slot(wanted: regex.Pattern[str], slot: TextSlot) -> Iterator[Hit]:
    try:
        for match in wanted.finditer(slot.text, timeout=SECONDS * 4):
            if match.end() > match.start():
                yield Hit(slot, match.start(), match.end())
    except TimeoutError:
        raise PatternError("The pattern takes too long: make it simpler.") from None


def replaced(workflow: Workflow, query: Query, hits: Iterable[Hit], text: str) -> Edit | None:
    """The edit that puts ``text`` in place of these hits; with a pattern ``\\1`` stands for a group. None if nothing
    changes. Hits whose text is no longer what it was are left alone.

    Raises ``PatternError`` for a replacement that cannot be read, ``CannotHold`` where the result does not fit.
    """
    chosen: dict[Path, list[Hit]] = {}
    for hit in hits:
        chosen.setdefault(hit.slot.path, []).append(hit)
    now = {slot.path: slot.text for slot in text_slots(workflow) if slot.path in chosen}
    texts: dict[Path, str] = {}
    for path, found in chosen.items():
        if now.get(path) == found[0].slot.text:
            made = _with(found[0].slot.text, found, query, text)
            if made != now[path]:
                texts[path] = made
    return put_texts(workflow, texts) if texts else None


def _with(old: str, hits: list[Hit], query: Query, text: str) -> str:
    parts, at = [], 0
    for hit in sorted(hits, key=lambda h: h.start):
        parts += [old[at : hit.start], _instead(old, hit, query, text)]
        at = hit.end
    return "".join((*parts, old[at:]))


def _instead(old: str, hit: Hit, query: Query, text: str) -> str:
    if not query.pattern:
        return text
    match = query.compiled().match(old, hit.start)
    if match is None:
        return old[hit.start : hit.end]
    import regex as module

    try:
        return str(match.expand(text))
    except (IndexError, ValueError, module.error) as error:
        raise PatternError(f"The replacement cannot be read: {error}.") from None
