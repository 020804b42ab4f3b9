"""Ids of checkpoints as a file keeps them: a number to find them by, and the rest of the id."""

from __future__ import annotations

import struct
from hashlib import blake2b

_HEAD = struct.Struct("<qBHII")
_TIME = struct.Struct("<d")
_HAS_TIME = 0x80
HAS_REST = 0x40
_REST_BYTES = 2
SHORT = struct.Struct(f"<qBHII{_REST_BYTES}s")
"""The facts of a checkpoint without a name whose id is a number and tells its time; the last is the rest of the id."""
SHORT_HEAD = SHORT.size
KIND = 0x3F
"""What of the second field of a head is the kind."""

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


def head_of(
    number: int, kind: int, origin: int, superstep: int, size: int, created: float, name: str, rest: bytes | None = None
) -> bytes:
    """The facts of a checkpoint, packed. A time that the id tells already is left out. ``rest``: so that the id is
    known from the head alone."""
    if rest is not None and not name and created == number / 1e9:
        return SHORT.pack(number, kind | HAS_REST, origin, superstep, size, rest)
    tail = name.encode()
    if rest is not None:
        kind |= HAS_REST
        tail = rest + tail
    if created != number / 1e9:
        kind |= _HAS_TIME
        tail = _TIME.pack(created) + tail
    return _HEAD.pack(number, kind, origin, superstep, size) + tail


def rest_of(head: bytes) -> bytes | None:
    """The rest of the id, if the head has it."""
    kind = head[8]
    if not kind & HAS_REST:
        return None
    at = _HEAD.size + (_TIME.size if kind & _HAS_TIME else 0)
    return head[at : at + _REST_BYTES]


def parsed_head(head: bytes) -> Head:
    """The facts again."""
    number, kind, origin, superstep, size = _HEAD.unpack_from(head)
    end = _HEAD.size
    created = number / 1e9
    if kind & _HAS_TIME:
        (created,) = _TIME.unpack_from(head, end)
        end += _TIME.size
    if kind & HAS_REST:
        end += _REST_BYTES
    return number, kind & KIND, origin, superstep, size, created, head[end:].decode() if len(head) > end else ""
