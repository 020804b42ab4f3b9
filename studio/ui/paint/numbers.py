"""Numbers as people read them, the same everywhere: thin spaces, k from a thousand tokens, one decimal."""

from __future__ import annotations

_THIN = "\u2009"


def count_text(number: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{number:,}".replace(",", _THIN)


def tokens_text(number: int) -> str:
    """``486``, ``3.2 k``, ``1.4 M``."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f} k"
    return f"{number / 1_000_000:.1f} M"


def seconds_text(seconds: float) -> str:
    """``8.1 s``, ``2 min 5 s``; a hundredth only below a tenth of a second."""
    if seconds < 0.1:
        return f"{seconds:.2f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def money_text(dollars: float) -> str:
    """Dollars with three decimals."""
    return f"${dollars:.3f}"


def size_text(size: int) -> str:
    """Bytes: ``58 kB``, ``1.4 MB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
