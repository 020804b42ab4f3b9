"""Values as small JSON that refers to entries of an append-only log.

An entry is a text, an object, a container, or one item of a list. ``{"#": id}`` stands for the value of an entry,
``{"@": id}`` for the list that ends with it: each item knows the entry before it, so a list that grew by one item
costs one entry, and lists with the same beginning share it. That is why a conversation of n turns costs O(n) bytes
however often it is saved.

Objects are JSON lists that begin with ``"~"`` and a tag; what follows are the fields in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice, repeat
from operator import is_
from typing import Any, Protocol

from studio.checkpoints.quick import uncollected
from studio.checkpoints.store import Codec

SHORT = 28
"""Characters up to which a text stays where it is."""
SMALL = 100
"""Characters of JSON up to which a container stays where it is."""
FEW = 4
"""Items up to which a list is no log."""
LARGE = 64_000
"""Characters of a text from which it is not written on the loop."""
_KEPT = 50_000
_KEPT_LISTS = 256
HELD = 64_000_000
"""Characters of objects that are remembered: they are kept alive by that."""
_FIRM = frozenset({str, int, float, bool, bytes, type(None)})
_EXACT = frozenset({str, bytes, type(None)})
"""Equal values of these types are the same in every respect (1 and True are not)."""
_MARKS = frozenset({"#", "@"})

_SEPARATOR = "\x1f"
_PLAIN = frozenset({"~u", "~a"})
"""Tags of objects that are nothing but texts; the codec's makers of these take texts only."""

Packed = Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class TooLarge(Exception):
    """A value over :data:`LARGE` was met where it must not be written."""


class Entries(Protocol):
    """Where entries are kept; ids are positive and grow."""

    def add(self, parent: int | None, body: str | int) -> int:
        """A new entry. ``parent``: None for a value, 0 or the entry before for an item of a list. ``body``: JSON, or
        the id of the entry with the same value."""

    def body(self, entry: int) -> str:
        """The JSON of an entry."""

    def items(self, entry: int) -> tuple[list[int], list[str]]:
        """Ids of the values and their JSON of the list that ends with this entry, in order."""


def dumps(packed: Packed) -> str:
    """JSON without spaces; texts that are no valid Unicode are escaped."""
    text = _encode(packed)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(packed, separators=(",", ":"))
    return text


