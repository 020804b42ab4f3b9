"""Telling ``<think>`` text at the start of an answer from the answer."""

from __future__ import annotations

from studio.agents.messages import Part, Reasoning, Text

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Takes content piece by piece. Only a tag at the very start counts: later ones are the answer's own text."""

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, text: str) -> list[Part]:
        """The parts that are certain now; a piece that may be half a tag is held back."""
        if self._state == "text":
            return [Text(text)]
        self._held += text
        if self._state == "start":
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._state, self._held = "thinking", start.removeprefix(_OPEN)
            elif _OPEN.startswith(start):
                return []
            else:
                return self._rest_is_text(self._held)
        if self._state == "thinking":
            return self._thinking()
        return self._after()

    def _thinking(self) -> list[Part]:
        thought, close, rest = self._held.partition(_CLOSE)
        if close:
            self._state, self._held = "after", rest
            return [*([Reasoning(thought)] if thought else []), *self._after()]
        keep = next((n for n in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:n])), 0)
        self._held = thought[len(thought) - keep :] if keep else ""
        sure = thought[: len(thought) - keep] if keep else thought
        return [Reasoning(sure)] if sure else []

    def _after(self) -> list[Part]:
        """Blank lines between thought and answer belong to neither."""
        text = self._held.lstrip()
        return self._rest_is_text(text) if text else []

    def _rest_is_text(self, text: str) -> list[Part]:
        self._state, self._held = "text", ""
        return [Text(text)]

    def end(self) -> list[Part]:
        """What was held back when the answer ended."""
        held, self._held = self._held, ""
        if not held or self._state == "after":
            return []
        return [Reasoning(held)] if self._state == "thinking" else [Text(held)]
