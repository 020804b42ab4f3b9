"""Where a debugger may hold a run. The engine calls these only if a gate is given; None costs nothing.

Each awaited method may wait as long as it likes; a raised ``asyncio.CancelledError`` stops the run. ``before_*`` is
awaited before anything of the step has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from studio.checkpoints import QueuedMessage

if TYPE_CHECKING:
    from studio.agents.client import ChatRequest
    from studio.agents.messages import AgentReply, ToolCall, ToolResult
    from studio.engine.results import Invocation, NodeResult, Retry


class Gate(Protocol):
    """Hooks of a debugger; see :mod:`studio.debugger`. The methods of :class:`Hooks` are looked for, too."""

    async def before_superstep(self, superstep: int, queued: Sequence[Any]) -> Any:
        """Between supersteps, before ``SuperstepStarted``; ``queued`` are the engine's messages, in delivery order.

        A list that is given back replaces them. Shared state may be changed here, see
        :meth:`studio.engine.workflow.Workflow.replace_state`.
        """

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> Any:
        """Before one invocation, before ``NodeStarted``. A :class:`Replaced` that is given back is taken instead."""

    async def before_model_call(self, node: str, messages: Sequence[Any], inside: tuple[str, ...]) -> Any:
        """Before a model call leaves the process; ``messages`` are what the model is to see, without instructions.

        Messages that are given back are sent instead.
        """


@dataclass(frozen=True, slots=True)
class Replaced:
    """A value to take instead."""

    value: Any


class Hooks:
    """A gate that lets everything pass; override what is wanted. Also has the places where few gates stop."""

    async def before_superstep(self, superstep: int, queued: Sequence[QueuedMessage]) -> Any:
        """See :class:`Gate`."""

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> Any:
        """See :class:`Gate`."""

    async def after_node(self, node: str, data: Any, given: tuple[Any, ...], inside: tuple[str, ...]) -> None:
        """After an invocation went well, before ``NodeFinished``; ``given`` is all it sent, then all it yielded."""

    async def node_failed(
        self, node: str, data: Any, error: Exception, inside: tuple[str, ...]
    ) -> Retry | NodeResult | None:
        """An invocation raised and its superstep is not given up yet: what else runs in it goes on.

        When this gives None the superstep fails, and the rest of it is cancelled. Otherwise what the node did is undone
        before it runs again, or before the result is taken instead.
        """

    async def before_model_call(self, node: str, messages: Sequence[Any], inside: tuple[str, ...]) -> Any:
        """See :class:`Gate`."""

    async def result_of_node(self, at: Invocation, data: Any) -> NodeResult | None:
        """What an invocation did before (or is to have done): it is taken, and the node is not called."""

    async def node_recorded(self, at: Invocation, data: Any, result: NodeResult) -> None:
        """All that an invocation did, whether it ran or was taken from a recording; for ``result_of_node``."""

    async def result_of_model(self, at: Invocation, request: ChatRequest) -> AgentReply | None:
        """The answer to a model call, which then does not leave the process; it counts and streams like any other."""

    async def result_of_tool(self, at: Invocation, call: ToolCall) -> ToolResult | None:
        """The result of a tool call that runs here: the tool and its middleware are not called."""

    async def after_model_call(self, node: str, reply: Any, inside: tuple[str, ...]) -> Replaced | None:
        """After an agent's reply (tool loop included); a :class:`Replaced` is taken instead of it."""

    def message_queued(self, message: QueuedMessage) -> QueuedMessage | None:
        """A message is about to be queued; the message that is given back is queued instead."""

    async def checkpoint_saved(self, checkpoint: str, superstep: int) -> None:
        """A checkpoint was written."""


def hook(gate: Gate | None, name: str) -> Callable[..., Any] | None:
    """A method of :class:`Hooks` if the gate has it for itself: what is not overridden is never called."""
    found = getattr(gate, name, None)
    if found is None or getattr(found, "__func__", None) is getattr(Hooks, name):
        return None
    method: Callable[..., Any] = found
    return method
