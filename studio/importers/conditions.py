"""Translations that several readers share."""

from __future__ import annotations

from studio.document.conditions import Condition, Rule

NEXT_ITEM = Condition(kind="expression", expression="value['next_item'] == True")
"""The first way out of a loop: it sends ``{"next_item": true, ...}`` as long as there are items."""


def text_is(value: str) -> Condition:
    """The message is this text, in any case and without regard to blanks around it."""
    return Condition(kind="expression", expression=f"lower(text).strip() == {value.strip().lower()!r}")


def text_contains(value: str) -> Condition:
    """The text of the message contains this."""
    return Condition(kind="rules", rule=Rule(op="contains", value=value))


def answer_is(word: str) -> Condition:
    """A person chose this way."""
    yes = word.lower() in ("approved", "proceed", "yes")
    return Condition(kind="expression", expression=f"value == {yes} or lower(text).strip() == {word.lower()!r}")
