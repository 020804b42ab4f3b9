"""A budget of a run, looked at before each model call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from studio.agents.client import ChatRequest
from studio.agents.messages import AgentReply, Usage
from studio.agents.middleware import ChatMiddleware, MiddlewareFailure, ModelCall, Next
from studio.agents.prices import Cost
from studio.agents.tokens import request_tokens

Priced = Callable[[Usage], "Cost | None"]
"""The cost of tokens at the model in question."""


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
        self.used_tokens += (usage.input or 0) + (usage.output or 0)
        if cost is not None:
            self.used_money += cost.amounts.get(self.currency, Decimal(0))

    def _check(self, node: str, number: int, expected: Usage, cost: Cost | None) -> None:
        tokens = self.used_tokens + (expected.input or 0) + (expected.output or 0)
        if self.tokens is not None and tokens > self.tokens:
            raise BudgetReached(
                f"Call {number} of {node} would bring the run to about {tokens} tokens; its budget is {self.tokens}."
            )
        if self.money is None or cost is None:
            return
        money = self.used_money + cost.amounts.get(self.currency, Decimal(0))
        if money > self.money:
            raise BudgetReached(
                f"Call {number} of {node} would bring the run to about {money:.4f} {self.currency}; "
                f"its budget is {self.money} {self.currency}."
            )