class Packer:
    """Packs and unpacks. Remembers objects by identity, so that what is known is neither encoded nor written again."""

    def __init__(self, entries: Entries, codec: Codec) -> None:
        self._entries = entries
        self._codec = codec
        self._hide = codec.hide
        self.large_allowed = False
        self._objects: dict[int, tuple[object, Packed, bool]] = {}
        """By identity: the object (so that the id stays taken), what it became or its entry, whether equal means the
        same."""
        self._lists: dict[tuple[int, int], tuple[tuple[Any, ...], int, bool]] = {}
        """By length and identity of the last item: the items, the last entry, and whether all are exact."""
        self._known: dict[bytes, int] = {}
        self._links: dict[tuple[int, int], int] = {}
        self._loaded: dict[int, Any] = {}
        self._held = 0

    def lighten(self) -> None:
        """Lets go of the objects if they take much; what is written of them stays known. Not while something is packed:
        what follows would be looked through again."""
        if self._held > HELD:
            for memory in (self._objects, self._lists, self._loaded):
                memory.clear()
            self._held = 0

    def forget(self) -> None:
        """Ids are no longer valid: a transaction was rolled back, or somebody removed entries."""
        for memory in (self._objects, self._lists, self._known, self._links, self._loaded):
            memory.clear()
        self._held = 0

    # ------------------------------------------------------------------------------------------------ packing

    def pack(self, value: Any) -> Packed:
        """``value`` as small JSON. Raises :class:`~studio.checkpoints.store.UnknownType`."""
        kind = type(value)
        if kind is str:
            return value if len(value) <= SHORT else {"#": self._text(value)}
        if value is None or kind in (bool, int, float):
            return value
        if kind is list:
            return self._list(value)
        if isinstance(value, dict):
            return self._dict(value)
        if kind is tuple:
            return ["~t", self._list(value)]
        return self._object(value)

    def inline(self, value: object) -> list[Packed]:
        """An object that is new in every checkpoint: in place, only what it holds is shared."""
        return self._opened(*self._codec.flat(value))

    def _text(self, value: str) -> int:
        if len(value) > LARGE and not self.large_allowed:
            raise TooLarge
        return self._content(dumps(value))

    def _content(self, body: str) -> int:
        """The entry of this JSON; a new one if nobody remembers it."""
        if len(body) > LARGE and not self.large_allowed:
            raise TooLarge
        body = self._hide(body)
        digest = blake2b(body.encode(), digest_size=16).digest()
        entry = self._known.get(digest)
        if entry is None:
            entry = self._known[digest] = self._entries.add(None, body)
            _bounded(self._known)
        return entry

    def _dict(self, value: Mapping[Any, Any]) -> Packed:
        if any(type(key) is not str for key in value) or not _MARKS.isdisjoint(value):
            return ["~d", [[self.pack(k), self.pack(v)] for k, v in value.items()]]
        return self._shrunk({key: self.pack(item) for key, item in value.items()})

    def _shrunk(self, packed: Packed) -> Packed:
        """A container that would be long becomes an entry, so that it is stored once while it does not change."""
        if len(packed) <= FEW and all(type(i) in _FIRM and (type(i) is not str or len(i) < 12) for i in _items(packed)):
            return packed
        text = dumps(packed)
        return packed if len(text) <= SMALL else {"#": self._content(text)}

    def _object(self, value: object) -> Packed:
        known = self._objects.get(id(value))
        if known is not None:
            return {"#": known[1]} if type(known[1]) is int else known[1]
        tag, fields = self._codec.flat(value)
        packed: Packed = self._opened(tag, fields)
        if not self._small(packed):
            body = _body(packed)
            if len(body) > SHORT * 2:
                packed = {"#": self._content(body)}
                self._held += len(body)
        firm, exact = self._firm(fields)
        if firm:
            self._keep(value, packed, exact)
        return packed

    @staticmethod
    def _small(packed: list[Packed]) -> bool:
        """Whether the object is hardly longer than a reference to it."""
        return len(packed) <= FEW and all(
            type(item) in _FIRM and not (type(item) is str and len(item) > SHORT) for item in packed
        )

    def _opened(self, tag: str, fields: Sequence[Any]) -> list[Packed]:
        """Tag and fields; texts of an object stay in it, lists of an object are logs if they are long."""
        packed: list[Packed] = [f"~{tag}"]
        for item in fields:
            kind = type(item)
            if kind is str:
                if len(item) > LARGE and not self.large_allowed:
                    raise TooLarge
                packed.append(item)
            elif item is None or kind is bool or kind is int:
                packed.append(item)
            elif kind is tuple:
                packed.append({"@": self._log(item)} if len(item) > FEW else _escaped([self.pack(i) for i in item]))
            else:
                packed.append(self.pack(item))
        return packed

    def _firm(self, values: Iterable[Any]) -> tuple[bool, bool]:
        """Whether nothing in there can change (only such objects are remembered or shared), and whether it is exact."""
        exact = True
        for value in values:
            kind = type(value)
            if kind in _FIRM:
                exact = exact and kind in _EXACT
            elif kind is tuple:
                firm, same = self._firm(value) if len(value) <= FEW else (self._is_log(value), False)
                if not firm:
                    return False, False
                exact = exact and same
            else:
                known = self._objects.get(id(value))
                if known is None:
                    return False, False
                exact = exact and known[2]
        return True, exact

    def _is_log(self, values: tuple[Any, ...]) -> bool:
        """A long tuple that was just written as a log of remembered objects."""
        known = self._lists.get((len(values), id(values[-1])))
        return known is not None and known[0] is values and known[2]

    def _keep(self, value: object, packed: Packed, exact: bool) -> None:
        self._objects[id(value)] = (value, packed, exact)
        _bounded(self._objects)

    # -------------------------------------------------------------------------------------------------- lists

    def _list(self, values: Sequence[Any]) -> Packed:
        if len(values) > FEW:
            return {"@": self._log(values)}
        return self._shrunk(_escaped([self.pack(item) for item in values]))

    def _log(self, values: Sequence[Any]) -> int:
        """The entry of the last item; only items that are new after a known beginning are written."""
        done, entry, exact = self._beginning(values)
        count = len(values)
        if done == count:
            return entry
        for item in islice(values, done, None):
            entry, same = self._item(entry, item)
            exact = exact and same
        key = (count, id(values[-1]))
        self._lists.pop(key, None)
        self._lists[key] = (values if type(values) is tuple else tuple(values), entry, exact)
        _bounded(self._lists, _KEPT_LISTS)
        return entry

    def _beginning(self, values: Sequence[Any]) -> tuple[int, int, bool]:
        """How many items are known as a list already, and its last entry. Looks for lists a few items shorter."""
        for length in range(len(values), max(len(values) - 8, 0), -1):
            known = self._lists.get((length, id(values[length - 1])))
            if known is not None:
                items, entry, exact = known
                if items is values or (_equal(items, values) if exact else all(map(is_, items, values))):
                    return length, entry, exact
        return 0, 0, True

    def _item(self, before: int, value: Any) -> tuple[int, bool]:
        """The entry of one more item, and whether the item is exact."""
        kind = type(value)
        known = self._objects.get(id(value)) if kind not in _FIRM else None
        if known is None and kind not in _FIRM and not isinstance(value, list | tuple | dict):
            tag, fields = self._codec.flat(value)
            packed: Packed = self._opened(tag, fields)
            firm, exact = self._firm(fields)
            return self._add_item(before, packed, value if firm and not self._small(packed) else None, exact)
        packed = self.pack(value)
        exact = kind in _EXACT if known is None else known[2]
        if type(packed) is dict and len(packed) == 1 and "#" in packed:
            return self._link(before, packed["#"]), exact
        return self._add_item(before, packed, None, exact)

    def _add_item(self, before: int, packed: Packed, remembered: object, exact: bool) -> tuple[int, bool]:
        """An item with its own JSON. Equal JSON that is known makes a link to it."""
        body = self._hide(_body(packed))
        digest = blake2b(body.encode(), digest_size=16).digest()
        content = self._known.get(digest)
        if content is None:
            entry = content = self._known[digest] = self._entries.add(before, body)
            self._links[before, content] = entry
            _bounded(self._known)
            _bounded(self._links)
        else:
            entry = self._link(before, content)
        if remembered is not None:
            self._keep(remembered, {"#": content}, exact)
            self._held += len(body)
        return entry, exact

    def _link(self, before: int, content: int) -> int:
        entry = self._links.get((before, content))
        if entry is None:
            entry = self._links[before, content] = self._entries.add(before, content)
            _bounded(self._links)
        return entry

    # ---------------------------------------------------------------------------------------------- unpacking

    def unpack(self, packed: Packed) -> Any:
        """The value again, with containers of its own; objects that cannot change may be shared."""
        kind = type(packed)
        if kind is list:
            if packed and type(packed[0]) is str and packed[0][:1] == "~":
                return self._made(packed)
            return [self.unpack(item) for item in packed]
        if kind is not dict:
            return packed
        if len(packed) == 1:
            if "#" in packed:
                return self._value(packed["#"])
            if "@" in packed:
                return self._unlog(packed["@"])
        return {key: self.unpack(item) for key, item in packed.items()}

    def _made(self, packed: list[Packed]) -> Any:
        tag = packed[0][1:]
        if tag == "":
            return [self.unpack(item) for item in packed[1:]]
        if tag == "t":
            return tuple(self.unpack(packed[1]))
        if tag == "d":
            return {self.unpack(key): self.unpack(item) for key, item in packed[1]}
        make, plain = self._codec.maker(tag)
        fields = packed[1:] if plain else [self.unpack(item) for item in packed[1:]]
        return make(*fields)

    def _value(self, entry: int) -> Any:
        loaded = self._loaded.get(entry)
        if loaded is not None:
            return loaded
        body = self._entries.body(entry)
        packed = _parsed(body)
        value = self.unpack(packed)
        self._held += len(body)
        self._share(entry, packed, value)
        return value

    def _share(self, entry: int, packed: Packed, value: Any) -> None:
        """An object that cannot change is the same for everyone who loads it, and known when it is saved again."""
        if type(packed) is not list or type(value) in (list, dict, tuple):
            return
        firm, exact = self._firm(self._codec.flat(value)[1])
        if firm:
            self._loaded[entry] = value
            _bounded(self._loaded)
            self._keep(value, {"#": entry}, exact)

    def _unlog(self, last: int) -> list[Any]:
        """The list that ends with this entry."""
        with uncollected():
            ids, bodies = self._entries.items(last)
            self._held += sum(map(len, bodies))
            plain = all(body[0] == "~" for body in bodies) and self._loaded.keys().isdisjoint(ids)
            values, all_exact = (self._said(ids, bodies), True) if plain else self._mixed(ids, bodies)
        _bounded(self._loaded)
        _bounded(self._objects)
        if len(values) > FEW:
            self._lists[len(values), id(values[-1])] = (tuple(values), last, all_exact)
            _bounded(self._lists, _KEPT_LISTS)
        return values

    def _said(self, ids: Sequence[int], bodies: Iterable[str]) -> list[Any]:
        """Objects of texts, none of them known: the bulk of a long conversation, in as few steps as possible."""
        makers = {tag: self._codec.maker(tag[1:])[0] for tag in _PLAIN}
        values: list[Any] = []
        append = values.append
        for body in bodies:
            parts = body.split(_SEPARATOR)
            if len(parts) == 2:
                append(makers[parts[0]](parts[1]))
            else:
                append(makers[parts[0]](*parts[1:]))
        self._loaded.update(zip(ids, values, strict=True))
        self._objects.update(zip(map(id, values), zip(values, ids, repeat(True)), strict=True))
        return values

    def _mixed(self, ids: Sequence[int], bodies: Iterable[str]) -> tuple[list[Any], bool]:
        """Any values, and whether all are exact."""
        values: list[Any] = []
        exact = True
        for entry, body in zip(ids, bodies, strict=True):
            value = self._loaded.get(entry)
            if value is None:
                packed = _parsed(body)
                if body[0] == "~":
                    value = self._codec.maker(packed[0][1:])[0](*packed[1:])  # nothing inside that can change
                    self._loaded[entry] = value
                    self._objects[id(value)] = (value, entry, True)
                else:
                    value = self.unpack(packed)
                    self._share(entry, packed, value)
                    exact = False
            values.append(value)
        return values, exact


