"""The descriptions of thousands of checkpoints at once, column by column: a row at a time takes twice as long."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import compress, repeat
from typing import Any

from studio.checkpoints.checkpoint import CheckpointInfo, CheckpointKind
from studio.checkpoints.keys import HAS_REST, SHORT, SHORT_HEAD, id_of, parsed_head, rest_of
from studio.checkpoints.quick import uncollected

KINDS: tuple[CheckpointKind, ...] = ("input", "superstep", "answers", "fork")
"""By the number that a head has."""

_BY_NUMBER = {number | flag: kind for number, kind in enumerate(KINDS) for flag in (0, HAS_REST)}
"""With and without what a short head says besides."""

Row = tuple[int, int | str | None, bytes, bytes | str | None]
"""Entry, parent, head, rest of the id (None: the head has it)."""
Origin = tuple[str, str, str]
"""Run, workflow, signature."""
_info = partial(tuple.__new__, CheckpointInfo)


def described(rows: Sequence[Row], origins: Mapping[int, Origin]) -> list[CheckpointInfo]:
    """The rows in their order, without those of other origins."""
    with uncollected():
        return _described(rows, origins) if rows else []


def _described(rows: Sequence[Row], origins: Mapping[int, Origin]) -> list[CheckpointInfo]:
    entries, parents, heads, rests = zip(*rows, strict=True)
    numbers, kinds, origin, supersteps, sizes, created, names, rests = _facts(heads, rests)
    ids = _ids(numbers, rests)
    known = dict(zip(entries, ids, strict=True))
    above: list[Any] = list(map(known.get, parents, parents))
    if int in set(map(type, above)):
        above = [None if type(parent) is int else parent for parent in above]
    there = set(origin)
    nobody: Origin = ("", "", "")
    found = [origins.get(number, nobody) for number in origin] if len(there) > 1 else None
    one = repeat(origins.get(next(iter(there)), nobody))
    runs, workflows, signatures = zip(*found, strict=True) if found else (repeat(part) for part in next(one))
    kinds = map(_BY_NUMBER.__getitem__, kinds)
    columns = zip(ids, above, runs, workflows, signatures, kinds, supersteps, created, sizes, names, strict=False)
    infos: Iterable[tuple[Any, ...]] = columns
    if not there <= origins.keys():
        infos = compress(columns, [number in origins for number in origin])
    return list(map(_info, infos))


def _facts(heads: Sequence[bytes], rests: Sequence[bytes | str | None]) -> Iterable[Any]:
    """The columns of the heads; mostly all are short: the id is known from them, no time of their own, no name."""
    if set(map(len, heads)) == {SHORT_HEAD}:
        columns = list(zip(*SHORT.iter_unpack(b"".join(heads)), strict=True))
        if min(columns[1]) >= HAS_REST:  # an old head with a name of two letters is as long
            return [*columns[:5], [number / 1e9 for number in columns[0]], repeat(""), columns[5]]
    found = [rest_of(head) if rest is None else rest for head, rest in zip(heads, rests, strict=True)]
    return [*zip(*map(parsed_head, heads), strict=True), found]


def _ids(numbers: Sequence[int], rests: Sequence[bytes | str]) -> list[str]:
    """The ids; those of one process end alike."""
    if str in set(map(type, rests)):
        return list(map(id_of, numbers, rests))
    ends = {rest: rest.hex() for rest in set(rests) if isinstance(rest, bytes)}
    digits = struct.pack(f">{len(numbers)}q", *numbers).hex()
    return [digits[at : at + 16] + ends[rest] for at, rest in zip(range(0, len(digits), 16), rests, strict=True)]  # type: ignore[index]
