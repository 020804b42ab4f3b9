"""A figure as one JSON line: what the product needs beside what a floor or peer of the same run needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Figure:
    """``product`` and ``peer`` are in ``unit``; less is better. ``goal`` is a limit for ``product`` in the same unit.

    ``peer`` is None where nothing comparable exists or the peer is missing; ``more`` then says why.
    """

    name: str
    product: float
    peer: float | None
    unit: str = "ms"
    goal: float | None = None
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Product to peer."""
        return self.product / self.peer if self.peer else None

    def line(self) -> str:
        """The figure as it is printed."""
        values: dict[str, object] = {
            "name": self.name,
            "product": round(self.product, 3),
            "peer": None if self.peer is None else round(self.peer, 3),
            "ratio": None if self.ratio is None else round(self.ratio, 2),
            "unit": self.unit,
        }
        if self.goal is not None:
            values |= {"goal": self.goal, "met": self.product <= self.goal}
        return json.dumps(values | dict(self.more))


def percentile(values: Iterable[float], part: float) -> float:
    """The value that ``part`` (0 to 1) of the values do not exceed; 0 for none."""
    ordered: Sequence[float] = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0
