"""Exit codes, the same for every sub-command."""

from __future__ import annotations

from typing import NoReturn

DONE = 0
FAILED = 1
USAGE = 2
"""Wrong usage, or a document that is invalid or not trusted."""
WAITING = 3
"""The run waits for answers."""
LOSSES = 4
"""Imported, but not all of it."""
INTERRUPTED = 130


class Stop(Exception):
    """Ends a sub-command with a code, after a sentence on stderr."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def usage(sentence: str) -> NoReturn:
    """Ends the sub-command: what was asked for cannot be done."""
    raise Stop(USAGE, sentence)
