"""A workflow inside a picture of it: written into SVG and PNG, found again, without reading the picture itself."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator

_PNG = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"superstep-workflow"
_TAG = "superstep-workflow"
_SPACE = "urn:superstep-studio:workflow"
_IN_SVG = re.compile(rf"<{_TAG}\b[^>]*>([A-Za-z0-9+/=\s]*)</{_TAG}>".encode())
_LARGEST = 64_000_000
"""Bytes that a workflow in a picture may have: a small file must not unpack to gigabytes."""

PICTURES = (".svg", ".png")
"""Endings of files that may hold a workflow."""


def into_svg(svg: str, workflow: str) -> str:
    """The SVG with the text of a workflow file in a ``metadata`` element. Base64: no text can end the element."""
    coded = base64.b64encode(workflow.encode()).decode()
    kept = f'<metadata><{_TAG} xmlns="{_SPACE}">{coded}</{_TAG}></metadata>'
    head, end, rest = svg.rpartition("</svg>")
    if not end:
        raise ValueError("this is no SVG")
    return f"{head}{kept}\n{end}{rest}"


def into_png(png: bytes, workflow: str) -> bytes:
    """The PNG with the text of a workflow file in an ``iTXt`` chunk before its end."""
    packed = zlib.compress(workflow.encode(), 9)
    data = _KEYWORD + b"\x00\x01\x00\x00\x00" + packed
    chunk = struct.pack(">I", len(data)) + b"iTXt" + data + struct.pack(">I", zlib.crc32(b"iTXt" + data))
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk + png[end:]


def found_in(picture: bytes) -> str | None:
    """The text of the workflow file in a picture, or None if it has none.

    Raises ``ValueError`` with the reason if there is one that cannot be read.
    """
    return _in_png(picture) if picture.startswith(_PNG) else _in_svg(picture)


def _in_svg(picture: bytes) -> str | None:
    match = _IN_SVG.search(picture)
    if match is None:
        return None
    return base64.b64decode(match[1]).decode()


def _in_png(picture: bytes) -> str | None:
    for kind, data in _chunks(picture):
        if kind == b"iTXt" and data.startswith(_KEYWORD + b"\x00"):
            flags, *texts = data[len(_KEYWORD) + 1 : len(_KEYWORD) + 3], *data[len(_KEYWORD) + 3 :].split(b"\x00", 2)
            if len(texts) != 3:
                raise ValueError("its text is cut off")
            return (_unpacked(texts[2]) if flags[0] else texts[2]).decode()
    return None


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, _LARGEST)
    except zlib.error as error:
        raise ValueError(f"its packed text is damaged ({error})") from error
    if unpacker.unconsumed_tail:
        raise ValueError(f"it is larger than {_LARGEST // 1_000_000} MB")
    return found


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while at + 12 <= len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12
