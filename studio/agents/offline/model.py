"""What the built-in model answers: a pure function of the request.

A restored run, a fork and a second process get the same answers, because nothing is counted outside the request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.agents.offline import plausible
from studio.agents.wire import wire_name

Json = Mapping[str, Any]

_INSTRUCTIONS = ("system", "developer")
_UNSCRIPTED_DELAY = 0.015
"""Seconds between chunks of an answer without script, unless the script sets a speed."""


@dataclass(frozen=True, slots=True)
class OfflineReply:
    """One answer, before it is put into the protocol. ``delay`` is in seconds, before each chunk but the first."""

    chunks: tuple[str, ...] = ()
    calls: tuple[Json, ...] = ()
    wait: float = 0
    delay: float = 0
    status: int = 200
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


class OfflineModel:
    """The model of one workflow.

    ``script`` is the document's ``offline`` section: ``{"nodes": {id: {"replies": [...], "then": "repeat_last"}},
    "delay_ms": n}``. ``instructions_by_node`` tells over HTTP which node asks: the system message must be
    its instructions, or begin with them. ``names_by_node``: the agents' names where they differ from the node ids.
    ``sleep`` is what waits between chunks.
    """

    name = "offline"

    def __init__(
        self,
        script: Json,
        instructions_by_node: Mapping[str, str],
        names_by_node: Mapping[str, str] | None = None,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._scripts: Json = script.get("nodes") or {}
        self._delay = float(script.get("delay_ms") or 0) / 1000
        self._instructions = dict(instructions_by_node)
        self._names = dict(names_by_node or {})
        self.sleep = sleep

    def reply(self, body: Json, node: str | None = None) -> OfflineReply:
        """The answer to a Chat Completions body. ``node`` is known inside the process, else found."""
        messages = [m for m in body.get("messages") or () if isinstance(m, Mapping)]
        if node is None:
            node = self.node_of(messages)
        script = self._scripts.get(node)
        entries = script.get("replies") if isinstance(script, Mapping) else None
        spoken = [m for m in messages if m.get("role") not in _INSTRUCTIONS]
        if isinstance(script, Mapping) and isinstance(entries, Sequence) and entries:
            entry = _choose(entries, script.get("then"), messages, self._own_names(node))
            reply = self._scripted(entry, spoken)
        else:
            reply = self._unscripted(body, messages)
        tokens = 3 + sum(_tokens(_text(m)) + 4 for m in messages) + _tokens(json.dumps(body.get("tools") or ""))
        output = sum(_tokens(c) for c in reply.chunks) + sum(_tokens(json.dumps(dict(c))) for c in reply.calls)
        return OfflineReply(
            reply.chunks, reply.calls, reply.wait, reply.delay, reply.status, reply.error, tokens, output
        )

    def node_of(self, messages: Sequence[Json]) -> str:
        """The node whose instructions are the system message; "" if there is none. A scripted one comes first."""
        system = next((_text(m) for m in messages if m.get("role") in ("system", "developer")), "")
        found = [n for n, text in self._instructions.items() if text == system]
        found = found or [n for n, text in self._instructions.items() if text.strip() == system.strip()]
        found = found or self._beginning(system)
        return next((n for n in found if n in self._scripts), found[0] if found else "")

    def _beginning(self, system: str) -> list[str]:
        """The nodes with the longest instructions that the message begins with: providers add to instructions."""
        fits = {n: text.strip() for n, text in self._instructions.items() if text.strip()}
        fits = {n: text for n, text in fits.items() if system.strip().startswith(text)}
        longest = max(map(len, fits.values()), default=0)
        return [n for n, text in fits.items() if len(text) == longest]

    def name_of(self, node: str) -> str:
        """The name by which a node speaks."""
        return wire_name(self._names.get(node, node))

    def is_said_by(self, node: str, message: Json) -> bool:
        """Whether a scripted reply of the node has the text or the calls of a message."""
        script, text, calls = self._scripts.get(node), _text(message), _called(message.get("tool_calls") or ())
        entries = script.get("replies") if isinstance(script, Mapping) else None
        for given in entries if isinstance(entries, Sequence) else ():
            entry: Json = {"text": given} if isinstance(given, str) else given
            reply = self._scripted(entry, ())
            if calls:
                if calls == _called([{"function": call} for call in reply.calls]):
                    return True
            elif text and (text.startswith(str(entry["echo"])) if "echo" in entry else text == "".join(reply.chunks)):
                return True
        return False

    def _own_names(self, node: str) -> set[str]:
        return {wire_name(node), wire_name(self._names.get(node, node))}

    def _scripted(self, entry: Json | None, messages: Sequence[Json]) -> OfflineReply:
        if entry is None:
            return OfflineReply(status=500, error="script exhausted")
        wait = float(entry.get("wait_ms") or 0) / 1000
        status = int(entry.get("status") or 0)
        if "error" in entry or status >= 400:
            return OfflineReply(wait=wait, status=status or 500, error=str(entry.get("error") or f"status {status}"))
        first = sum(len(m.get("tool_calls") or ()) for m in messages) + 1
        calls = tuple(
            {
                "id": str(call.get("id") or f"call_{number}"),
                "name": str(call.get("tool") or ""),
                "arguments": json.dumps(call.get("arguments") or {}, ensure_ascii=False),
            }
            for number, call in enumerate(entry.get("calls") or (), first)
        )
        return OfflineReply(self._chunks(entry, messages), calls, wait, self._delay)

    def _chunks(self, entry: Json, messages: Sequence[Json]) -> tuple[str, ...]:
        if "chunks" in entry:
            return tuple(str(c) for c in entry["chunks"])
        if "echo" in entry:
            text = f"{entry['echo']}{_text(messages[-1]) if messages else ''}"
        elif "text" in entry:
            text = str(entry["text"])
        else:
            return ()
        return plausible.pieces(text) if self._delay else (text,)

    def _unscripted(self, body: Json, messages: Sequence[Json]) -> OfflineReply:
        delay = self._delay or _UNSCRIPTED_DELAY
        tool = _forced_tool(body)
        if tool is not None:
            number = sum(len(m.get("tool_calls") or ()) for m in messages) + 1
            arguments = json.dumps(plausible.sample(tool.get("parameters") or {}), ensure_ascii=False)
            return OfflineReply((), ({"id": f"call_{number}", "name": tool["name"], "arguments": arguments},), 0, delay)
        form = body.get("response_format") or {}
        if form.get("type") == "json_schema":
            value = plausible.sample(form.get("json_schema", {}).get("schema") or {})
            return OfflineReply(plausible.pieces(json.dumps(value, ensure_ascii=False)), (), 0, delay)
        if form.get("type") == "json_object":
            return OfflineReply(('{"answer": "offline answer"}',), (), 0, delay)
        system = next((_text(m) for m in messages if m.get("role") in ("system", "developer")), "")
        last = next((_text(m) for m in reversed(messages) if m.get("role") in ("user", "assistant", "tool")), "")
        return OfflineReply(plausible.pieces(plausible.answer(system, last)), (), 0, delay)


def _choose(entries: Sequence[Any], then: Any, messages: Sequence[Json], own: set[str]) -> Json | None:
    """The first entry whose conditions fit, else number n of those without conditions."""
    plain: list[Json] = []
    for given in entries:
        entry: Json = {"text": given} if isinstance(given, str) else given
        if "when" not in entry and "when_seen" not in entry:
            plain.append(entry)
        elif _fits(entry, messages):
            return entry
    number = turns_taken([m for m in messages if m.get("role") not in _INSTRUCTIONS], own)
    if number < len(plain):
        return plain[number]
    return plain[-1] if plain and then == "repeat_last" else None


def _fits(entry: Json, messages: Sequence[Json]) -> bool:
    if "when" in entry and not (messages and str(entry["when"]) in _text(messages[-1])):
        return False
    return "when_seen" not in entry or any(str(entry["when_seen"]) in _text(m) for m in messages)


def turns_taken(messages: Sequence[Json], own: set[str]) -> int:
    """How many model messages of this agent are in the request; each counts once.

    Inside a loop a transcript comes twice, from the session and from the conversation passed on: the repeated part
    is left out. A message without a name is the agent's own if it calls tools (the round-trip in progress) or if
    no message has a name at all (a caller that sends none).
    """
    shown = list(messages)
    for length in range(len(shown) // 2, 0, -1):
        if [_key(m) for m in shown[:length]] == [_key(m) for m in shown[length : 2 * length]]:
            shown = shown[length:]
            break
    named = any(m.get("name") for m in shown)

    def is_own(message: Json) -> bool:
        if message.get("role") != "assistant":
            return False
        name = message.get("name")
        return name in own if name else bool(message.get("tool_calls")) or not named

    return sum(is_own(m) for m in shown)


def _key(message: Json) -> tuple[str, str, str]:
    return str(message.get("role")), _text(message), json.dumps(message.get("tool_calls") or [], sort_keys=True)


def _called(calls: Sequence[Json]) -> list[tuple[str, Any]]:
    """Name and arguments of each call; arguments that are no JSON stay a text."""
    found: list[tuple[str, Any]] = []
    for call in calls:
        function = call.get("function") or {}
        arguments: Any = function.get("arguments")
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments or "{}")
        found.append((str(function.get("name")), arguments))
    return found


def _forced_tool(body: Json) -> dict[str, Any] | None:
    """The tool that must be called, if one must."""
    tools = [t.get("function") for t in body.get("tools") or () if isinstance(t, Mapping)]
    named = [dict(t) for t in tools if isinstance(t, Mapping) and t.get("name")]
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping):
        wanted = (choice.get("function") or {}).get("name")
        return next((t for t in named if t["name"] == wanted), None)
    return named[0] if choice in ("required", "any") and named else None


def _text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(p["text"]) for p in parts if isinstance(p, Mapping) and "text" in p)


def _tokens(text: str) -> int:
    """An estimate that is the same every time: a token for four characters."""
    return math.ceil(len(text) / 4)
