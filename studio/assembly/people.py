"""Nodes that ask a person."""

from __future__ import annotations

from typing import Any

from studio.assembly.texts import fill, plain_value
from studio.assembly.types import answer_type
from studio.document.model import HumanInputNode
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.types import ANY, RecordType
from studio.engine.values import Record, TurnToken

QUESTION = "Question"
"""Type name of the request: a record with ``text``, ``answer_type`` (``text``, ``bool``, ``number``, ``integer``,
``choice`` or a declared type), ``choices`` and ``data`` (what came in, as plain data)."""


class HumanInput(Executor):
    """Asks with a request of type :data:`QUESTION`; the answer (or ``{"input", "answer"}``) is sent on. Turn tokens end
    here."""

    def __init__(self, node: HumanInputNode) -> None:
        self._node = node
        self._answer = answer_type(node.answer_type)
        self._pair = node.send == "input_and_answer"
        sends = (dict,) if self._pair else (self._answer,)
        super().__init__(
            node.id,
            (Handler(ANY, self._ask, sends),),
            (ResponseHandler(RecordType(QUESTION), self._answer, self._answered, sends),),
        )

    async def _ask(self, data: Any, ctx: Context) -> None:
        if isinstance(data, TurnToken):
            return
        text = fill(self._node.question, data, ctx.get_state)
        question = {
            "text": text,
            "answer_type": _form_type(self._node),
            "choices": list(self._node.choices),
            "data": plain_value(data),
        }
        ctx.request(Record(QUESTION, question), self._answer)

    async def _answered(self, question: Record, answer: Any, ctx: Context) -> None:
        asked = question.plain()
        ctx.send({"input": asked["data"], "answer": plain_value(answer)} if self._pair else answer)


def _form_type(node: HumanInputNode) -> str:
    if node.choices and node.answer_type in ("text", ""):
        return "choice"
    return {"boolean": "bool", "": "text"}.get(node.answer_type, node.answer_type)
