"""Finding an entry by a few typed letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_BETWEEN = str.maketrans(dict.fromkeys(":›>/", " "))
"""What people put between a menu and its entry: "theme: dark", "theme > dark"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the palette. ``group`` is shown in front, ``note`` at the end (a key, or where it is); ``reason`` says
    why it does not apply, empty if it does."""

    text: str
    run: Callable[[], None]
    group: str = ""
    note: str = ""
    icon: str = ""
    kind: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry and which letters of its text were typed."""

    entry: Entry
    marks: tuple[int, ...] = ()


def ranked(entries: Sequence[Entry], typed: str) -> list[Found]:
    """The entries that have the typed letters in order, best first. Starts of words count most, then runs of letters;
    entries that do not apply come last. Nothing typed: all, in their order."""
    words = typed.casefold().translate(_BETWEEN).split()
    found: list[tuple[tuple[bool, int, int], Found]] = []
    for order, entry in enumerate(entries):
        marks = _marks(entry.text, words) if words else ()
        if marks is None:
            marks = () if _marks(f"{entry.group} {entry.text}", words) is not None else None
        if marks is not None:
            found.append(((bool(entry.reason), -_score(entry.text, marks), order), Found(entry, marks)))
    return [hit for _, hit in sorted(found, key=lambda pair: pair[0])]


def _marks(text: str, words: Sequence[str]) -> tuple[int, ...] | None:
    """Where the words' letters are; None if one is missing. A word is looked for at starts of words first."""
    low = text.casefold()
    if len(low) != len(text):  # some letters fold to two; then places would be wrong
        low = text.lower() if len(text.lower()) == len(text) else text
    marks: list[int] = []
    for word in words:
        at = next((i for i in range(len(low)) if low.startswith(word, i) and _starts_word(low, i)), low.find(word))
        if at >= 0:
            marks += range(at, at + len(word))
            continue
        letters = _scattered(low, word)
        if letters is None:
            return None
        marks += letters
    return tuple(sorted(set(marks)))


def _scattered(text: str, word: str) -> list[int] | None:
    places: list[int] = []
    at = -1
    for letter in word:
        starts = (i for i in range(at + 1, len(text)) if text[i] == letter and _starts_word(text, i))
        at = next(starts, -1) if not places else text.find(letter, at + 1)
        if at < 0:
            at = text.find(letter)
        if at < 0 or (places and at <= places[-1]):
            return None
        places.append(at)
    return places


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()


def _score(text: str, marks: Sequence[int]) -> int:
    score = 0
    for i, mark in enumerate(marks):
        score += 8 if _starts_word(text, mark) else 1
        score += 8 if i and marks[i - 1] == mark - 1 else 0
    return score * 4 - len(text) // 8 if marks else 0
