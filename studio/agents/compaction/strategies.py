"""Strategies that need no model: truncation, sliding window, tool calls, tool results, budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from studio.agents.compaction.groups import (
    Compaction,
    CountTokens,
    Group,
    Groups,
    estimated_tokens,
    included,
    protected,
    tokens,
)
from studio.agents.messages import ToolCall, ToolResult, assistant
from studio.agents.tools import result_text

_SUMMARY_CHARACTERS = 4096


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be greater than 0")


@dataclass(frozen=True, slots=True)
class Truncation:
    """Leaves the oldest out: above ``most`` down to ``target``. Messages are counted, or tokens with ``count``."""

    most: int
    target: int
    count: CountTokens | None = None
    keep_system: bool = True
    keep_first_user: bool = False

    def __post_init__(self) -> None:
        _positive(most=self.most, target=self.target)
        if self.target > self.most:
            raise ValueError("target must not be greater than most")

    def _size(self, group: Group) -> int:
        return len(group.messages) if self.count is None else group.tokens(self.count)

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        left = list(groups)
        size = sum(self._size(group) for group in included(left))
        if size <= self.most:
            return left
        kept = {protected(left)}
        if self.keep_system:
            kept |= {n for n, group in enumerate(left) if group.kind == "system"}
        if self.keep_first_user:
            kept |= {next((n for n, group in enumerate(left) if group.kind == "user"), None)}
        for number, group in enumerate(left):
            if size <= self.target:
                break
            if number not in kept and not group.excluded:
                left[number] = group.without("truncation")
                size -= self._size(group)
        return left


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Keeps the last groups; system messages stay in front."""

    keep_last: int
    keep_system: bool = True

    def __post_init__(self) -> None:
        _positive(keep_last=self.keep_last)

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        spoken = [n for n, group in enumerate(groups) if not group.excluded and group.kind != "system"]
        kept = set(spoken[-self.keep_last :])
        if self.keep_system:
            kept |= {n for n, group in enumerate(groups) if group.kind == "system"}
        return [
            group if group.excluded or number in kept else group.without("sliding_window")
            for number, group in enumerate(groups)
        ]


def _older_tool_groups(groups: Sequence[Group], keep_last: int) -> list[int]:
    found = [n for n, group in enumerate(groups) if not group.excluded and group.kind == "tool_calls"]
    return found[: max(0, len(found) - keep_last)]


@dataclass(frozen=True, slots=True)
class SelectiveToolCalls:
    """Leaves older tool calls out, with their results."""

    keep_last: int = 1

    def __post_init__(self) -> None:
        if self.keep_last < 0:
            raise ValueError("keep_last must not be negative")

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        left = list(groups)
        for number in _older_tool_groups(left, self.keep_last):
            left[number] = left[number].without("tool_calls")
        return left


@dataclass(frozen=True, slots=True)
class ToolResults:
    """Replaces older tool calls by one line with what the tools gave."""

    keep_last: int = 1

    def __post_init__(self) -> None:
        if self.keep_last < 0:
            raise ValueError("keep_last must not be negative")

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        older = set(_older_tool_groups(groups, self.keep_last))
        left: Groups = []
        for number, group in enumerate(groups):
            if number in older:
                left.append(Group("summary", (assistant(_results_line(group)),)))
                group = group.without("tool_results")
            left.append(group)
        return left


def _results_line(group: Group) -> str:
    parts = [part for message in group.messages for part in message.parts]
    names = {part.call_id: part.name for part in parts if isinstance(part, ToolCall)}
    results = [
        (f"{name}: {text}" if (name := names.get(part.call_id, "")) else text).strip()
        for part in parts
        if isinstance(part, ToolResult)
        for text in (result_text(part.result),)
    ]
    label = "; ".join(results) if results else "no results"
    line = f"[Tool results: {label}]"
    if len(line) <= _SUMMARY_CHARACTERS:
        return line
    room = _SUMMARY_CHARACTERS - len("[Tool results: ... [truncated]]")
    return f"[Tool results: {label[:room].rstrip()}... [truncated]]"


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Strategies one after the other until what is shown fits ``budget`` tokens; then the oldest goes, system last."""

    budget: int
    strategies: tuple[Compaction, ...] = ()
    count: CountTokens = estimated_tokens
    stop_early: bool = True

    def __post_init__(self) -> None:
        _positive(budget=self.budget)

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        left = list(groups)
        if tokens(left, self.count) <= self.budget:
            return left
        for strategy in self.strategies:
            left = await strategy(left)
            if self.stop_early and tokens(left, self.count) <= self.budget:
                return left
        kept = protected(left)
        size = tokens(left, self.count)
        for systems in (False, True):
            for number, group in enumerate(left):
                if size <= self.budget:
                    return left
                if number != kept and not group.excluded and (group.kind == "system") is systems:
                    left[number] = group.without("token_budget")
                    size -= group.tokens(self.count)
        return left


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """Fits a model's window: at half of the input budget tool results are summed up, at 80 % the oldest goes."""

    window: int
    output: int
    """Tokens kept free for the answer."""
    tools_at: float = 0.5
    truncate_at: float = 0.8
    keep_last_tools: int = 4
    keep_first_user: bool = False
    count: CountTokens = estimated_tokens
    _tools: ToolResults = field(init=False)
    _truncation: Truncation = field(init=False)

    def __post_init__(self) -> None:
        _positive(window=self.window)
        if not 0 <= self.output < self.window:
            raise ValueError("output must be at least 0 and less than the window")
        if not 0 < self.tools_at <= self.truncate_at <= 1:
            raise ValueError("tools_at and truncate_at must be between 0 and 1, in this order")
        object.__setattr__(self, "_tools", ToolResults(self.keep_last_tools))
        most, target = int(self.budget * self.truncate_at), int(self.budget * self.tools_at)
        truncation = Truncation(most, target, self.count, keep_first_user=self.keep_first_user)
        object.__setattr__(self, "_truncation", truncation)

    @property
    def budget(self) -> int:
        """Tokens for everything the model is shown."""
        return self.window - self.output

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        left = list(groups)
        if tokens(left, self.count) > int(self.budget * self.tools_at):
            left = await self._tools(left)
        return await self._truncation(left)
