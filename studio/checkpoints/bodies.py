"""The body of a checkpoint in a file: what waits, and what changed in state and nodes since another checkpoint."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from studio.checkpoints.checkpoint import Checkpoint, Frozen, PendingRequest, QueuedMessage
from studio.checkpoints.database import Database
from studio.checkpoints.packing import Packed, Packer, dumps

_DEPTH = 128
"""So many checkpoints in a row say only what changed; then one says everything."""
_KEPT_BASES = 64
_LONG = 150
"""Characters from which a body is deflated."""
_WORDS = (
    b'"~a","response","send","input","answer","request","output"],"executors":"state":{"memory":[],"calls":"history"'
    b'{"answers":{"open":{"order":[{"state":{}}}},"b":"cache":[{"full_conversation":{"@":"session":{"id":{"#":1},'
    b'"messages":{"@":1},"state":{}}}},"x":{"m":[["m1.","a1",null,["~r",{"@":1},"a",["~y",[{"#":1}]]],0,"i1.'
    b'"s":{"f":{"r":[["state":{"tool_batch":[{"kind":"ask","id":"approval_"open":{"answers":{"order":["~t",["cache":'
    b'["~t",{"@":"usage"],"stop"],["~usage","tool_calls"]]],1,null,"response"]]}'
    b'{"x":{"a":{"full_conversation":["~t",{"@":1}],"session":{"id":{"#":1},"messages":{"@":1},"state":{}}}},"b":1,'
    b'"m":[[1,"a",["~r",{"@":1},"a",["~y",[{"#":1}]]],1,null,"response"]]}'
)
"""What bodies are made of, the commonest last: deflated against this, a small record stays small. Another text here is
another :data:`studio.checkpoints.database.VERSION`."""
_MISSING = object()

State = dict[str, tuple[Any, Packed]]
"""By key: the value and what it became."""


@dataclass(slots=True)
class Base:
    """What is known of a saved checkpoint, so that the next one says only what is different."""

    number: int
    depth: int
    executors: State
    state: State


class Bodies:
    """Writes and reads bodies."""

    def __init__(self, database: Database, packer: Packer, hide: Callable[[str], str]) -> None:
        self._database = database
        self._packer = packer
        self._hide = hide
        self._bases: dict[str, Base] = {}
        self._prefix = ""

    def forget(self) -> None:
        """Numbers of checkpoints are no longer valid."""
        self._bases.clear()

    def keep(self, id: str, number: int, base: Base) -> None:
        """The checkpoint of this base is written."""
        base.number = number
        self._bases[id] = base
        if len(self._bases) > _KEPT_BASES:
            del self._bases[next(iter(self._bases))]

    # ------------------------------------------------------------------------------------------------- writing

    def write(self, c: Checkpoint) -> tuple[str | bytes, Base]:
        """The body, and what will be known of it. Nodes come first: their lists then hold what messages refer to."""
        self._packer.lighten()
        base = self._bases.get(c.parent) if c.parent is not None else None
        if base is not None and base.depth >= _DEPTH:
            base = None
        body: dict[str, Packed] = {}
        self._prefix = f"{c.superstep}."
        executors = self._changed("x", c.executors, base.executors if base else None, body)
        state = self._changed("s", c.state, base.state if base else None, body)
        if base is not None and (base.executors or base.state):
            body["b"] = base.number
        if c.messages:
            body["m"] = self._messages(c.messages)
        if c.requests:
            body["r"] = self._requests(c.requests)
        if c.fan_in:
            body["f"] = {key: self._messages(buffer) for key, buffer in c.fan_in.items()}
        depth = base.depth + 1 if "b" in body and base is not None else 0
        return written(body, self._hide), Base(0, depth, executors, state)

    def _changed(self, part: str, values: Mapping[str, Any], base: State | None, body: dict[str, Packed]) -> State:
        """Puts into ``body`` what is different from ``base``; gives everything."""
        if not values and not base:
            return {}
        pack = self._packer.pack
        trusted = type(values) is Frozen
        now: State = {}
        changed: dict[str, Packed] = {}
        for key, value in values.items():
            before = base.get(key) if base else None
            if before is not None and before[0] is value and (trusted or type(value) is Frozen):
                now[key] = before
                continue
            packed = pack(value if isinstance(value, dict) or not isinstance(value, Mapping) else dict(value))
            now[key] = (value, packed)
            if before is None or before[1] != packed or dumps(before[1]) != dumps(packed):
                changed[key] = packed
        if changed:
            body[part] = changed
        if base:
            gone = [key for key in base if key not in now]
            if gone:
                body[f"-{part}"] = gone
        return now

    def _messages(self, messages: Iterable[QueuedMessage]) -> list[Packed]:
        pack = self._packer.pack
        packed = []
        for m in messages:
            row = [self._short_id(m.id, "m"), m.source, pack(m.data), self._short_id(m.invocation, "i")]
            response = m.kind == "response"
            if m.target is not None or m.purpose != "send" or response or m.request is not None:
                row += [m.target, m.purpose]
            if response or m.request is not None:
                row += [response, None if m.request is None else self._requests((m.request,))[0]]
            packed.append(row)
        return packed

    def _short_id(self, id: str | None, kind: str) -> str | int | None:
        """Ids of messages and invocations end with a number and have the superstep in front."""
        if id is not None and id.startswith(self._prefix, 1) and id[0] == kind:
            digits = id[len(self._prefix) + 1 :]
            if digits.isdecimal() and digits.isascii() and (digits[0] != "0" or digits == "0"):
                return int(digits)
        return id

    def _long_id(self, short: str | int | None, kind: str) -> str | None:
        return f"{kind}{self._prefix}{short}" if isinstance(short, int) else short

    def _requests(self, requests: Iterable[PendingRequest]) -> list[Packed]:
        return [[r.id, r.node, self._packer.pack(r.data), r.response_type] for r in requests]

    # ------------------------------------------------------------------------------------------------- reading

    def read(self, stored: str | bytes, number: int, id: str, superstep: int) -> dict[str, Any]:
        """The fields of the checkpoint. Remembers it as a base."""
        self._packer.lighten()
        self._prefix = f"{superstep}."
        body = parsed(stored)
        unpack = self._packer.unpack
        packed, depth = self.merged(body)
        parts = {
            part: {key: unpack(value) for key, value in packed[letter].items()}
            for part, letter in (("executors", "x"), ("state", "s"))
        }
        fan_in = {key: tuple(self._as_messages(rows)) for key, rows in body.get("f", {}).items()}
        known = [{key: (_MISSING, value) for key, value in packed[letter].items()} for letter in ("x", "s")]
        self.keep(id, number, Base(number, depth, known[0], known[1]))
        return {
            "messages": tuple(self._as_messages(body.get("m", ()))),
            "requests": tuple(self._as_requests(body.get("r", ()))),
            "fan_in": fan_in,
            **parts,
        }

    def merged(self, body: Mapping[str, Packed]) -> tuple[dict[str, dict[str, Packed]], int]:
        """Nodes and state with everything from the checkpoints before, and how many these are."""
        whole: dict[str, dict[str, Packed]] = {"x": {}, "s": {}}
        depth = 0
        while True:
            for part, values in whole.items():
                for key in body.get(f"-{part}", ()):
                    values.setdefault(key, _MISSING)
                for key, packed in body.get(part, {}).items():
                    values.setdefault(key, packed)
            base = body.get("b")
            if base is None:
                break
            depth += 1
            body = parsed(self._body_of(base))
        return {
            part: {key: packed for key, packed in values.items() if packed is not _MISSING}
            for part, values in whole.items()
        }, depth

    def _body_of(self, number: int) -> str | bytes:
        row = self._database.execute("SELECT body FROM entry WHERE id=?", (number,)).fetchone()
        if row is None:
            raise LookupError(number)
        stored: str | bytes = row[0]
        return stored

    def _as_messages(self, rows: Iterable[list[Packed]]) -> Iterable[QueuedMessage]:
        unpack = self._packer.unpack
        for id, source, data, invocation, *rest in rows:
            target, purpose = rest[:2] if rest else (None, "send")
            response, request = rest[2:] if len(rest) > 2 else (False, None)
            yield QueuedMessage(
                self._long_id(id, "m") or "", source, target, unpack(data), "response" if response else "standard",
                self._long_id(invocation, "i"), purpose,
                None if request is None else next(iter(self._as_requests([request]))),
            )  # fmt: skip

    def _as_requests(self, rows: Iterable[list[Packed]]) -> Iterable[PendingRequest]:
        for id, node, data, response_type in rows:
            yield PendingRequest(id, node, self._packer.unpack(data), response_type)


def parsed(stored: str | bytes) -> dict[str, Packed]:
    """The JSON of a body."""
    if type(stored) is bytes:
        stored = zlib.decompressobj(-15, zdict=_WORDS).decompress(stored).decode()
    body: dict[str, Packed] | list[Packed] = json.loads(stored)
    return {"m": body} if isinstance(body, list) else body


def written(body: Mapping[str, Packed], hide: Callable[[str], str] = str) -> str | bytes:
    """A body as the file has it, without what ``hide`` takes out; often there is nothing but messages."""
    return _deflated(hide(dumps(body["m"] if len(body) == 1 and "m" in body else body)))


def _deflated(text: str) -> str | bytes:
    if len(text) < _LONG:
        return text
    work = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_DEFAULT_STRATEGY, _WORDS)
    return work.compress(text.encode()) + work.flush()
