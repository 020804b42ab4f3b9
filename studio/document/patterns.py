"""Regular expressions that cannot hang: bounded pattern, bounded text, bounded time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MAX_PATTERN = 1_000
MAX_TEXT = 100_000
"""Only this many characters of a text are searched."""
SECONDS = 0.05
"""A search that takes longer has not matched."""


class PatternError(ValueError):
    """The pattern cannot be read; the message is a sentence."""


@lru_cache(maxsize=256)
def compiled(pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
    """The pattern. Raises :class:`PatternError`."""
    import regex  # 60 ms that a start without a pattern need not pay

    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"The pattern is longer than {MAX_PATTERN} characters.")
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise PatternError(f"The pattern cannot be read: {error}.") from None


def search(pattern: str, text: str, ignore_case: bool = False) -> bool:
    """Whether the pattern is found anywhere. False if it cannot be read or takes too long."""
    try:
        return compiled(pattern, ignore_case).search(text[:MAX_TEXT], timeout=SECONDS) is not None
    except (PatternError, TimeoutError):
        return False
