"""The descriptions of thousands of checkpoints at once, column by column: a row at a time takes twice as long."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import compress, repeat
from typing import Any

from studio.checkpoints.checkpoint import CheckpointInfo, CheckpointKind
from studio.checkpoints.keys import SHORT, SHORT_HEAD, id_of, parsed_head
from studio.checkpoints.quick import uncollected

KINDS: tuple[CheckpointKind, ...] = ("input", "superstep", "answers", "fork")
"""By the number that a head has."""

Row = tuple[int, int | str | None, bytes, bytes | str]
"""Entry, parent, head, rest of the id."""
Origin = tuple[str, str, str]
"""Run, workflow, signature."""
_info = partial(tuple.__new__, CheckpointInfo)


def described(rows: Sequence[Row], origins: Mapping[int, Origin]) -> list[CheckpointInfo]:
    """The rows in their order, without those of other origins."""
    with uncollected():
        return _described(rows, origins) if rows else []


def _described(rows: Sequence[Row], origins: Mapping[int, Origin]) -> list[CheckpointInfo]:
    entries, parents, heads, rests = zip(*rows, strict=True)
    numbers, kinds, origin, supersteps, sizes, created, names = _facts(heads)
    ids = _ids(numbers, rests)
    known = dict(zip(entries, ids, strict=True))
    above = [known.get(parent) if type(parent) is int else parent for parent in parents]
    there = set(origin)
    nobody: Origin = ("", "", "")
    found = [origins.get(number, nobody) for number in origin] if len(there) > 1 else None
    one = repeat(origins.get(next(iter(there)), nobody))
    runs, workflows, signatures = zip(*found, strict=True) if found else (repeat(part) for part in next(one))
    kinds = [KINDS[kind] for kind in kinds]
    columns = zip(ids, above, runs, workflows, signatures, kinds, supersteps, created, sizes, names, strict=False)
    infos: Iterable[tuple[Any, ...]] = columns
    if not there <= origins.keys():
        infos = compress(columns, [number in origins for number in origin])
    return list(map(_info, infos))


def _facts(heads: Sequence[bytes]) -> Iterable[Any]:
    """The columns of the heads; mostly all are short: no time of their own and no name."""
    if set(map(len, heads)) != {SHORT_HEAD}:
        return zip(*map(parsed_head, heads), strict=True)
    columns = list(zip(*SHORT.iter_unpack(b"".join(heads)), strict=True))
    return [*columns, [number / 1e9 for number in columns[0]], repeat("")]


def _ids(numbers: Sequence[int], rests: Sequence[bytes | str]) -> list[str]:
    """The ids; those of one process end alike."""
    if str in set(map(type, rests)):
        return list(map(id_of, numbers, rests))
    ends = {rest: rest.hex() for rest in set(rests) if isinstance(rest, bytes)}
    digits = struct.pack(f">{len(numbers)}q", *numbers).hex()
    return [digits[at : at + 16] + ends[rest] for at, rest in zip(range(0, len(digits), 16), rests, strict=True)]  # type: ignore[index]
