"""Nodes that compute: functions, templates, joins, pass.

**What a function node gives.** Its code leaves ``result`` (or the called function returns it).

* ``None``: nothing is sent and nothing yielded.
* With ``sends`` set the result is sent over the node's edges; with ``yields`` set it is yielded as an output of the
  workflow; with both, it is sent, then yielded; with neither, the node gives only what the code itself sends or yields
  through ``ctx``. Edges do not matter: a function without edges must have ``yields`` to be seen.
* If the setting names exactly one declared type and the result is an object, it becomes a value of that type.

**What it gets.** A function that accepts ``text`` gets the text of whatever has one (text, message, messages, reply of
an agent), unless it also names the message's own type; then it gets the message.

A join gets the list of its fan-in and sends one message: ``texts`` the texts joined by the separator, ``messages`` one
agent request of all messages, ``code`` the result of its body (None sends nothing). A template sends its filled text,
whatever it gets but turn tokens: those end at templates, as at questions to people. Exported projects do the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.agents.messages import AgentRequest
from studio.assembly.code import UserCode
from studio.assembly.texts import fill, messages_of, value_text
from studio.assembly.types import accepted_type, as_record, is_taken_as_text, sent_types
from studio.document.model import FunctionNode, JoinNode, TemplateNode
from studio.document.types import split
from studio.engine.context import Context
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.types import ANY, ListOf
from studio.engine.values import TurnToken


class UserFunction(FunctionExecutor):
    """A function node; its code runs in the worker."""

    def __init__(self, node: FunctionNode, code: UserCode) -> None:
        self._node = node
        self._code = code
        self._target = node.call if node.call else code.add(node.id, node.body, "body")
        super().__init__(
            node.id,
            self._run,
            accepts=accepted_type(node.accepts),
            sends=sent_types(node.sends),
            yields=sent_types(node.yields),
        )

    async def _run(self, data: Any, ctx: Context) -> None:
        node = self._node
        given = value_text(data) if is_taken_as_text(data, node.accepts) else data
        self.give(await self._code.run(self._target, given, ctx), ctx)

    def give(self, result: Any, ctx: Context) -> None:
        """Sends and yields a result as the settings of the node want it."""
        node = self._node
        if result is None:
            return
        if split(node.sends):
            ctx.send(self._typed(result, node.sends))
        if split(node.yields or ""):
            ctx.yield_output(self._typed(result, node.yields or ""))

    def _typed(self, result: Any, written: str) -> Any:
        names = split(written)
        schema = self._code.schemas.get(names[0]) if len(names) == 1 else None
        if schema is None or not isinstance(result, dict):
            return result
        return as_record(names[0], schema, result)


class FilledText(FunctionExecutor):
    """A template node."""

    def __init__(self, node: TemplateNode) -> None:
        self._text = node.text
        super().__init__(node.id, self._run, accepts=ANY, sends=(str,))

    async def _run(self, data: Any, ctx: Context) -> None:
        if not isinstance(data, TurnToken):
            ctx.send(fill(self._text, data, ctx.get_state))


class Join(FunctionExecutor):
    """A join bar."""

    def __init__(self, node: JoinNode, code: UserCode) -> None:
        self._node = node
        self._code = code
        if node.merge == "code":
            code.add(node.id, node.body, "body")
        sends: Mapping[str, Any] = {"texts": str, "messages": AgentRequest, "code": ANY}
        super().__init__(node.id, self._run, accepts=ListOf(ANY), sends=(sends[node.merge],))

    async def _run(self, data: list[Any], ctx: Context) -> None:
        if self._node.merge == "texts":
            ctx.send(self._node.separator.join(value_text(item) for item in data))
        elif self._node.merge == "messages":
            ctx.send(AgentRequest(messages_of(data)))
        else:
            result = await self._code.run(self._node.id, data, ctx)
            if result is not None:
                ctx.send(result)


class PassOn(FunctionExecutor):
    """A node that sends its input on unchanged."""

    def __init__(self, id: str) -> None:
        super().__init__(id, self._run, accepts=ANY, sends=(ANY,))

    async def _run(self, data: Any, ctx: Context) -> None:
        ctx.send(data)
