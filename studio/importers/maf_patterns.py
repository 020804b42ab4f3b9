"""Ready-made orchestrations, expanded to their nodes. The ids of the nodes that the library adds are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studio.importers.draft import DraftEdge, DraftNode
from studio.importers.py_agents import is_agent
from studio.importers.py_values import Class, Function, Instance, Items, Value, constant

if TYPE_CHECKING:
    from studio.importers.maf_python import WorkflowReading

PATTERNS = {
    "SequentialBuilder": "sequential",
    "ConcurrentBuilder": "concurrent",
    "GroupChatBuilder": "group_chat",
    "HandoffBuilder": "handoff",
    "MagenticBuilder": "magentic",
}
NAMES = {
    "sequential": "Sequential",
    "concurrent": "Concurrent",
    "group_chat": "GroupChat",
    "handoff": "Handoff",
    "magentic": "Magentic",
}
_OLDER = (
    "participants",
    "set_manager",
    "with_manager",
    "with_standard_manager",
    "register_participants",
    "set_coordinator",
)


def expand(reading: WorkflowReading, builder: Instance) -> None:
    """The nodes and edges of a builder of a pattern."""
    draft, pattern = reading.result, PATTERNS[builder.of]
    draft.pattern = pattern
    draft.name = draft.name or NAMES[pattern]
    if any(call.name in _OLDER for call in builder.calls):
        text = "Written for an older version of the library (participants set by a call)."
        draft.note("older_version", builder.of, text, line=builder.line)
    members = [reading.node(value) for value in _participants(builder)]
    if not members:
        draft.note("dynamic_graph", builder.of, "The participants are not known without running the program.", "loss")
    match pattern:
        case "sequential":
            _added(reading, "input-conversation", "input")
            for source, target in zip(["input-conversation", *members], members, strict=False):
                draft.direct(source, target)
            draft.start = "input-conversation"
        case "concurrent":
            _concurrent(reading, builder, members)
        case "handoff":
            _handoff(reading, builder, members)
        case _:
            _managed(reading, builder, members, pattern)
    reading.designate(builder)


def _participants(builder: Instance) -> list[Value]:
    given = builder.kwargs.get("participants") or (builder.args[0] if builder.args else None)
    found: list[Value] = list(given.items) if isinstance(given, Items) else [given] if given is not None else []
    for call in builder.calls:
        if call.name in ("participants", "add_participants", "register_participants"):
            for value in call.args:
                found.extend(value.items if isinstance(value, Items) else [value])
            found.extend(call.kwargs.values())
    return found


def _added(reading: WorkflowReading, node_id: str, kind: str, label: str = "", **data: Any) -> str:
    node = DraftNode(reading.result.free(node_id), kind, label or node_id, dict(data), added=True)
    return reading.result.add(node).id


def _concurrent(reading: WorkflowReading, builder: Instance, members: list[str]) -> None:
    draft = reading.result
    draft.start = _added(reading, "dispatcher", "input")
    aggregators = [v for call in builder.calls if call.name == "with_aggregator" for v in call.args]
    target = ""
    if aggregators and isinstance(aggregators[0], Instance | Class):
        target = reading.node(aggregators[0])
    elif aggregators and isinstance(aggregators[0], Function):
        rule = reading.kept.rule(aggregators[0])
        body = rule.condition.body if rule.condition else ""
        target = _added(
            reading, rule.text if rule.text and rule.text.isidentifier() else "aggregator", "function", body=body
        )
    if not target:
        target = _added(reading, "aggregator", "transform")
    if len(members) == 1:
        draft.direct(draft.start, members[0])
        draft.direct(members[0], target)
    elif members:
        draft.edges.append(DraftEdge("fan_out", [draft.start], list(members)))
        draft.edges.append(DraftEdge("fan_in", list(members), [target]))


def _handoff(reading: WorkflowReading, builder: Instance, members: list[str]) -> None:
    draft = reading.result
    pairs: list[tuple[str, str]] = []
    for call in builder.calls:
        if call.name in ("with_start_agent", "set_coordinator") and call.args:
            draft.start = reading.node(call.args[0])
        elif call.name == "add_handoff":
            given = dict(zip(("source", "targets"), call.args, strict=False)) | call.kwargs
            targets = given.get("targets")
            listed = targets.items if isinstance(targets, Items) else [targets]
            pairs += [(reading.node(given.get("source")), reading.node(target)) for target in listed]
    if draft.start is None and members:
        draft.start = members[0]
    if not pairs:
        pairs = [(a, b) for a in members for b in members if a != b]
    for source, target in dict.fromkeys(pairs):
        draft.edges.append(DraftEdge("handoff", [source], [target], tool=f"handoff_to_{target}"))


def _managed(reading: WorkflowReading, builder: Instance, members: list[str], pattern: str) -> None:
    draft = reading.result
    data: dict[str, Any] = {"max_rounds": _number(builder, "max_rounds", "max_round_count")}
    stalls = _number(builder, "max_stall_count", "max_stalls")
    data["max_stalls"] = stalls
    manager = next(
        (
            v
            for k, v in _settings(builder).items()
            if k in ("orchestrator_agent", "manager_agent", "manager", "agent") and is_agent(v)
        ),
        None,
    )
    item = f"{pattern}_orchestrator"
    if isinstance(manager, Instance):
        if pattern == "group_chat":  # the library names such a manager after its agent
            item = reading.agents.name(manager) or item
        data.update(reading.agents.data(manager, item))
        data["order"] = "model"
    kind = "agent" if manager is not None or pattern == "magentic" else "function"
    selection = _settings(builder).get("selection_func")
    if kind == "function":
        rule = reading.kept.rule(selection) if selection is not None else None
        data["order"] = rule.text if rule else None
        data["missing"] = "The manager of a group chat cannot run as a function of its own here."
        if rule is not None:
            draft.note("code_kept", item, f"The function {rule.text} chooses who speaks; it is kept as text.")
    draft.start = _added(reading, item, kind, draft.name, **data)
    for member in members:
        draft.direct(draft.start, member)
        draft.direct(member, draft.start)


def _settings(builder: Instance) -> dict[str, Value]:
    found = dict(builder.kwargs)
    for call in builder.calls:
        found.update(call.kwargs)
        if call.args:
            found.setdefault(call.name.removeprefix("with_").removeprefix("set_"), call.args[0])
    return found


def _number(builder: Instance, *names: str) -> int | None:
    settings = _settings(builder)
    for name in names:
        value = constant(settings.get(name))
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
