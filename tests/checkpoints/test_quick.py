"""Quick constructors: the same objects as a dataclass makes."""

from __future__ import annotations

import gc
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest
from studio.checkpoints.quick import maker, quickly_made, uncollected


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 3
    extra: dict[str, int] = field(default_factory=dict)


@quickly_made
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: int = 3
    extra: dict[str, int] = field(default_factory=dict)


def test_a_quick_object_is_like_any_other() -> None:
    made = Quick("a", extra={"k": 1})
    assert (made.name, made.size, made.extra) == ("a", 3, {"k": 1})
    assert type(made) is Quick
    assert made == Quick("a", 3, {"k": 1}) != Quick("b")
    assert repr(made) == repr(Plain("a", extra={"k": 1})).replace("Plain", "Quick")
    assert replace(made, size=4) == Quick("a", 4, {"k": 1})
    assert Quick("a").extra is not Quick("a").extra
    with pytest.raises(FrozenInstanceError):
        made.size = 4  # type: ignore[misc]
    with pytest.raises(TypeError, match="name"):
        Quick()  # type: ignore[call-arg]


def test_a_maker_makes_what_the_constructor_makes() -> None:
    make = maker(Plain)
    assert make("a") == Plain("a")
    assert make("a", 5, {"k": 1}) == Plain("a", 5, {"k": 1})
    assert make("a").extra is not make("a").extra
    with pytest.raises(FrozenInstanceError):
        make("a").size = 4  # type: ignore[misc]


def test_collecting_goes_on_afterwards_if_it_did_before() -> None:
    def fails() -> None:
        with uncollected():
            assert not gc.isenabled()
            raise ValueError("boom")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="boom"):
        fails()
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
