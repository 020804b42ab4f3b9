"""Runs a case on the installed Microsoft Agent Framework and writes down what happened, in the shape of ``expect``.

Function nodes interpret the same ops with the same code as on our engine; only values are translated at the border.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from typing import Any

import agent_framework as af

from tests.conformance.forms import form, value
from tests.conformance.framework_nodes import TYPES, Client, Handed, function_node, ours, theirs
from tests.conformance.nodes import condition, selection

logging.getLogger("agent_framework").setLevel(logging.CRITICAL)

Form = Mapping[str, Any]

FAMILIES = {
    "EdgeDuplicationError": "validation.edge_duplication",
    "TypeCompatibilityError": "validation.type_compatibility",
    "GraphConnectivityError": "validation.graph_connectivity",
    "WorkflowConvergenceException": "no_convergence",
    "WorkflowCheckpointException": "checkpoint",
    "ScriptedFailure": "scripted_failure",
}


class FrameworkRun:
    """One case on the framework."""

    def __init__(self, case: Form) -> None:
        self._case = case
        self._storage = af.InMemoryCheckpointStorage() if case.get("checkpointing") else None
        self._failures: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.model_calls: list[dict[str, Any]] = []
        self.agent_calls: list[dict[str, Any]] = []
        self._requests: dict[str, str] = {}
        self._data: dict[str, Any] = {}
        self._sources: dict[str, deque[list[str]]] = defaultdict(deque)
        self._top: Any = None

    async def run(self) -> dict[str, Any]:
        """The whole case."""
        try:
            self._top = self.build(self._case["graph"])
        except Exception as error:
            return {"build_error": _build_error(error)}
        return {"steps": [await self._step(action) for action in self._case["actions"]]}

    # ---------------------------------------------------------------------------------------------- building

    def build(self, graph: Form, inside: str | None = None) -> Any:
        if "orchestration" in graph:
            return self._magentic(graph)
        level: list[Any] = []
        nodes = {n.get("key", n["id"]): self._node(n, level, inside) for n in graph["nodes"]}
        options: dict[str, Any] = {}
        for ours_name, their_name in (("outputs", "output_from"), ("intermediate", "intermediate_output_from")):
            if ours_name in graph:
                named = graph[ours_name]
                options[their_name] = [nodes[k] for k in named] if isinstance(named, list) else named
        if inside is None and self._storage is not None:
            options["checkpoint_storage"] = self._storage
        builder = af.WorkflowBuilder(
            max_iterations=graph.get("max_iterations", 100),
            name=self._case["name"],
            start_executor=nodes[graph["start"]],
            **options,
        )
        for edge in graph["edges"]:
            _add(builder, edge, nodes)
        workflow = builder.build()
        level.append(workflow)
        return workflow

    def _magentic(self, graph: Form) -> Any:
        """The one orchestration that no recorded case of others exists for."""
        from agent_framework_orchestrations import MagenticBuilder, StandardMagenticManager

        level: list[Any] = []
        limits = {"max_stall_count": "max_stalls", "max_reset_count": "max_resets", "max_round_count": "max_rounds"}
        options = {theirs: graph[ours] for theirs, ours in limits.items() if ours in graph}
        manager = StandardMagenticManager(self.agent(graph["manager"], level, None), **options)
        workflow = MagenticBuilder(
            participants=[self.agent(p, level, None) for p in graph["participants"]],
            manager=manager,
            enable_plan_review=graph.get("plan_review", False),
            **({"output_from": graph["outputs"]} if "outputs" in graph else {}),
            **({"intermediate_output_from": graph["intermediate"]} if "intermediate" in graph else {}),
        ).build()
        for executor in workflow.get_executors_list():
            self._watched(executor)
        level.append(workflow)
        return workflow

    def _node(self, node: Form, level: list[Any], inside: str | None) -> Any:
        if node["kind"] == "function":
            return self._watched(function_node(node, self._failures))
        if node["kind"] == "workflow":
            return self._watched(
                af.WorkflowExecutor(
                    self.build(node["graph"], node["id"]),
                    id=node["id"],
                    allow_direct_output=node.get("direct_output", False),
                    propagate_request=node.get("propagate_requests", False),
                )
            )
        context, keep = node.get("context", "full"), None
        if isinstance(context, dict):
            keep, context = context, "custom"
        agent = self.agent(node, level, inside)
        trailing = node.get("ensure_trailing_user_turn", False)
        options: dict[str, Any] = {"context_mode": context, "ensure_trailing_user_turn": trailing}
        if keep is not None:
            options["context_filter"] = _filter(keep)
        return self._watched(af.AgentExecutor(agent, id=node["id"], **options))

    def agent(self, node: Form, level: list[Any], inside: str | None) -> af.Agent:
        name = node.get("name", node["id"])

        def log(agent: str, messages: Any) -> None:
            superstep = level[0]._runner._iteration + 1 if level else 1
            call = {"agent": agent, "superstep": superstep, "messages": messages}
            self.model_calls.append({**call, "inside": inside} if inside else call)

        def handed(messages: Any, stream: bool) -> None:
            superstep = level[0]._runner._iteration + 1 if level else 1
            call = {"agent": name, "superstep": superstep, "streaming": stream, "messages": messages}
            self.agent_calls.append({**call, "inside": inside} if inside else call)

        client = Client(node, name, log, self.counts)
        return Handed(client, name=name, id=name, description=node.get("description"), handed=handed)

    def watched(self, executor: Any) -> Any:
        """Notes where each invocation of the executor comes from."""
        return self._watched(executor)

    def _watched(self, executor: Any) -> Any:
        execute, sources = executor.execute, self._sources[executor.id]

        async def noted(message: Any, source_executor_ids: list[str], *args: Any, **kwargs: Any) -> None:
            sources.append(list(source_executor_ids))
            await execute(message, source_executor_ids, *args, **kwargs)

        executor.execute = noted
        return executor

    # ----------------------------------------------------------------------------------------------- running

    async def _step(self, action: Form) -> dict[str, Any]:
        self.model_calls.clear()
        self.agent_calls.clear()
        given: dict[str, Any] = {}
        if "input" in action:
            given["message"] = theirs(value(action["input"]))
        if "responses" in action:
            given["responses"] = {
                self._id(r): self.answer(a, self._data.get(r)) for r, a in action["responses"].items()
            }
        stream, events, error = bool(action.get("stream")), [], None
        try:
            if stream:
                async for event in self._top.run(stream=True, **given):
                    events.append(self._seen(event))
            else:
                events = await self._silent(given)
        except _Failed as failed:
            events, error = failed.events, failed.error
        except Exception as raised:
            error = raised
        step = {**self._trace(events), **await self._after()}
        if error is not None:
            step["error"] = _error(error)
        return step

    async def _silent(self, given: Mapping[str, Any]) -> list[Any]:
        """A run that does not stream; its events are taken from inside, since a failed one gives none."""
        events: list[Any] = []
        core = self._top._run_core

        async def heard(*args: Any, **kwargs: Any) -> Any:
            async for event in core(*args, **kwargs):
                events.append(self._seen(event))
                yield event

        self._top._run_core = heard
        try:
            await self._top.run(**given)
        except Exception as error:
            raise _Failed(error, events) from error
        finally:
            del self._top._run_core
        return events

    def answer(self, given: Any, data: Any) -> Any:
        return theirs(value(given))

    def _id(self, ref: str) -> str:
        return next((id for id, known in self._requests.items() if known == ref), ref)

    def _ref(self, request: str, data: Any = None) -> str:
        ref = self._requests.setdefault(request, f"r{len(self._requests) + 1}")
        if data is not None:
            self._data[ref] = data
        return ref

    def _seen(self, e: Any) -> tuple[Any, dict[str, Any] | None]:
        """An event and how it looks now: the framework goes on with the same lists and changes them."""
        return e, self._shown(e)

    def _trace(self, events: list[Any]) -> dict[str, Any]:
        before: list[Any] = []
        supersteps: list[dict[str, Any]] = []
        after: list[Any] = []
        into = before
        outputs: list[Any] = []
        between: list[Any] = []
        for e, shown in events:
            if e.type == "superstep_started":
                supersteps.append({"superstep": e.iteration, "completed": False, "events": []})
                into = supersteps[-1]["events"]
            elif e.type == "superstep_completed":
                supersteps[-1]["completed"] = True
                into = after
            elif e.type == "failed":
                into = after if supersteps else before
            if e.type in ("output", "intermediate"):
                (outputs if e.type == "output" else between).append(shown["data"])
            if shown is not None:
                into.append(shown)
        step: dict[str, Any] = {"trace": {"before": before, "supersteps": supersteps, "after": after}}
        step["outputs"] = outputs
        if between:
            step["intermediate_outputs"] = between
        return step

    def form(self, data: Any) -> Any:
        return form(ours(data))

    def _shown(self, e: Any) -> dict[str, Any] | None:
        if e.type == "started":
            return {"type": "started"}
        if e.type == "status":
            return {"type": "status", "state": e.state.value}
        if e.type == "executor_invoked":
            sources = self._sources[e.executor_id].popleft()
            return {"type": e.type, "executor": e.executor_id, "from": sources, "data": self.form(e.data)}
        if e.type == "executor_completed":
            shown = {"type": e.type, "executor": e.executor_id}
            return {**shown, "data": self.form(e.data)} if e.data else shown
        if e.type == "executor_failed":
            return {"type": e.type, "executor": e.executor_id, "error": e.details.error_type}
        if e.type in ("output", "intermediate"):
            return {"type": e.type, "executor": e.executor_id, "data": self.form(e.data)}
        if e.type == "failed":
            return {"type": "failed", "error": e.details.error_type}
        if e.type == "request_info":
            return {
                "type": e.type,
                "request": self._ref(e.request_id, e.data),
                "executor": e.source_executor_id,
                "data": self.form(e.data),
                "response_type": self.type_name(e.response_type),
            }
        return self.own_event(e)

    def own_event(self, e: Any) -> dict[str, Any] | None:
        """Events of orchestrations."""
        if e.type == "magentic_orchestrator":
            data = {"event_type": e.data.event_type.value, "content": self.form(e.data.content)}
            return {"type": e.type, "executor": e.executor_id, "data": {"$": "MagenticOrchestratorEvent", **data}}
        if e.type == "group_chat":
            shown = {"round_index": e.data.round_index, "participant_name": e.data.participant_name}
            return {"type": e.type, "data": {"$": type(e.data).__name__, **shown}}
        return None

    def type_name(self, kind: Any) -> str:
        if getattr(kind, "__name__", "") == "MagenticPlanReviewResponse":
            return "plan_review"
        return next((name for name, known in TYPES.items() if known == kind), getattr(kind, "__name__", str(kind)))

    async def _after(self) -> dict[str, Any]:
        runner = self._top._runner
        pending = await runner.context.get_pending_request_info_events()
        state = {k: v for k, v in runner._state.export_state().items() if not k.startswith("_")}
        left: dict[str, Any] = {
            "final_state": self._top.status.value,
            "pending_requests": [self._ref(id) for id in pending],
            "agent_calls": list(self.agent_calls),
            "model_calls": list(self.model_calls),
            "shared_state": self.form(state),
        }
        queued = [m for messages in runner.context._messages.values() for m in messages]
        if queued:
            left["undelivered"] = [self._message(m) for m in queued]
        return left

    def _message(self, message: Any) -> dict[str, Any]:
        shown = {"from": message.source_id, "to": message.target_id, "data": self.form(message.data)}
        asked = message.original_request_info_event
        return shown if asked is None else {**shown, "kind": "response", "answers": self._ref(asked.request_id)}


class _Failed(Exception):
    def __init__(self, error: Exception, events: list[Any]) -> None:
        super().__init__(str(error))
        self.error, self.events = error, events


def _error(error: Exception) -> dict[str, Any]:
    name = type(error).__name__
    shown: dict[str, Any] = {"family": FAMILIES.get(name, "run_rejected"), "class": name}
    if name == "ScriptedFailure":
        shown["message"] = str(error)
    elif "elect" in str(error) and name == "RuntimeError":
        shown["family"] = "routing"
    return shown


def _build_error(error: Exception) -> dict[str, Any]:
    name = type(error).__name__
    known = FAMILIES.get(name)
    if known is None:
        known = "validation.output_validation" if name == "WorkflowValidationError" else "build_argument"
    return {"family": known, "class": name, "key": str(error)}


def _filter(keep: Form) -> Any:
    def kept(messages: list[Any]) -> list[Any]:
        if "keep_last" in keep:
            return messages[-keep["keep_last"] :] if keep["keep_last"] else []
        return [m for m in messages if str(m.role) in keep["keep_roles"]]

    return kept


def _named(function: Any, name: str) -> Any:
    function.__name__ = name
    return function


def _when(form_: Form, name: str) -> Any:
    holds = condition(form_)
    return _named(lambda data: holds(ours(data)), name)


def _add(builder: Any, edge: Form, nodes: Mapping[str, Any]) -> None:
    kind = edge["kind"]
    if kind == "direct":
        when = _when(edge["when"], edge.get("name", "condition")) if "when" in edge else None
        builder.add_edge(nodes[edge["from"]], nodes[edge["to"]], condition=when)
    elif kind == "chain":
        builder.add_chain([nodes[key] for key in edge["nodes"]])
    elif kind == "fan_out":
        source, targets = nodes[edge["from"]], [nodes[key] for key in edge["to"]]
        if "select" in edge:
            select = selection(edge["select"])
            chosen = _named(lambda data, ids: select(ours(data), ids), edge.get("name", "selection"))
            builder.add_multi_selection_edge_group(source, targets, selection_func=chosen)
        else:
            builder.add_fan_out_edges(source, targets)
    elif kind == "fan_in":
        builder.add_fan_in_edges([nodes[key] for key in edge["from"]], nodes[edge["to"]])
    else:
        cases = [
            af.Case(condition=_when(c["when"], c.get("name", "condition")), target=nodes[c["to"]])
            if "when" in c
            else af.Default(target=nodes[c["to"]])
            for c in edge["cases"]
        ]
        builder.add_switch_case_edge_group(nodes[edge["from"]], cases)
