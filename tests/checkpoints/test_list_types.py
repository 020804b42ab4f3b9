"""The types in long lists are remembered without ever being wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from studio.agents.messages import AgentReply, Message, user
from studio.checkpoints import list_types
from studio.checkpoints.list_types import LONG, types_in
from studio.engine.types import ListOf, fits


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    list_types.forget()
    yield
    list_types.forget()


def test_a_list_that_grows_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = [user(str(n)) for n in range(100)]
    assert types_in(list(said)) == {Message}
    looked: list[object] = []
    monkeypatch.setattr(list_types, "type", lambda value: looked.append(value) or value.__class__, raising=False)
    for number in range(10):
        said = [*said, user(f"more {number}")]
        assert types_in(said) == {Message}
    assert len(looked) < 60


def test_what_comes_later_is_seen() -> None:
    said: list[object] = [user(str(n)) for n in range(LONG)]
    assert types_in(said) == {Message}
    said.append("text")
    assert types_in(said) == {Message, str}
    assert not fits(said, ListOf(Message))
    said[-1] = AgentReply()
    assert types_in(said) == {Message, AgentReply}


def test_an_item_replaced_in_the_middle_is_seen() -> None:
    said: list[object] = [user(str(n)) for n in range(LONG)]
    assert types_in(said) == {Message}
    said[5] = 5
    assert types_in(said) == {Message, int}


def test_a_shorter_list_with_the_same_beginning() -> None:
    said: list[object] = [user(str(n)) for n in range(3 * LONG)]
    assert types_in(said) == {Message}
    assert types_in(said[: 2 * LONG]) == {Message}
    assert types_in([*said[: 2 * LONG], 1]) == {Message, int}


def test_other_classes_are_never_remembered() -> None:
    """1 and True are equal."""
    numbers: list[object] = [1] * (2 * LONG)
    assert types_in(numbers) == {int}
    assert types_in([1, *([True] * (2 * LONG))]) == {int, bool}
    assert not list_types._seen


def test_only_some_are_kept_and_none_after_a_run() -> None:
    for _ in range(20):
        types_in([user(str(n)) for n in range(LONG)])
    assert len(list_types._seen) <= 8
    list_types.forget()
    assert not list_types._seen
