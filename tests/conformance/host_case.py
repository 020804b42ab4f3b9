"""Runs one case of the turn-token host on the real engine: the node and a recorder behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from studio.agents.client import RunHooks
from studio.agents.messages import (
    AgentReply,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Data,
    ErrorPart,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UsagePart,
)
from studio.agents.session import Session
from studio.engine import ANY, Codec, Context, FunctionExecutor, Workflow, WorkflowBuilder, decode, encode
from studio.engine import events as e
from studio.engine.hosts import TurnTokenHost, TurnTokenOptions
from studio.engine.values import ResetChat, TurnToken

Json = dict[str, Any]


class CaseAgent:
    """Answers with the case's replies; streamed one update per part."""

    def __init__(self, name: str, replies: Sequence[Any], seen: list[list[Json]]) -> None:
        self.name = name
        self.sessions = 0
        self.streamed = False
        self._replies = list(replies)
        self._seen = seen

    def new_session(self) -> Session:
        self.sessions += 1
        return Session(f"s{self.sessions}")

    async def run(
        self,
        messages: Sequence[Message],
        *,
        session: Session,
        updates: Callable[[AgentUpdate], None] | None = None,
        hooks: RunHooks | None = None,
    ) -> AgentReply:
        self._seen.append([shown(message) for message in messages])
        self.streamed = updates is not None
        reply = self._replies.pop(0)
        if reply == "!error":
            raise RuntimeError("agent failed")
        found = tuple(message(m) for m in reply)
        if updates is not None:
            for m in found:
                for p in m.parts:
                    updates(AgentUpdate((p,), m.role, m.author))
        return AgentReply(tuple(_joined(m) for m in found))


def _joined(m: Message) -> Message:
    """Text parts in a row as one, as an aggregation of updates gives them."""
    parts: list[Part] = []
    for p in m.parts:
        if parts and isinstance(p, Text) and isinstance(parts[-1], Text):
            parts[-1] = Text(parts[-1].text + p.text)
        else:
            parts.append(p)
    return Message(m.role, tuple(parts), m.author)


def part(given: Json) -> Part:
    """A part of the case format."""
    ((kind, value),) = given.items()
    made: dict[str, Callable[[], Part]] = {
        "text": lambda: Text(value),
        "reasoning": lambda: Reasoning(value),
        "call": lambda: ToolCall(value, "tool"),
        "result": lambda: ToolResult(value, "result"),
        "approval": lambda: ApprovalRequest(value, ToolCall(f"call of {value}", "tool")),
        "approval_response": lambda: ApprovalResponse(value, True, ToolCall(f"call of {value}", "tool")),
        "usage": lambda: UsagePart(Usage(1, 1)),
        "data": lambda: Data(value, type="data"),
        "uri": lambda: Data(value),
        "hosted_file": lambda: Data(value, type="hosted_file"),
        "error": lambda: ErrorPart(value),
    }
    return made[kind]()


def message(given: Json) -> Message:
    """A message of the case format."""
    return Message(given["role"], tuple(part(p) for p in given["parts"]), given.get("author"))


def shown(m: Message) -> Json:
    """A message in the case format."""
    return {"role": m.role, "author": m.author, "parts": [shown_part(p) for p in m.parts]}


def shown_part(p: Part) -> Json:
    """A part in the case format."""
    match p:
        case Text(text):
            return {"text": text}
        case Reasoning(text):
            return {"reasoning": text}
        case ToolCall():
            return {"call": p.call_id}
        case ToolResult():
            return {"result": p.call_id}
        case ApprovalRequest():
            return {"approval": p.id}
        case ApprovalResponse():
            return {"approval_response": p.id}
        case UsagePart():
            return {"usage": True}
        case Data():
            return {p.type: p.uri}
        case ErrorPart():
            return {"error": p.message}


