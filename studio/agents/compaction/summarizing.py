"""Older messages summed up by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from studio.agents.client import ChatClient, ChatRequest, NoHooks
from studio.agents.compaction.groups import CountTokens, Group, Groups, estimated_tokens
from studio.agents.messages import Message, Text, ToolCall, ToolResult, assistant, user
from studio.agents.tools import result_text

PROMPT = """Write a clear and complete summary of the conversation so far in at most five sentences.
Keep what user and assistant contributed, goals, decisions, open questions, and everything an earlier summary says.
Do not judge, correct, interpret or add anything."""


@dataclass(slots=True)
class Summarizing:
    """Replaces the oldest groups by a summary once there are more than ``target + slack`` messages.

    The summary replaces what the model sees: ask only a model that is trusted like the agent's own. If summing up
    fails, the conversation stays as it is; :attr:`failures` counts in a row.
    """

    client: ChatClient
    target: int = 4
    """Messages that stay as they are, at least; groups are not split."""
    slack: int = 2
    prompt: str = PROMPT
    input_tokens: int | None = 8000
    """The longest request for a summary; what does not fit waits for the next."""
    count: CountTokens = estimated_tokens
    failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.target <= 0 or self.slack < 0 or (self.input_tokens is not None and self.input_tokens <= 0):
            raise ValueError("target and input_tokens must be greater than 0, slack not negative")

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        left = list(groups)
        chosen = self._fitting(left, self._older(left))
        if not chosen:
            return left
        summary = await self._summary([message for n in chosen for message in left[n].messages])
        if not summary:
            self.failures += 1
            return left
        self.failures = 0
        for number in chosen:
            left[number] = left[number].without("summarized")
        left.insert(chosen[0], Group("summary", (assistant(summary),)))
        return left

    def _older(self, groups: Sequence[Group]) -> list[int]:
        """The groups to sum up; none if the conversation is short enough."""
        spoken = [n for n, group in enumerate(groups) if not group.excluded and group.kind != "system"]
        if sum(len(groups[n].messages) for n in spoken) <= self.target + self.slack:
            return []
        kept = 0
        while spoken and kept < self.target:
            kept += len(groups[spoken.pop()].messages)
        return spoken

    def _fitting(self, groups: Sequence[Group], older: Sequence[int]) -> list[int]:
        """As many of the older groups as one request may hold; a group that alone is too long is passed over."""
        if self.input_tokens is None:
            return list(older)
        chosen: list[int] = []
        size = self.count(self.prompt)
        for number in older:
            longer = size + self.count(_transcript(groups[number].messages))
            if longer <= self.input_tokens:
                chosen.append(number)
                size = longer
            elif chosen:
                break
        return chosen

    async def _summary(self, messages: Sequence[Message]) -> str:
        request = ChatRequest((user(_transcript(messages)),), self.prompt)
        try:
            reply = await self.client.complete(request, chunk=None, hooks=NoHooks())
        except Exception:
            return ""
        return reply.text.strip()


def _transcript(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        pieces: list[str] = []
        for part in message.parts:
            match part:
                case Text(text):
                    pieces.append(text)
                case ToolCall():
                    pieces.append(f"[calls {part.name}({part.arguments})]")
                case ToolResult():
                    pieces.append(f"[result: {result_text(part.result)}]")
        if pieces:
            lines.append(f"{message.author or message.role}: {' '.join(pieces)}")
    return "\n".join(lines)
