"""Tools an agent may call: declaration, argument checks, running one call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from studio.agents.messages import ToolCall

Approval = Literal["never", "always", "caller"]

REJECTED = "Error: Tool call invocation was rejected by user."
FAILED = "Error: Function failed."
BAD_ARGUMENTS = "Error: Argument parsing failed."


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model sees it, and its code."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    """JSON Schema of the arguments object; None: no arguments."""
    run: Callable[[dict[str, Any]], Awaitable[Any]] | None = None
    """None: the caller runs it and answers with a tool result."""
    approval: Approval = "never"
    """Whether a person is asked first; "caller" as if ``run`` were None."""
    max_invocations: int | None = None
    """How often it may run in one session; a further call is an error result."""
    max_invocation_exceptions: int | None = None
    """How often it may fail in one session; a further call is an error result."""
    timeout: float | None = None
    """Seconds of one call, after which it is cancelled and its result is an error."""

    @property
    def caller_runs(self) -> bool:
        """Whether the call ends the turn and waits for a result from outside."""
        return self.run is None or self.approval == "caller"

    @property
    def asks(self) -> bool:
        """Whether a person must approve each call."""
        return self.approval == "always"

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments object."""
        return self.parameters if self.parameters is not None else {"type": "object", "properties": {}}


class EndTurn(Exception):
    """Raised by a tool: its result is ``result``, and the turn ends without asking the model again."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(result)


class ToolFailure(Exception):
    """Raised by a tool: its text is the error that the model sees, so that it can do better."""


class ArgumentsError(ValueError):
    """The arguments of a call do not fit the tool."""


def parse_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; raises :class:`ArgumentsError` for cut or foreign JSON."""
    text = call.arguments.strip()
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ArgumentsError("arguments incomplete") from error
    if not isinstance(value, dict):
        raise ArgumentsError("arguments are not an object")
    return value


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _fits(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, _TYPES.get(name, (object,)))


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """The framework's own check of the top level: required, unexpected, enum, type; raises ArgumentsError."""
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        raise ArgumentsError(f"missing: {', '.join(missing)}")
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        unexpected = [name for name in arguments if name not in properties]
        if unexpected:
            raise ArgumentsError(f"unexpected: {', '.join(unexpected)}")
    for name, value in arguments.items():
        declared = properties.get(name)
        if not isinstance(declared, Mapping):
            continue
        allowed = declared.get("enum")
        if allowed and value not in allowed:
            raise ArgumentsError(f"{name}: not one of {allowed!r}")
        kinds = declared.get("type")
        names = [kinds] if isinstance(kinds, str) else [k for k in kinds or () if isinstance(k, str)]
        if names and not any(_fits(value, kind) for kind in names):
            raise ArgumentsError(f"{name}: expected {' or '.join(names)}, got {type(value).__name__}")


def result_text(value: Any) -> str:
    """What the model sees of a tool's return value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