class HostCase:
    """The node under test with everything that was seen and sent."""

    def __init__(self, case: Json) -> None:
        self.case = case
        self.seen: list[list[Json]] = []
        self.agent = CaseAgent(case["agent"], case["replies"], self.seen)
        self.workflow = self._workflow()

    def _workflow(self) -> Workflow:
        async def record(data: Any, ctx: Context) -> None:
            pass

        self.host = TurnTokenHost(self.agent, self.case["executor_id"], TurnTokenOptions(**self.case["options"]))
        recorder = FunctionExecutor("recorder", record, accepts=ANY, sends=())
        return WorkflowBuilder(self.host, name="case").edge(self.host, recorder).build()

    async def step(self, do: Json) -> tuple[Json, str | None]:
        """What one step shows, and the error it ended with."""
        self.seen.clear()
        events: list[Any] = []
        error: str | None = None
        saved: Json | None = None
        try:
            if "restore_into_new_instance" in do:
                saved = await self._restore()
            else:
                await self._run(do, events)
        except Exception as failure:
            error = str(failure)
            await self._forget_queue()
        result: Json = {
            "agent_sees": self.seen[0] if self.seen else None,
            "sent": [_sent(x.data) for x in events if isinstance(x, e.MessageQueued) and x.source == self.host.id],
            "events": [entry for x in events if (entry := _event(x)) is not None],
        }
        if self.seen:
            result["streamed"] = self.agent.streamed
            result["session"] = self.agent.sessions
        if saved is not None:
            result["saved"] = saved
        return result, error

    async def _run(self, do: Json, events: list[Any]) -> None:
        if "answer" in do:
            answer = part(do["answer"])
            if do.get("as_message"):
                if self.host.handler_for(answer) is None:
                    return  # an edge drops it
                await self.workflow.run(answer, events=events)
                return
            key = "UserInput" if isinstance(answer, ApprovalResponse) else "FunctionCall"
            (content,) = do["answer"].values()
            await self.workflow.run(answers={self.host.request_id(key, content): answer}, events=events)
            return
        ((kind, value),) = do.items()
        inputs: dict[str, Callable[[], Any]] = {
            "receive": lambda: [message(m) for m in value],
            "receive_text": lambda: value,
            "token": lambda: TurnToken(value),
            "reset": ResetChat,
        }
        await self.workflow.run(inputs[kind](), events=events)

    async def _forget_queue(self) -> None:
        """What a failed step had sent is never delivered; the node keeps what it has."""
        await self.workflow.restore(replace(await self.workflow.capture(), messages=()))

    async def _restore(self) -> Json:
        """A new instance goes on from the checkpoint, which went through JSON."""
        codec = Codec()
        checkpoint = decode(encode(await self.workflow.capture(), codec), codec)
        state = cast(Mapping[str, Any], checkpoint.executors.get(self.host.id, {}))
        self.workflow = self._workflow()
        await self.workflow.restore(checkpoint)
        return {
            "buffer": [shown(m) for m in state.get("buffer", ())],
            "emit": state.get("emit"),
            "session": "session" in state,
            "pending": [*state.get("approvals", {}), *state.get("calls", {})],
        }


def _sent(data: Any) -> Json:
    if isinstance(data, TurnToken):
        return {"token": data.emit_events}
    if isinstance(data, list):
        return {"messages": [shown(m) for m in data]}
    return {"content": shown_part(data)}


def _event(event: Any) -> Json | None:
    if isinstance(event, e.RequestRaised):
        return {"request": event.request}
    if not isinstance(event, e.OutputYielded):
        return None
    if isinstance(event.data, AgentUpdate):
        return {"update": [shown_part(p) for p in event.data.parts]}
    return {"response": [shown(m) for m in event.data.messages]}


async def run_case(case: Json, make: Callable[[Json], HostCase] = HostCase) -> list[str]:
    """Runs all steps; gives what differs from what the case expects, one line each."""
    problems: list[str] = []
    run = make(case)
    for number, step in enumerate(case["steps"]):
        got, error = await run.step(step["do"])
        if bool(step.get("error")) != bool(error):
            problems.append(f"step {number}: expected error {step.get('error')!r}, got {error!r}")
        for key in ("agent_sees", "sent", "events", "streamed", "session", "saved"):
            if key in step and got.get(key) != step[key]:
                problems.append(f"step {number}: {key}\n  expected {step[key]}\n  got      {got.get(key)}")
    return problems
