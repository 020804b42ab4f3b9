"""Finding out what a model can do: a few small calls without user data, one after the other, each with its own time.

Every step gives :class:`Finding` values with the evidence in words. What a refusal teaches (the name of the answer
limit, how a tool is forced, how a schema is asked for) ends in :attr:`ProbeResult.switches`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from studio.agents.cassettes import CallEntry, Cassette, recording
from studio.agents.client import ChatOptions, ChatRequest, NoHooks, ToolChoice
from studio.agents.connection import ClientSettings, connect, is_loopback
from studio.agents.errors import ProviderError
from studio.agents.messages import AgentReply, AgentUpdate, Data, Message, Text, ToolCall, ToolResult, Usage, user
from studio.agents.openai_client import OpenAIChatClient
from studio.agents.reading import provider_errors
from studio.agents.redaction import redact
from studio.agents.switches import AnswerFormat, Switches
from studio.agents.tools import Tool

Works = Literal["yes", "no", "partly", "not tried"]
STEPS = ("models", "stream", "tools", "tool_results", "forced_tool", "json_schema", "vision", "model_name")
MOST_CALLS, MOST_TOKENS = 12, 900
"""What a probe costs at most, roughly; said before it starts."""
_SECONDS, _FIRST_SECONDS_LOCAL = 20.0, 120.0
_LIMIT = 64
_REFUSALS = 4
_MOST_OF_AN_ANSWER = 4000
_ONE_PIECE = 0.05
"""Seconds within which all chunks come if a server only pretends to stream."""
_RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQV"
    "R42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
)
_WEATHER = Tool(
    "get_weather",
    "Tells the weather in a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_TIME = Tool("get_time", "Tells the time in a city", _WEATHER.parameters)
_OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the result. ``key``: connection, models, streaming, usage, tools, parallel_tools, tool_results,
    forced_tool, json_schema, vision or model_name."""

    key: str
    works: Works
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What was found. ``usage``: tokens of all calls, None if nobody told any; ``stopped``: why it ended early."""

    findings: tuple[Finding, ...]
    switches: Switches
    usage: Usage | None = None
    calls: int = 0
    models: tuple[str, ...] = ()
    stopped: str = ""
    said: str = ""
    """Every request and its answer as text, without secrets."""

    def works(self, key: str) -> Works:
        """What was found about one capability."""
        return next((f.works for f in self.findings if f.key == key), "not tried")


@dataclass(slots=True)
class Probe:
    """One probe of one model. ``told`` hears each finding; ``began`` the name of each step (of :data:`STEPS`)."""

    settings: ClientSettings
    vision: bool = False
    told: Callable[[Finding], None] | None = None
    began: Callable[[str], None] | None = None
    clock: Callable[[], float] = time.perf_counter
    _found: list[Finding] = field(default_factory=list, init=False)
    _models: tuple[str, ...] = field(default=(), init=False)
    _usages: list[Usage | None] = field(default_factory=list, init=False)
    _calls: int = field(default=0, init=False)
    _asked: AgentReply | None = field(default=None, init=False)
    """The answer with tool calls, for the step that gives their results."""

    async def run(self) -> ProbeResult:
        """The whole probe. Raises nothing but cancelling: what goes wrong is a finding."""
        cassette = Cassette()
        client = OpenAIChatClient(recording(replace(self.settings, tries=1, name_node=False), cassette))
        stopped = ""
        try:
            stopped = await self._steps(client)
        finally:
            await client.close()
        usage: Usage | None = None
        for one in self._usages:
            known = one if one is not None else Usage()
            usage = known if usage is None else usage + known
        secrets = (self.settings.api_key, *self.settings.headers.values())
        said = str(redact("\n\n".join(_said(entry) for entry in cassette.calls), secrets))
        return ProbeResult(tuple(self._found), client.switches, usage, self._calls, self._models, stopped, said)

    async def _steps(self, client: OpenAIChatClient) -> str:
        steps: tuple[tuple[str, str, Callable[[OpenAIChatClient], Awaitable[None]]], ...] = (
            ("models", "models", self._list_models),
            ("stream", "streaming", self._stream),
            ("tools", "tools", self._tools),
            ("tool_results", "tool_results", self._tool_results),
            ("forced_tool", "forced_tool", self._forced_tool),
            ("json_schema", "json_schema", self._schema),
            ("vision", "vision", self._see),
            ("model_name", "model_name", self._wrong_name),
        )
        for number, (step, key, work) in enumerate(steps):
            if step == "vision" and not self.vision:
                self._tell("vision", "not tried", "a picture was not sent")
                continue
            if self.began is not None:
                self.began(step)
            first = number <= 1 and is_loopback(self.settings.base_url)
            seconds = _FIRST_SECONDS_LOCAL if first else _SECONDS
            try:
                async with asyncio.timeout(seconds):
                    await work(client)
            except TimeoutError:
                self._tell(key, "no", f"no answer within {seconds:.0f} s")
                if step == "stream":
                    return f"no answer within {seconds:.0f} s"
            except ProviderError as error:
                if step == "models" and error.kind not in ("unreachable", "tls", "bad_key"):
                    self._tell("connection", "yes", "the server answers")
                    self._tell("models", "no", "this server has no list of models: type the name")
                    continue
                self._tell(key, "no", str(error))
                if step in ("models", "stream"):
                    return str(error)
        return ""

    def _tell(self, key: str, works: Works, evidence: str = "") -> None:
        finding = Finding(key, works, evidence)
        self._found.append(finding)
        if self.told is not None:
            self.told(finding)

    async def _ask(
        self,
        client: OpenAIChatClient,
        *messages: Message,
        chunk: Callable[[AgentUpdate], None] | None = None,
        **more: Any,
    ) -> AgentReply:
        options = ChatOptions(max_tokens=more.pop("limit", _LIMIT), **{k: v for k, v in more.items() if k != "tools"})
        self._calls += 1
        request = ChatRequest(messages, tools=more.get("tools", ()), options=options, call=f"p{self._calls}")
        for _ in range(_REFUSALS):
            before = client.switches
            try:
                reply = await client.complete(request, chunk=chunk, hooks=NoHooks())
            except ProviderError:
                if client.switches == before:
                    raise
                continue  # a call learns from one refusal; a server may have several
            self._usages.append(reply.usage)
            return reply
        raise ProviderError("bad_request", "the server refuses one setting after the other")

    # ------------------------------------------------------------------------------------------------------- steps

    async def _list_models(self, _client: OpenAIChatClient) -> None:
        connected = await connect(self.settings)
        try:
            async with provider_errors():
                given: Any = await connected.get("/models", cast_to=object)
        finally:
            await connected.close()
        self._tell("connection", "yes", "the server answers and takes the key")
        listed = given.get("data") if isinstance(given, dict) else given
        names = [m["id"] for m in listed if isinstance(m, dict) and isinstance(m.get("id"), str)] if isinstance(
            listed, list) else []  # fmt: skip
        self._models = tuple(sorted(dict.fromkeys(names)))
        wanted = self.settings.model
        if not names:
            self._tell("models", "no", "this server has no list of models: type the name")
        elif wanted and wanted not in names and f"models/{wanted}" not in names:
            self._tell("models", "partly", f"{len(names)} models; {wanted} is not among them")
        else:
            self._tell("models", "yes", "1 model" if len(names) == 1 else f"{len(names)} models")

    async def _stream(self, client: OpenAIChatClient) -> None:
        times: list[float] = []
        begun = self.clock()
        reply = await self._ask(
            client, user("Answer with the one word: ready"), chunk=lambda _update: times.append(self.clock())
        )
        first = (times[0] - begun) if times else self.clock() - begun
        if len(times) > 1 and times[-1] - times[0] > _ONE_PIECE:
            self._tell("streaming", "yes", f"{len(times)} chunks, the first after {first:.2f} s")
        else:
            self._tell("streaming", "partly", f"the answer came in one piece after {first:.2f} s")
        usage = reply.usage
        if usage is None or (usage.input is None and usage.output is None):
            self._tell("usage", "no", "the server tells no token counts; they are shown as unknown")
        else:
            self._tell("usage", "yes", f"{usage.input} in, {usage.output} out")

    async def _tools(self, client: OpenAIChatClient) -> None:
        text = "Use the tool for Oslo and for Lima, both at once."
        reply = await self._ask(client, user(text), chunk=_nothing, tools=(_WEATHER,), limit=200)
        calls = _calls(reply)
        if not calls:
            self._tell("tools", "partly", "no call; the model answered in words")
            return
        self._asked = reply
        good = [c for c in calls if _city(c)]
        self._tell("tools", "yes" if good else "partly", _counted(len(calls), "call") + (
            ", arguments are JSON" if good else ", but the arguments cannot be read"))  # fmt: skip
        if len(calls) > 1:
            self._tell("parallel_tools", "yes", f"{len(calls)} calls in one answer")
        else:
            self._tell("parallel_tools", "no", "one call at a time")

    async def _tool_results(self, client: OpenAIChatClient) -> None:
        if self._asked is None:
            self._tell("tool_results", "not tried", "there was no call to give a result for")
            return
        results = tuple(ToolResult(c.call_id, f"18 degrees in {_city(c)}") for c in _calls(self._asked))
        messages = (user("Use the tool for Oslo and for Lima."), *self._asked.messages, Message("tool", results))
        try:
            reply = await self._ask(client, *messages, tools=(_WEATHER,), chunk=_nothing)
        except ProviderError as error:
            if not client.switches.null_content:
                raise
            # D33: some servers take a message of calls only with an empty text
            client.switches = replace(client.switches, null_content=False)
            try:
                reply = await self._ask(client, *messages, tools=(_WEATHER,), chunk=_nothing)
            except ProviderError:
                client.switches = replace(client.switches, null_content=True)
                raise error from None
        answer = reply.text.strip()
        self._tell("tool_results", "yes" if answer or _calls(reply) else "partly", f"answered: {answer[:60]}")

    async def _forced_tool(self, client: OpenAIChatClient) -> None:
        ways: tuple[tuple[ToolChoice | str, Literal["by name", "required", "never"]], ...] = (
            ("get_weather", "by name"), ("required", "required"),
        )  # fmt: skip
        refused = ""
        for choice, way in ways:
            client.switches = replace(client.switches, forced_tool=way)
            try:
                reply = await self._ask(
                    client, user("Say hello."), tools=(_WEATHER, _TIME), tool_choice=choice, limit=120
                )
            except ProviderError as error:
                refused = str(error)
                continue
            if _calls(reply):
                way = client.switches.forced_tool  # a refusal may have changed it on the way
                self._tell("forced_tool", "yes" if way == "by name" else "partly", f"works {way}")
                return
        client.switches = replace(client.switches, forced_tool="never")
        self._tell("forced_tool", "no", refused or "the model answered in words")

    async def _schema(self, client: OpenAIChatClient) -> None:
        words: dict[AnswerFormat, str] = {
            "json_schema": "a JSON Schema is kept to",
            "json_object": "JSON is kept to, the schema is asked for in words and checked",
            "prompt": "only asked for in words and checked",
        }
        refused = ""
        before = client.switches.answer_format
        for answer_format in words:
            client.switches = replace(client.switches, answer_format=answer_format)
            try:
                reply = await self._ask(
                    client, user("Is water wet? Answer as JSON."), response_schema=_OK, response_name="answer"
                )
            except ProviderError as error:
                refused = str(error)
                continue
            if _is_ok(reply.text):
                found = client.switches.answer_format  # a refusal may have made it weaker on the way
                self._tell("json_schema", "yes" if found == "json_schema" else "partly", words[found])
                return
        client.switches = replace(client.switches, answer_format=before)
        self._tell("json_schema", "no", refused or "the answers were no JSON of that form")

    async def _see(self, client: OpenAIChatClient) -> None:
        message = Message("user", (Text("Which colour is this picture? One word."), Data(_RED, "image/png", "data")))
        reply = await self._ask(client, message, chunk=_nothing)
        red = "red" in reply.text.lower()
        answer = reply.text.strip()[:60]
        self._tell("vision", "yes" if red else "partly", f"a red picture was called “{answer}”")

    async def _wrong_name(self, client: OpenAIChatClient) -> None:
        try:
            await self._ask(client, user("ready"), model="superstep-no-such-model", limit=1)
        except ProviderError as error:
            self._tell("model_name", "yes", f"a wrong name is refused: {error}"[:160])
        else:
            self._tell("model_name", "no", "this server answers to any model name")


def _said(entry: CallEntry) -> str:
    """A call as one reads it."""
    answer = b"".join(piece for _, piece in entry.chunks).decode("utf-8", "replace").strip()
    return f"→ {json.dumps(entry.request, ensure_ascii=False)}\n← {entry.status} {answer[:_MOST_OF_AN_ANSWER]}"


def _nothing(_update: AgentUpdate) -> None:
    """Streams and keeps the whole answer only."""


def _calls(reply: AgentReply) -> list[ToolCall]:
    return [p for m in reply.messages for p in m.parts if isinstance(p, ToolCall)]


def _city(call: ToolCall) -> str:
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return ""
    city = value.get("city") if isinstance(value, dict) else None
    return city if isinstance(city, str) else ""


def _is_ok(text: str) -> bool:
    text = text.strip()
    if text.startswith("```"):  # models that were asked in words fence what they answer
        text = text.partition("\n")[2].removesuffix("```")
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("ok"), bool)


def _counted(number: int, word: str) -> str:
    return f"1 {word}" if number == 1 else f"{number} {word}s"
