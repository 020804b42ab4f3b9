"""Ids of checkpoints as a file keeps them: a number to find them by, and the rest of the id."""

from __future__ import annotations

import struct
from hashlib import blake2b

_HEAD = struct.Struct("<qBHII")
SHORT = _HEAD
"""The facts of a checkpoint that has no name and whose id tells its time."""
SHORT_HEAD = _HEAD.size
_TIME = struct.Struct("<d")
_HAS_TIME = 0x80

Head = tuple[int, int, int, int, int, float, str]
"""Number of the id, kind, origin, superstep, bytes, time, name."""


def key_of(id: str) -> tuple[int, bytes | str]:
    """The number and the rest. The ids that the engine makes are numbers that grow, which keeps the table small."""
    if len(id) == 20 and id[0] < "8" and id.isascii() and id.isalnum() and id.lower() == id:
        try:
            return int(id[:16], 16), bytes.fromhex(id[16:])
        except ValueError:
            pass
    return int.from_bytes(blake2b(id.encode(), digest_size=7).digest(), "big"), id


def id_of(number: int, rest: bytes | str) -> str:
    """The id again."""
    return rest if isinstance(rest, str) else f"{number:016x}{rest.hex()}"


def head_of(number: int, kind: int, origin: int, superstep: int, size: int, created: float, name: str) -> bytes:
    """The facts of a checkpoint, packed. A time that the id tells already is left out."""
    if created == number / 1e9:
        head = _HEAD.pack(number, kind, origin, superstep, size)
    else:
        head = _HEAD.pack(number, kind | _HAS_TIME, origin, superstep, size) + _TIME.pack(created)
    return head + name.encode() if name else head


def parsed_head(head: bytes) -> Head:
    """The facts again."""
    number, kind, origin, superstep, size = _HEAD.unpack_from(head)
    end = _HEAD.size
    if kind & _HAS_TIME:
        (created,) = _TIME.unpack_from(head, end)
        kind ^= _HAS_TIME
        end += _TIME.size
    else:
        created = number / 1e9
    return number, kind, origin, superstep, size, created, head[end:].decode() if len(head) > end else ""
