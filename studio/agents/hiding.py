"""Keys in the data of a run: what a model, a tool or a person said that happens to hold one.

Logs are cleaned of everything that may be a secret (:mod:`studio.agents.redaction`). The data of a run goes on being
used, so only what surely is a key is taken out of it: a value that the program itself resolved, and that no ordinary
text holds by chance ("ollama" is a fine key for a local server, and a word).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable

from studio.agents.redaction import SECRET

SHORTEST = 8
_WORDS = re.compile(r"[A-Za-z_.-]{1,15}|[0-9.+-]+|[0-9]+[eE][0-9]+")
"""Words that servers without keys are given, and numbers: they stand in any text."""
_BEGINNING = 3
"""Characters at the end of a text that make it likely enough that a key begins there: "sk-"."""


def sure(secret: str) -> bool:
    """Whether a text that holds this holds a secret."""
    return len(secret) >= SHORTEST and _WORDS.fullmatch(secret) is None


class Hider:
    """Takes keys out of whole texts, also of JSON texts. ``keys`` gives those in use; it is asked every time."""

    def __init__(self, keys: Callable[[], Collection[str]]) -> None:
        self._keys = keys
        self._seen: Collection[str] = ()
        self._sure: tuple[str, ...] = ()

    @property
    def sure(self) -> tuple[str, ...]:
        """The keys that are looked for, longest first."""
        keys = self._keys()
        if keys is not self._seen:
            self._seen = keys
            self._sure = _forms(keys)
        return self._sure

    def __call__(self, text: str) -> str:
        for secret in self.sure:
            if secret in text:
                text = text.replace(secret, SECRET)
        return text


def _forms(keys: Iterable[str]) -> tuple[str, ...]:
    """Keys as they are and as JSON writes them."""
    chosen = {key for key in keys if sure(key)}
    chosen |= {json.dumps(key)[1:-1] for key in chosen}
    return tuple(sorted(chosen, key=lambda key: (-len(key), key)))


class HidingStream:
    """Takes keys out of a text that comes in pieces. What may be the beginning of a key waits for the next piece.

    The first two characters of a key may have been given out before it could be known: no key is told by them.
    """

    __slots__ = ("_given", "_held", "_secrets")

    def __init__(self, secrets: tuple[str, ...]) -> None:
        """``secrets``: longest first, each at least :data:`SHORTEST` long."""
        self._secrets = secrets
        self._given = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """What is sure of the text so far and was not given before."""
        given = len(self._given)
        text = self._given + self._held + piece
        for secret in self._secrets:
            at = text.find(secret)
            while at >= 0:
                text = text[: max(at, given)] + SECRET + text[at + len(secret) :]
                at = text.find(secret, at + len(SECRET))
        end = max(self._likely(text), given)
        self._held = text[end:]
        self._given = text[max(0, end - _BEGINNING + 1) : end]
        return text[given:end]

    def _likely(self, text: str) -> int:
        """Where the earliest key may begin that the next piece could complete; the length of the text if none."""
        first = size = len(text)
        for secret in self._secrets:
            beginning = secret[:_BEGINNING]
            at = text.find(beginning, max(0, size - len(secret) + 1))
            while at >= 0:
                if secret.startswith(text[at:]):
                    first = min(first, at)
                    break
                at = text.find(beginning, at + 1)
        return first

    def end(self) -> str:
        """What waited when the text ended."""
        held, self._held = self._held, ""
        return held
