"""Values as small JSON that refers to content stored once.

A value becomes JSON in which everything big or shared is a reference: ``{"#": id}`` to a content (a text, an object, a
container), ``{"@": id}`` to the last link of a list. A list is a chain of links, each a parent and a content: a
list that grew by one item costs one link, and lists with the same beginning share it. That is why a conversation
of n turns costs O(n) bytes however often it is saved.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any, Protocol

from studio.checkpoints.store import Codec

SHORT = 100
"""Characters up to which a text or container stays where it is."""
FEW = 4
"""Items up to which a list is no chain."""
_KEPT_OBJECTS = 50_000
_KEPT_LISTS = 512
_FIRM = (str, int, float, bool, bytes)
_MARKS = frozenset({"#", "@", "$"})

Packed = Any


class Contents(Protocol):
    """Where contents and links are kept; ids start at 1."""

    def content(self, body: str) -> int:
        """Id of this text, stored if it is new."""

    def link(self, parent: int, item: int) -> int:
        """Id of this link, stored if it is new; parent 0 begins a list."""

    def body(self, content: int) -> str:
        """The text of a content."""

    def items(self, link: int) -> list[tuple[int, str]]:
        """Ids and texts of all contents of a list, in order."""


def dumps(packed: Packed) -> str:
    """JSON without spaces."""
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":"))


class Packer:
    """Packs and unpacks. Remembers objects by identity, so that what is known is neither encoded nor hashed again."""

    def __init__(self, contents: Contents, codec: Codec) -> None:
        self._contents = contents
        self._codec = codec
        self._objects: dict[int, tuple[object, Packed]] = {}
        self._lists: OrderedDict[tuple[int, int], tuple[tuple[Any, ...], int]] = OrderedDict()
        self._loaded: dict[int, Any] = {}

    def forget(self) -> None:
        """Ids are no longer valid: a transaction was rolled back."""
        self._objects.clear()
        self._lists.clear()
        self._loaded.clear()

    # ------------------------------------------------------------------------------------------------ packing

    def pack(self, value: Any) -> Packed:
        """``value`` as small JSON. Raises :class:`~studio.checkpoints.store.UnknownType`."""
        kind = type(value)
        if kind is str:
            return value if len(value) <= SHORT else {"#": self._contents.content(dumps(value))}
        if value is None or kind in (bool, int, float):
            return value
        if kind is list:
            return self._list(value)
        if kind is tuple:
            return {"$": "tuple", "items": self._list(value)}
        if kind is dict:
            return self._dict(value)
        return self._object(value)

    def pack_rows(self, values: Iterable[object]) -> list[Packed]:
        """Objects that are new in every checkpoint: in place, only what they hold is shared."""
        return [self._opened(*self._codec.open(value)) for value in values]

    def _dict(self, value: Mapping[Any, Any]) -> Packed:
        if not all(isinstance(key, str) for key in value) or not _MARKS.isdisjoint(value):
            return {"$": "dict", "items": [[self.pack(k), self.pack(v)] for k, v in value.items()]}
        return self._shrunk({key: self.pack(item) for key, item in value.items()})

    def _shrunk(self, packed: Packed) -> Packed:
        """A container that would be long becomes a content, so that it is stored once while it does not change."""
        text = dumps(packed)
        return packed if len(text) <= SHORT else {"#": self._contents.content(text)}

    def _object(self, value: object) -> Packed:
        """Small and flat objects stay in place; others become a content."""
        known = self._objects.get(id(value))
        if known is not None:
            return known[1]
        tag, fields = self._codec.open(value)
        packed = self._opened(tag, fields)
        if not all(item is None or isinstance(item, _FIRM) for item in fields.values()):
            packed = self._shrunk(packed)
        if self._firm(fields.values()):
            self._keep(value, packed)
        return packed

    def _opened(self, tag: str, fields: Mapping[str, Any]) -> dict[str, Packed]:
        packed: dict[str, Packed] = {"$": tag}
        for name, item in fields.items():
            if type(item) is str:
                packed[name] = item
            elif type(item) is tuple:
                few = len(item) <= FEW
                packed[name] = [self.pack(i) for i in item] if few else {"@": self._chain(item)}
            else:
                packed[name] = self.pack(item)
        return packed

    def _firm(self, values: Iterable[Any]) -> bool:
        """Whether nothing in there can change: only such objects are remembered or shared."""
        return all(
            value is None
            or isinstance(value, _FIRM)
            or (self._firm(value) if type(value) is tuple else id(value) in self._objects)
            for value in values
        )

    def _keep(self, value: object, packed: Packed) -> None:
        if len(self._objects) >= _KEPT_OBJECTS:
            self._objects.clear()
        self._objects[id(value)] = (value, packed)  # the reference keeps the id taken

    def _list(self, values: Sequence[Any]) -> Packed:
        if len(values) <= FEW:
            return self._shrunk([self.pack(item) for item in values])
        return {"@": self._chain(values)}

    def _chain(self, values: Sequence[Any]) -> int:
        done, link = self._beginning(values)
        for item in values[done:]:
            link = self._contents.link(link, self._item(item))
        key = (len(values), id(values[-1]))
        self._lists[key] = (tuple(values), link)
        self._lists.move_to_end(key)
        if len(self._lists) > _KEPT_LISTS:
            self._lists.popitem(last=False)
        return link

    def _beginning(self, values: Sequence[Any]) -> tuple[int, int]:
        """How many items are known as a list already, and its last link. Looks for lists a few items shorter."""
        for length in range(len(values), max(len(values) - 8, 0), -1):
            known = self._lists.get((length, id(values[length - 1])))
            if known is not None and all(map(is_, known[0], values)):
                return length, known[1]
        return 0, 0

    def _item(self, value: Any) -> int:
        packed = self.pack(value)
        if type(packed) is dict and len(packed) == 1 and "#" in packed:
            content: int = packed["#"]
            return content
        return self._contents.content(dumps(packed))

    # ---------------------------------------------------------------------------------------------- unpacking

    def unpack(self, packed: Packed) -> Any:
        """The value again, with containers of its own; objects that cannot change may be shared."""
        if type(packed) is list:
            return [self.unpack(item) for item in packed]
        if type(packed) is not dict:
            return packed
        if "#" in packed:
            return self._content(packed["#"], None)
        if "@" in packed:
            return [self._content(content, body) for content, body in self._contents.items(packed["@"])]
        tag = packed.get("$")
        if tag is None:
            return {key: self.unpack(item) for key, item in packed.items()}
        if tag == "tuple":
            return tuple(self.unpack(packed["items"]))
        if tag == "dict":
            return {self.unpack(key): self.unpack(item) for key, item in packed["items"]}
        return self._codec.close(tag, {name: self.unpack(item) for name, item in packed.items() if name != "$"})

    def _content(self, content: int, body: str | None) -> Any:
        loaded = self._loaded.get(content)
        if loaded is not None:
            return loaded
        packed = json.loads(self._contents.body(content) if body is None else body)
        value = self.unpack(packed)
        is_object = type(packed) is dict and packed.get("$") not in (None, "tuple", "dict") and type(value) is not tuple
        if is_object and self._firm(self._codec.open(value)[1].values()):
            if len(self._loaded) >= _KEPT_OBJECTS:
                self._loaded.clear()
            self._loaded[content] = value
            self._keep(value, {"#": content})
        return value
