"""Full collections look at new objects alone; all are looked at when the user is elsewhere."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from studio.bridge import collecting
from studio.bridge.collecting import ShortCollections


class Knot:
    """Refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collections(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShortCollections]:
    monkeypatch.setattr(collecting, "_WORTH_IT", 0)
    made = ShortCollections(qapp)
    yield made
    made.end()
    gc.unfreeze()


def test_what_survives_is_not_looked_at_again(collections: ShortCollections) -> None:
    kept = [Knot() for _ in range(1000)]
    gone = weakref.ref(Knot())
    gc.collect()
    assert gone() is None
    assert gc.get_freeze_count() > 1000
    looked_at = len(gc.get_objects())
    assert looked_at < 20_000, "only what came since the collection, not the whole program"
    old = weakref.ref(kept[0])
    plain = weakref.ref(kept.pop())
    assert plain() is not None, "a cycle that was put aside stays"
    kept.clear()
    gc.collect()
    assert old() is not None
    collections.collect_everything()
    assert old() is None
    assert plain() is None
    assert gc.get_freeze_count() > 1000


def test_everything_is_looked_at_when_the_user_is_elsewhere(collections: ShortCollections, qapp: QApplication) -> None:
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert collections._timer.isActive()
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert not collections._timer.isActive()


def test_few_new_objects_are_not_worth_it(collections: ShortCollections, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    knots = [Knot()]
    gc.collect()
    kept = weakref.ref(knots.pop())
    monkeypatch.setattr(collecting, "_WORTH_IT", 10**9)
    collections.collect_everything()
    assert kept() is not None


def test_afterwards_collections_are_as_before(qapp: QApplication) -> None:
    before = list(gc.callbacks)
    made = ShortCollections(qapp)
    made.end()
    assert gc.callbacks == before
