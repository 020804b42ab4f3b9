"""History around each model call instead of around the run: after a crash the calls made so far are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from studio.agents import pending
from studio.agents.context_providers import HistoryProvider, RunContext, attribution
from studio.agents.messages import AgentReply, ApprovalRequest, ApprovalResponse, Message
from studio.agents.middleware import ModelCall, Next
from studio.agents.session import Session


@dataclass(slots=True)
class PerCallHistory:
    """The innermost chat middleware of one run: loads before the call, stores what is new and the answer after it."""

    providers: Sequence[HistoryProvider]
    session: Session
    author: str
    batch: pending.Batch | None = None
    """Calls of an earlier turn that still wait; the model is not shown them."""
    _stored: dict[int, Message] = field(default_factory=dict, init=False)
    """Messages of this run that a history has by now, by identity; held so that no identity is used twice."""

    async def __call__(self, call: ModelCall, call_next: Next, /) -> None:
        fresh = [m for m in call.messages if attribution(m) is None and id(m) not in self._stored]
        added = [m for m in call.messages if attribution(m) is not None]
        context = RunContext(self.author, self.session.id, fresh, call.options)
        for provider in self.providers:
            if provider.load:
                await provider.before_run(context, self.session, self._state(provider))
        call.messages = [*added, *self._visible(context.messages()), *fresh]

        async def store(reply: AgentReply) -> None:
            context.response = replace(reply, messages=tuple(self._signed(m) for m in reply.messages))
            for provider in reversed(self.providers):
                await provider.after_run(context, self.session, self._state(provider))
            self._stored.update({id(m): m for m in (*fresh, *reply.messages)})

        if call.streaming:
            call.on_result(store)
            await call_next()
            return
        await call_next()
        if call.result is not None:
            await store(call.result)

    def _state(self, provider: HistoryProvider) -> dict[str, object]:
        state: dict[str, object] = self.session.state.setdefault(provider.source_id, {})
        return state

    def _signed(self, message: Message) -> Message:
        return message if message.author is not None else replace(message, author=self.author)

    def _visible(self, loaded: Sequence[Message]) -> list[Message]:
        without = pending.without(loaded, (ApprovalRequest, ApprovalResponse))
        return without if self.batch is None else pending.hide_open_calls(without, self.batch)
