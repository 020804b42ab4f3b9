"""Runs a case on the engine and writes down what happened, in the shape of ``expect``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from studio.checkpoints import Checkpoint, CheckpointStore, PendingRequest, QueuedMessage
from studio.engine import WorkflowError
from studio.engine import events as e
from studio.engine.workflow import Order

from tests.conformance.build import CaseBuilder
from tests.conformance.forms import form, value
from tests.fakes.scripted_client import ScriptedError

CLASSES = {
    "ScriptedError": "ScriptedFailure",
    "RunRejected": "RuntimeError",
    "AnswerRejected": "ValueError",
    "RoutingError": "RuntimeError",
    "ResumeError": "WorkflowCheckpointException",
    "ConvergenceError": "WorkflowConvergenceException",
}
"""Names of the framework's classes; events show them."""


class OneAtATime:
    """A gate that holds the first run of ``run_twice_at_once`` until the second was refused."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.reached = asyncio.Event()

    async def before_superstep(self, superstep: int, queued: Any) -> None:
        self.reached.set()
        await self.open.wait()

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> None: ...

    async def before_model_call(self, node: str, messages: Any, inside: tuple[str, ...]) -> None: ...


class CaseRun:
    """One case from building to the last action."""

    def __init__(self, case: Mapping[str, Any], store: CheckpointStore, order: Order) -> None:
        self._case = case
        self._store = store if case.get("checkpointing") else None
        self._builder = CaseBuilder(case["name"], order)
        self._requests: dict[str, str] = {}
        self._data: dict[str, Any] = {}
        self._checkpoints: list[str] = []

    async def run(self) -> dict[str, Any]:
        """The whole case."""
        try:
            self._workflow = self._builder.build(self._case["graph"])
        except WorkflowError as error:
            return {"build_error": self._error(error, self._case["expect"].get("build_error"))}
        expected = self._case["expect"].get("steps", [])
        steps = []
        for at, action in enumerate(self._case["actions"]):
            wanted = expected[at].get("error") if at < len(expected) else None
            steps.append(await self._step(action, wanted))
        return {"steps": steps}

    async def _step(self, action: Mapping[str, Any], wanted: Any) -> dict[str, Any]:
        events: list[e.Event] = []
        self._builder.agent_calls.clear()
        self._builder.model_calls.clear()
        error = None
        try:
            if action["do"] == "run_twice_at_once":
                await self._twice(action, events)
            else:
                await self._act(action, events)
        except Exception as raised:
            error = raised
        step = {**self._trace(events), **await self._after()}
        if error is not None:
            step["error"] = self._error(error, wanted)
        return step

    async def _act(self, action: Mapping[str, Any], events: list[e.Event]) -> None:
        do, given = action["do"], {}
        if "input" in action:
            given["data"] = value(action["input"])
        if "responses" in action:
            given["answers"] = {self._id(ref): value(a, self._data.get(ref)) for ref, a in action["responses"].items()}
        if "checkpoint" in action:
            ref = action["checkpoint"]
            known = ref[1:].isdigit() and int(ref[1:]) < len(self._checkpoints)
            given["checkpoint"] = self._checkpoints[int(ref[1:])] if known else ref
        if do == "cancel":
            given["cancel"] = [self._id(ref) for ref in action["requests"]]
        if do == "resume" and action.get("instance") == "fresh":
            variants = self._case.get("variants", {})
            graph = variants[action["variant"]] if "variant" in action else self._case["graph"]
            self._workflow = self._builder.build(graph)
        stream = bool(action.get("stream"))
        await self._workflow.run(events=events, store=self._store, stream=stream, **given)

    async def _twice(self, action: Mapping[str, Any], events: list[e.Event]) -> None:
        gate, data = OneAtATime(), value(action["input"])
        async with asyncio.TaskGroup() as group:
            run = self._workflow.run(data, events=events, store=self._store, stream=True, gate=gate)
            group.create_task(run)
            await gate.reached.wait()
            try:
                await self._workflow.run(data)
            except WorkflowError as refused:
                error = refused
            gate.open.set()
        raise error

    def _id(self, ref: str) -> str:
        return next((id for id, known in self._requests.items() if known == ref), ref)

    def _ref(self, request: str, data: Any = None) -> str:
        ref = self._requests.setdefault(request, f"r{len(self._requests) + 1}")
        if data is not None:
            self._data[ref] = data
        return ref

    # ------------------------------------------------------------------------------------------------- trace

    def _trace(self, events: list[e.Event]) -> dict[str, Any]:
        before: list[Any] = []
        supersteps: list[dict[str, Any]] = []
        after: list[Any] = []
        outputs: dict[bool, list[Any]] = {True: [], False: []}
        into = before
        for event in events:
            if getattr(event, "inside", ()):
                continue
            if isinstance(event, e.SuperstepStarted):
                supersteps.append({"superstep": event.superstep, "completed": False, "events": []})
                into = supersteps[-1]["events"]
            elif isinstance(event, e.SuperstepFinished):
                supersteps[-1]["completed"] = True
                into = after
            elif isinstance(event, e.RunFailed):
                into = after if supersteps else before
            if isinstance(event, e.OutputYielded):
                outputs[event.intermediate].append(form(event.data))
            shown = self._shown(event)
            if shown is not None:
                into.append(shown)
        step: dict[str, Any] = {"trace": {"before": before, "supersteps": supersteps, "after": after}}
        step["outputs"] = outputs[False]
        if outputs[True]:
            step["intermediate_outputs"] = outputs[True]
        return step

    def _shown(self, event: e.Event) -> dict[str, Any] | None:
        show: Callable[[Any], dict[str, Any]] | None = _SHOWN.get(type(event))
        if isinstance(event, e.RequestRaised):
            return {
                "type": "request_info",
                "request": self._ref(event.request, event.data),
                "executor": event.node,
                "data": form(event.data),
                "response_type": {"PlanReview": "plan_review"}.get(event.response_type, event.response_type),
            }
        return show(event) if show else None

    # ------------------------------------------------------------------------------------------- what is left

    async def _after(self) -> dict[str, Any]:
        workflow = self._workflow
        left = {
            "final_state": workflow.state,
            "pending_requests": [self._ref(r.id) for r in workflow.pending_requests],
            "agent_calls": list(self._builder.agent_calls),
            "model_calls": list(self._builder.model_calls),
            "shared_state": form(workflow.shared_state),
        }
        if workflow.queued:
            left["undelivered"] = [self._message(m) for m in workflow.queued]
        if self._store is not None:
            infos = await self._store.infos()
            new = [info.id for info in infos if info.id not in self._checkpoints]
            self._checkpoints.extend(new)
            left["checkpoints"] = [
                {**self._refs(c), **self._checkpoint(c)} for c in [await self._store.load(id) for id in new]
            ]
        return left

    def _refs(self, checkpoint: Checkpoint) -> dict[str, Any]:
        def ref(id: str | None) -> str | None:
            return None if id is None else f"c{self._checkpoints.index(id)}"

        return {"ref": ref(checkpoint.id), "parent": ref(checkpoint.parent)}

    def _checkpoint(self, checkpoint: Checkpoint) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "iteration": checkpoint.superstep,
            "messages": [self._message(m) for m in checkpoint.messages],
            "pending_requests": [self._ref(r.id) for r in checkpoint.requests],
            "state": form(dict(checkpoint.state)),
            "executors": {},
        }
        for node, state in checkpoint.executors.items():
            saved = self._saved(state)
            if saved:
                shown["executors"][node] = saved
        buffers = [{"to": ms[0].target or key, "waiting": _by_source(ms)} for key, ms in checkpoint.fan_in.items()]
        if buffers:
            targets = {edge.key: edge.target for edge in self._workflow.edges if hasattr(edge, "key")}
            shown["fan_in_buffers"] = [
                {"to": targets[key], "waiting": buffer["waiting"]}
                for key, buffer in zip(checkpoint.fan_in, buffers, strict=True)
            ]
        return shown

    def _saved(self, state: Mapping[str, Any]) -> dict[str, Any]:
        if "sub_workflow" in state:
            return {"sub_workflow": self._checkpoint(state["sub_workflow"])}
        if "session" not in state:
            return form(dict(state))
        shown = {
            "cache": form(list(state.get("cache", ()))),
            "full_conversation": form(list(state.get("full_conversation", ()))),
            "session_history": form(state["session"]["messages"]),
            "pending_requests": [self._ref(id) for id in state.get("open", {})],
            "queued_responses": form(list(state.get("answers", {}).values())),
        }
        return {key: saved for key, saved in shown.items() if saved}

    def _message(self, message: QueuedMessage) -> dict[str, Any]:
        shown = {"from": message.source, "to": message.target, "data": form(message.data)}
        request: PendingRequest | None = message.request
        return shown if request is None else {**shown, "kind": "response", "answers": self._ref(request.id)}

    def _error(self, error: Exception, wanted: Any) -> dict[str, Any]:
        if not isinstance(error, WorkflowError):
            family = "scripted_failure" if type(error).__name__ in ("ScriptedFailure", "ScriptedError") else "other"
            return {"family": family, "class": type(error).__name__, "message": str(error)}
        shown: dict[str, Any] = {"family": error.family, "class": type(error).__name__}
        # Our messages name nodes also where the framework's do not; that is compared only where a case does.
        if wanted and "mentions" in wanted:
            shown["mentions"] = sorted(error.nodes)
        return shown


def _by_source(messages: tuple[QueuedMessage, ...]) -> dict[str, list[Any]]:
    waiting: dict[str, list[Any]] = {}
    for message in messages:
        waiting.setdefault(message.source, []).append(form(message.data))
    return waiting


def _name(error: str) -> str:
    return CLASSES.get(error, error)


def _finished(event: e.NodeFinished) -> dict[str, Any]:
    shown = {"type": "executor_completed", "executor": event.node}
    return {**shown, "data": form(event.data)} if event.data else shown


_GROUP_CHAT = {
    "group_chat_request_sent": "GroupChatRequestSentEvent",
    "group_chat_response_received": "GroupChatResponseReceivedEvent",
}


def _own(event: e.NodeEvent) -> dict[str, Any]:
    if event.kind == "magentic_orchestrator":
        data = {"event_type": event.data["event_type"], "content": form(event.data["content"])}
        return {"type": event.kind, "executor": event.node, "data": {"$": "MagenticOrchestratorEvent", **data}}
    if event.kind == "handoff_sent":
        return {"type": "handoff_sent", "data": {"$": "HandoffSentEvent", **event.data}}
    return {"type": "group_chat", "data": {"$": _GROUP_CHAT[event.kind], **event.data}}


_SHOWN: dict[type, Callable[[Any], dict[str, Any]]] = {
    e.RunStarted: lambda v: {"type": "started"},
    e.StatusChanged: lambda v: {"type": "status", "state": v.state},
    e.NodeStarted: lambda v: {
        "type": "executor_invoked",
        "executor": v.node,
        "from": list(v.sources),
        "data": form(v.data),
    },
    e.NodeFinished: _finished,
    e.NodeFailed: lambda v: {"type": "executor_failed", "executor": v.node, "error": _name(v.error)},
    e.OutputYielded: lambda v: {
        "type": "intermediate" if v.intermediate else "output",
        "executor": v.node,
        "data": form(v.data),
    },
    e.RunFailed: lambda v: {"type": "failed", "error": _name(v.error)},
    e.NodeEvent: _own,
}

__all__ = ["CaseRun", "ScriptedError"]
