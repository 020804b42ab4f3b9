"""An agent: instructions, tools and a chat client; one run is one turn with its tool loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from studio.agents import pending
from studio.agents.client import NO_OPTIONS, ChatClient, ChatOptions, ChatRequest, NoHooks, RunHooks
from studio.agents.loop import ToolLoop
from studio.agents.messages import AgentReply, AgentUpdate, Message
from studio.agents.session import Session
from studio.agents.tools import Tool

UpdateSink = Callable[[AgentUpdate], None]


@dataclass(frozen=True, slots=True)
class Agent:
    """What does not change from turn to turn; the memory is in the :class:`Session`."""

    name: str
    client: ChatClient
    instructions: str = ""
    tools: Sequence[Tool] = ()
    options: ChatOptions = NO_OPTIONS
    output_schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; the reply then has a ``value`` if the answer is valid JSON."""
    description: str = ""
    node: str = ""
    """The node the agent runs in; the name if empty."""

    def new_session(self) -> Session:
        """An empty memory."""
        return Session()

    async def run(
        self,
        messages: Sequence[Message],
        *,
        session: Session | None = None,
        updates: UpdateSink | None = None,
        hooks: RunHooks | None = None,
    ) -> AgentReply:
        """One turn: history in front, model and tools until there is an answer or somebody must be asked.

        With ``updates`` the model is streamed and every chunk given as it comes. The session gets input and reply
        only if the turn goes well; an error or a cancelled task leaves it as it was. Without a session
        nothing is remembered. ``AgentReply.requests`` says what the run waits for.
        """
        memory = session if session is not None else Session()
        loop = ToolLoop(
            ChatRequest((), self.instructions, tuple(self.tools), self._options(), self.node or self.name),
            self.client,
            self.name,
            updates,
            hooks if hooks is not None else NoHooks(),
        )
        end = await loop.run(memory.messages, messages, pending.load(memory.state))
        reply = replace(end.reply, value=self._value(end.reply))
        memory.add([*messages, *reply.messages])
        if end.batch is None:
            memory.state.pop(pending.STATE_KEY, None)
        else:
            memory.state[pending.STATE_KEY] = pending.dump(end.batch)
        return reply

    def _options(self) -> ChatOptions:
        if self.output_schema is None:
            return self.options
        return replace(self.options, response_schema=self.output_schema)

    def _value(self, reply: AgentReply) -> Any:
        if self.output_schema is None or not reply.messages or reply.requests:
            return None
        try:
            return json.loads(reply.messages[-1].text)
        except ValueError:
            return None
