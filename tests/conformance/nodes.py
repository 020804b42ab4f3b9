"""Function nodes that interpret the ops of a case file, conditions and selections."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studio.agents.messages import AgentRequest, Message, user
from studio.engine import Context, Executor, Handler, ResponseHandler, SubRequest
from studio.engine.types import fits, parse_type

from tests.conformance.forms import text, value

Op = Mapping[str, Any]


class ScriptedFailure(Exception):
    """What a case raises on purpose."""


async def wait(ms: float) -> None:
    """A virtual clock: everything else goes on for as many turns of the loop."""
    for _ in range(int(ms)):
        await asyncio.sleep(0)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "always": lambda v, _: True,
    "never": lambda v, _: False,
    "text_contains": lambda v, s: s in text(v),
    "text_equals": lambda v, s: text(v) == s,
    "text_longer_than": lambda v, n: len(text(v)) > n,
    "field_equals": lambda v, a: isinstance(v, Mapping) and v.get(a["field"]) == a["value"],
    "field_at_least": lambda v, a: isinstance(v, Mapping) and v.get(a["field"], 0) >= a["value"],
    "number_at_least": lambda v, n: _number(v) and v >= n,
    "type_is": lambda v, name: fits(v, parse_type(name)),
    "not": lambda v, c: not holds(c, v),
    "all": lambda v, cs: all(holds(c, v) for c in cs),
    "any": lambda v, cs: any(holds(c, v) for c in cs),
}


def holds(condition: Mapping[str, Any], data: Any) -> bool:
    """Whether a condition of a case file holds."""
    ((kind, argument),) = condition.items()
    if kind == "error":
        raise ScriptedFailure(argument)
    return _TESTS[kind](data, argument)


def condition(form: Mapping[str, Any]) -> Callable[[Any], bool]:
    """A condition of a case file as the engine wants it."""
    return lambda data: holds(form, data)


def selection(form: Mapping[str, Any]) -> Callable[[Any, list[str]], list[str]]:
    """A selection of a case file as the engine wants it."""

    def select(data: Any, targets: list[str]) -> list[str]:
        if "fixed" in form:
            return list(form["fixed"])
        if "field" in form:
            return list(data.get(form["field"], [])) if isinstance(data, Mapping) else []
        chosen = [id for rule in form["rules"] if holds(rule["when"], data) for id in rule["to"]]
        return chosen or list(form.get("otherwise", []))

    return select


class OpsNode(Executor):
    """A function node of a case. ``failures`` counts scripted failures over the whole case."""

    def __init__(self, node: Mapping[str, Any], failures: Counter[str]) -> None:
        self._memory: list[Any] = []
        self._calls = 0
        self._checkpointed = bool(node.get("checkpointed"))
        self._failures = failures
        super().__init__(
            node["id"],
            [self._handler(h) for h in node.get("handlers", ())],
            [self._response(r) for r in node.get("responses", ())],
        )

    def _handler(self, form: Mapping[str, Any]) -> Handler:
        async def run(data: Any, ctx: Context) -> None:
            self._calls += 1
            await Ops(self, ctx, data).run(form["do"])

        return Handler(parse_type(form["accepts"]), run, _types(form, "sends"), _types(form, "yields"))

    def _response(self, form: Mapping[str, Any]) -> ResponseHandler:
        async def run(question: Any, answer: Any, ctx: Context) -> None:
            await Ops(self, ctx, answer, question).run(form["do"])

        request, response = parse_type(form["request"]), parse_type(form["response"])
        return ResponseHandler(request, response, run, _types(form, "sends"), _types(form, "yields"))

    async def save(self) -> dict[str, Any]:
        return {"memory": list(self._memory), "calls": self._calls} if self._checkpointed else {}

    async def restore(self, state: Mapping[str, Any]) -> None:
        if self._checkpointed and state:
            self._memory, self._calls = list(state["memory"]), state["calls"]

    def remember(self, item: Any) -> None:
        self._memory.append(item)

    def recall(self) -> list[Any]:
        return copy.copy(self._memory)

    @property
    def calls(self) -> int:
        return self._calls

    def fail(self, op: Op) -> None:
        """Raises, but only for the first ``times`` in the case."""
        key = f"{self.id}:{op['message']}"
        self._failures[key] += 1
        if "times" not in op or self._failures[key] <= op["times"]:
            raise ScriptedFailure(op["message"])


def _types(form: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    return tuple(parse_type(name) for name in form.get(key, ()))


class Ops:
    """One handler call."""

    def __init__(self, node: OpsNode, ctx: Context, data: Any, request: Any = None) -> None:
        self._node = node
        self._ctx = ctx
        self._value = data
        self._saved: dict[str, Any] = {"input": data, "request": request}

    async def run(self, ops: Sequence[Op]) -> None:
        for op in ops:
            if op["op"] == "if":
                await self.run(op["then"] if holds(op["when"], self._value) else op.get("else", ()))
            elif op["op"] == "wait":
                await wait(op["ms"])
            elif op["op"] in _EFFECTS:
                _EFFECTS[op["op"]](self, op)
            else:
                self._value = _CHANGES[op["op"]](self, op)

    def template(self, form: Any) -> Any:
        if isinstance(form, dict) and "$ref" in form:
            found = self._value if form["$ref"] == "value" else self._saved[form["$ref"]]
            return text(found) if form.get("as") == "text" else found
        if isinstance(form, list):
            return [self.template(item) for item in form]
        if isinstance(form, dict) and "$" not in form:
            return {key: self.template(item) for key, item in form.items()}
        return value(form)

    def given(self, op: Op) -> Any:
        return self.template(op["value"]) if "value" in op else self._value

    @property
    def text(self) -> str:
        return text(self._value)

    def bump(self, op: Op) -> Any:
        name = op["name"]
        return {**self._value, name: self._value.get(name, 0) + op.get("n", 1)}

    def to_request(self, op: Op) -> AgentRequest:
        v = self._value
        if isinstance(v, list) and all(isinstance(item, Message) for item in v):
            messages = tuple(v)
        else:
            messages = (v,) if isinstance(v, Message) else (user(text(v)),)
        return AgentRequest(messages, op.get("should_respond", True))

    def append_state(self, op: Op) -> None:
        old = self._ctx.get_state(op["key"], [])
        self._ctx.set_state(op["key"], [*old, self.given(op)])

    def answer_sub(self, op: Op) -> None:
        request: SubRequest = self._value
        self._ctx.send(request.answer(self.template(op["value"])), op.get("target", request.executor))


_CHANGES: dict[str, Callable[[Ops, Op], Any]] = {
    "upper": lambda o, op: o.text.upper(),
    "lower": lambda o, op: o.text.lower(),
    "append": lambda o, op: o.text + text(o.template(op["text"])),
    "prepend": lambda o, op: text(o.template(op["text"])) + o.text,
    "text": lambda o, op: o.text,
    "set": lambda o, op: o.template(op["value"]),
    "join": lambda o, op: op["sep"].join(text(item) for item in o._value),
    "count": lambda o, op: len(o._value),
    "add": lambda o, op: o._value + op["n"],
    "field": lambda o, op: o._value.get(op["name"]),
    "bump_field": Ops.bump,
    "to_request": Ops.to_request,
    "conversation": lambda o, op: list(o._value.conversation),
    "with_text": lambda o, op: o._value.with_text(text(o.template(op["text"]))),
    "get_state": lambda o, op: o._ctx.get_state(op["key"], op.get("default")),
    "recall": lambda o, op: o._node.recall(),
    "call_count": lambda o, op: o._node.calls,
    "sources": lambda o, op: list(o._ctx.sources),
}

_EFFECTS: dict[str, Callable[[Ops, Op], Any]] = {
    "save": lambda o, op: o._saved.__setitem__(op["as"], o._value),
    "send": lambda o, op: o._ctx.send(o.given(op), op.get("target")),
    "yield": lambda o, op: o._ctx.yield_output(o.given(op)),
    "set_state": lambda o, op: o._ctx.set_state(op["key"], o.given(op)),
    "append_state": Ops.append_state,
    "remember": lambda o, op: o._node.remember(o.given(op)),
    "request_info": lambda o, op: o._ctx.request(o.given(op), parse_type(op["response"]), op.get("id")),
    "answer_sub": Ops.answer_sub,
    "fail": lambda o, op: o._node.fail(op),
}
