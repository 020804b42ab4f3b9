"""A budget of a run, looked at before each model call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from studio.agents.client import ChatClient, ChatRequest, ChunkSink, RunHooks
from studio.agents.messages import AgentReply, Usage
from studio.agents.middleware import ChatMiddleware, MiddlewareFailure, ModelCall, Next
from studio.agents.prices import Cost
from studio.agents.tokens import request_tokens

Priced = Callable[[Usage], "Cost | None"]
"""The cost of tokens at the model in question; None: nobody knows."""


class BudgetReached(MiddlewareFailure):
    """The next call would cross the budget; it was not made."""


@dataclass(slots=True)
class Budget:
    """Tokens or money for everything that shares this object; money in one currency."""

    tokens: int | None = None
    money: Decimal | None = None
    currency: str = "USD"
    used_tokens: int = field(default=0, init=False)
    used_money: Decimal = field(default=Decimal(0), init=False)
    _begun: list[tuple[Usage, Cost | None]] = field(default_factory=list, init=False)
    """What calls that are under way are expected to take."""

    def begin(self, node: str, number: int, expected: Usage, cost: Cost | None) -> Callable[[Usage | None], None]:
        """A call is about to be made; what is given is called with its usage when it has ended, None if it failed.

        Raises :class:`BudgetReached`. Calls side by side know of each other.
        """
        self._check(node, number, expected, cost)
        begun = (expected, cost)
        self._begun.append(begun)

        def ended(usage: Usage | None) -> None:
            self._begun.remove(begun)
            if usage is not None:
                self.take(usage, usage.cost if usage.cost is not None else cost)

        return ended

    def middleware(self, node: str, priced: Priced) -> ChatMiddleware:
        """Chat middleware for the agent of ``node``: stops between calls and says which one it would have been."""

        async def check(call: ModelCall, call_next: Next) -> None:
            request = ChatRequest(tuple(call.messages), call.instructions, call.tools, call.options)
            expected = Usage(request_tokens(request).tokens, call.options.max_tokens or 0)
            self._check(node, call.number, expected, priced(expected))

            def count(reply: AgentReply) -> None:
                usage = reply.usage or expected
                self.take(usage, priced(usage))

            call.on_result(count)
            await call_next()

        return check

    def take(self, usage: Usage, cost: Cost | None) -> None:
        """Counts a call that was made."""
        self.used_tokens += _count(usage)
        if cost is not None:
            self.used_money += cost.amounts.get(self.currency, Decimal(0))

    def _check(self, node: str, number: int, expected: Usage, cost: Cost | None) -> None:
        tokens = self.used_tokens + sum(_count(usage) for usage, _ in self._begun) + _count(expected)
        if self.tokens is not None and tokens > self.tokens:
            raise BudgetReached(
                f"Call {number} of {node} would bring the run to about {tokens} tokens; its budget is {self.tokens}."
            )
        if self.money is None:
            return
        cost = cost or Cost()
        begun = sum((c.amounts.get(self.currency, Decimal(0)) for _, c in self._begun if c is not None), Decimal(0))
        money = self.used_money + begun + cost.amounts.get(self.currency, Decimal(0))
        if money > self.money:
            raise BudgetReached(
                f"Call {number} of {node} would bring the run to about {money:.4f} {self.currency}; "
                f"its budget is {self.money} {self.currency}."
            )


def _count(usage: Usage) -> int:
    return (usage.input or 0) + (usage.output or 0)


class BudgetedClient:
    """A chat client whose calls count against a budget, and are not made when they would cross it."""

    def __init__(self, inner: ChatClient, budget: Budget, node: str, priced: Priced | None = None) -> None:
        """``node`` is a name for people. ``priced`` None: money is counted when a call has told its cost."""
        self.inner = inner
        self._budget = budget
        self._node = node
        self._priced = priced
        self._calls = 0

    @property
    def model(self) -> str:
        """That of the client inside."""
        return self.inner.model

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """One model call. Raises :class:`BudgetReached`."""
        self._calls += 1
        expected = Usage(request_tokens(request).tokens, request.options.max_tokens or 0)
        cost = self._priced(expected) if self._priced is not None else None
        ended = self._budget.begin(self._node, self._calls, expected, cost)
        usage: Usage | None = None
        try:
            reply = await self.inner.complete(request, chunk=chunk, hooks=hooks)
            usage = reply.usage if reply.usage is not None and _count(reply.usage) else expected
            if reply.usage is not None and reply.usage.cost is not None:
                usage = replace(usage, cost=reply.usage.cost)
        finally:
            ended(usage)
        return reply

    async def close(self) -> None:
        """Closes the client inside."""
        await self.inner.close()
