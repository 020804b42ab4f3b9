"""The user's prices: ``prices.toml``, kept as text here; what it means is said by ``studio.agents.prices``."""

from __future__ import annotations

from pathlib import Path

from studio.settings import keeping, places


def prices_file() -> Path:
    """Where the prices are."""
    return places.config_dir() / "prices.toml"


def stamp() -> tuple[int, int]:
    """Changes when the file does; zeros while there is none."""
    try:
        found = prices_file().stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def read_prices() -> tuple[str, str]:
    """The text of the file, empty without one, and a sentence if it cannot be read."""
    return keeping.read(prices_file(), str, "")


def write_prices(text: str) -> None:
    """Replaces the file. Raises ``OSError``."""
    keeping.write(prices_file(), text)