def _body(packed: Packed) -> str:
    """What is written for an entry: JSON, or for an object of texts just the texts: shorter, and quicker to read."""
    if type(packed) is list and packed and all(type(item) is str for item in packed) and packed[0] in _PLAIN:
        body = _SEPARATOR.join(packed)
        if body.count(_SEPARATOR) == len(packed) - 1:
            try:
                body.encode()
            except UnicodeEncodeError:
                return dumps(packed)
            return body
    return dumps(packed)


def _parsed(body: str) -> Packed:
    """What :func:`_body` was given."""
    return body.split(_SEPARATOR) if body[0] == "~" else _decode(body)


def _escaped(packed: list[Packed]) -> list[Packed]:
    """A list that begins like an object says that it is none."""
    if packed and type(packed[0]) is str and packed[0][:1] == "~":
        packed.insert(0, "~")
    return packed


def _items(packed: Packed) -> Iterable[Packed]:
    return packed.values() if type(packed) is dict else packed


def _equal(items: tuple[Any, ...], values: Sequence[Any]) -> bool:
    """Whether ``values`` begins with these items; compared by identity first, so it is quick."""
    beginning = values if len(values) == len(items) else values[: len(items)]
    return items == (beginning if type(beginning) is tuple else tuple(beginning))


def _bounded(memory: dict[Any, Any], limit: int = _KEPT) -> None:
    """Forgets the older half of what is remembered."""
    if len(memory) > limit:
        for key in list(islice(memory, limit // 2)):
            del memory[key]
