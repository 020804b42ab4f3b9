"""PySide6 6.12.0 drops a reference of None per void call on Python 3.11 and ends in an abort; the pin keeps it out."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject

CALLS = 20_000


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="None is immortal from 3.12 on")
def test_void_calls_keep_the_references_of_none() -> None:
    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        thing.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < CALLS // 10
