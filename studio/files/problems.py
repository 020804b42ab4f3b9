"""What can be wrong with a file, for the person who chose it."""

from __future__ import annotations


class FileProblem(Exception):
    """A file that cannot be read or written.

    ``message`` is a whole sentence, ``way_out`` another one that says what to do, ``place`` "line 3, column 5" or "".
    ``line`` and ``column`` count from 1; None if the problem is not in the text.
    """

    def __init__(self, message: str, way_out: str = "", line: int | None = None, column: int | None = None) -> None:
        self.message = message
        self.way_out = way_out
        self.line = line
        self.column = column
        super().__init__(" ".join(part for part in (message, self.place and f"({self.place})", way_out) if part))

    @property
    def place(self) -> str:
        """Where in the text, in words."""
        return "" if self.line is None else f"line {self.line}, column {self.column or 1}"
