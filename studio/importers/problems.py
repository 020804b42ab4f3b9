"""What stops an import."""

from __future__ import annotations

from typing import Any


class ImportProblem(Exception):
    """A source that cannot be read at all.

    ``message`` is a whole sentence, ``way_out`` another one that says what to do. ``line`` and ``column`` count from 1;
    None where the problem has no place in the text.
    """

    def __init__(self, message: str, way_out: str = "", line: int | None = None, column: int | None = None) -> None:
        self.message = message
        self.way_out = way_out
        self.line = line
        self.column = column
        self.choices: tuple[str, ...] = ()
        """What to try instead: functions of a program that was run."""
        self.may_run = False
        """Whether running the program may find what reading it does not."""
        super().__init__(" ".join(part for part in (message, self.place and f"({self.place})", way_out) if part))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__  # as it is, between processes

    @property
    def place(self) -> str:
        """Where in the text, in words."""
        return "" if self.line is None else f"line {self.line}, column {self.column or 1}"


MAX_BYTES = 5_000_000
MAX_DEPTH = 100
MAX_ITEMS = 5_000
MAX_ALIASES = 1_000
"""Alias expansions of a YAML file."""

WRONG_FILE = "Choose the file that the other program exported."


def too_deep(line: int | None = None) -> ImportProblem:
    """Nesting that no real workflow has."""
    return ImportProblem(f"The file is nested more than {MAX_DEPTH} levels deep.", WRONG_FILE, line)


def too_many(found: int) -> ImportProblem:
    """More steps than are taken over."""
    message = f"The file has {found} steps; at most {MAX_ITEMS} are imported."
    return ImportProblem(message, "Split the workflow in the program it comes from.")
