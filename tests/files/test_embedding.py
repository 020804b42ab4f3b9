"""A workflow inside a picture of it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from studio.files import FileProblem, read_workflow
from studio.files.embedding import found_in, into_png, into_svg

SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>\n'
TEXT = '{"a": "</metadata></svg> \\u00e9 日本"}'


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\x00\x00"))
    + chunk(b"IEND", b"")
)


def test_it_is_found_again() -> None:
    assert found_in(into_svg(SVG, TEXT).encode()) == TEXT
    assert found_in(into_png(PNG, TEXT)) == TEXT


def test_a_picture_without_one() -> None:
    assert found_in(SVG.encode()) is None
    assert found_in(PNG) is None
    assert found_in(b"") is None


def test_a_small_picture_that_unpacks_to_much_is_refused() -> None:
    bomb = into_png(PNG, "x" * 70_000_000)
    assert len(bomb) < 200_000
    with pytest.raises(ValueError, match="larger than 64 MB"):
        found_in(bomb)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.png", PNG, "a.png is a picture without a workflow in it."),
        ("a.svg", b"<svg/>", "a.svg is a picture without a workflow in it."),
        (
            "a.png",
            PNG[:-12] + chunk(b"iTXt", b"superstep-workflow\x00\x01\x00\x00\x00broken") + PNG[-12:],
            "The workflow in a.png cannot be read: its packed text is damaged",
        ),
        ("a.svg", b"<svg><superstep-workflow>A</superstep-workflow></svg>", "The workflow in a.svg cannot be read"),
        ("a.png", PNG[:-12] + chunk(b"iTXt", b"superstep-workflow\x00") + PNG[-12:], "The workflow in a.png cannot be"),
    ],
    ids=["png without", "svg without", "damaged", "no base64", "cut off"],
)
def test_what_cannot_be_read_says_so(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileProblem) as caught:
        read_workflow(tmp_path / name)
    assert caught.value.message.startswith(message)
