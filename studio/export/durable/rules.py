"""What keeps a workflow from running on Durable Task as it runs in one process, and what a person should know of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    Node,
    RunnerNode,
    SubWorkflowNode,
    SwitchEdge,
    TemplateNode,
    Workflow,
)
from studio.export.conditions import waits
from studio.export.durable.deliveries import Meetings, asks, calls_of, looping, meetings
from studio.export.durable.findings import Finding
from studio.export.durable.flows import unguardable
from studio.export.junctions import is_needed
from studio.export.naming import Names, conditions_of

LONG = 200
"""Supersteps from which on a run gets slow: its history is read again in each of them."""
_LONGEST_ID = 128
_UNSTEADY = frozenset(
    {"time", "datetime", "random", "secrets", "uuid", "os", "socket", "requests", "httpx", "urllib", "subprocess"}
)
"""Modules whose answers change from call to call."""
_ASYNC_CLIENTS = frozenset({"httpx", "aiohttp", "openai", "asyncpg", "motor"})
_STATE_MARK = re.compile(r"\{state\.([A-Za-z_]\w*)")
_ANY_KEY = "*"


def all_findings(workflow: Workflow) -> list[Finding]:
    """Of a workflow and those inside, in the order of the document; linked ones have to be embedded."""
    names = {node.id: node.name or node.id for node in workflow.nodes}
    found = [*_nodes(workflow), *_conditions(workflow), *unguardable(workflow), *_meeting(workflow, names)]
    found += _ids(workflow)
    if workflow.max_supersteps > LONG and looping(workflow):
        text = (
            f"The loops may take {workflow.max_supersteps} supersteps. Each one reads the history of the run again: "
            f"above {LONG} it gets slow."
        )
        found.append(Finding("", text, refused=False))
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            inner = all_findings(node.embedded)
            found += [Finding(node.id, f"In {names[node.id]}: {f.message}", f.refused) for f in inner]
    return found


# ---------------------------------------------------------------------------------------------------------- nodes


def _nodes(workflow: Workflow) -> Iterator[Finding]:
    for node in workflow.nodes:
        match node:
            case AgentNode():
                yield from _agent(workflow, node)
            case SubWorkflowNode(embedded=Workflow() as inner):
                yield from _inside(workflow, node, inner)
            case FunctionNode() | JoinNode():
                yield from _code(workflow, node)
            case RunnerNode():
                text = (
                    f"{node.name} is a conversation runner, which keeps its conversation in one process. Draw its "
                    "agents as nodes with a switch between them."
                )
                yield Finding(node.id, text)


def _agent(workflow: Workflow, node: AgentNode) -> Iterator[Finding]:
    if node.host == "turn_token":
        yield Finding(
            node.id,
            f"{node.name} works in turns with tokens: messages and token come in one superstep, which Durable Task "
            "runs side by side. Choose the other host for it.",
        )
    if node.session:
        yield Finding(
            node.id,
            f"{node.name} shares the session {node.session} with other agents. Workers are different processes and "
            "share none; give it a session of its own.",
        )
    stores = [provider.store for provider in node.providers if provider.kind == "history"]
    if any(store != "session" for store in stores):
        text = f"{node.name} keeps its history outside of its session. All workers must reach the same place."
        yield Finding(node.id, text, refused=False)
    limited = [t.name for t in workflow.tools if t.name in node.tools and t.max_invocations is not None]
    if limited:
        yield Finding(
            node.id, f"The limit of calls of {limited[0]} counts in each worker process by itself.", refused=False
        )


def _inside(workflow: Workflow, node: SubWorkflowNode, inner: Workflow) -> Iterator[Finding]:
    if not node.propagate_requests and _asks_inside(inner):
        yield Finding(
            node.id,
            f"{node.name} asks, and its questions go to the nodes around it, which Durable Task cannot do. Let it pass "
            "questions on to the outside.",
        )
    remembers = inner.state or any(isinstance(n, AgentNode | SubWorkflowNode) for n in inner.nodes)
    if remembers and node.id in looping(workflow):
        yield Finding(
            node.id,
            f"{node.name} stands in a loop: on Durable Task the workflow in it begins anew with each message and does "
            "not remember the last one.",
            refused=False,
        )


def _asks_inside(inner: Workflow) -> bool:
    insides = [n.embedded for n in inner.nodes if isinstance(n, SubWorkflowNode) and n.embedded is not None]
    return any(asks(inner, n) for n in inner.nodes) or any(map(_asks_inside, insides))


def _code(workflow: Workflow, node: FunctionNode | JoinNode) -> Iterator[Finding]:
    written = _source(workflow, node)
    if "target_id" in _keywords(written):
        yield Finding(
            node.id,
            f"{node.name} names the target of a message. Durable Task does not check that an edge leads there; use a "
            "switch or a selection.",
        )
    clients = sorted(_imported(written) & _ASYNC_CLIENTS)
    if clients and "await" in written:
        yield Finding(
            node.id,
            f"{node.name} uses {clients[0]}: on Durable Task every call of a node has its own event loop, so a client "
            "that is kept fails at the second call. Make it inside of the call.",
            refused=False,
        )
    if any(isinstance(n, ast.Global) for n in ast.walk(_tree(written))):
        yield Finding(
            node.id,
            f"{node.name} keeps something in a global variable: each worker process has its own, and all runs share "
            "it. Keep it in shared state.",
        )


def _source(workflow: Workflow, node: Node) -> str:
    """The code of a node: its body, or the module with its function."""
    if isinstance(node, FunctionNode) and node.call:
        module = node.call.partition(":")[0]
        return next((m.source for m in workflow.modules if m.name == module), "")
    return node.body if isinstance(node, FunctionNode | JoinNode) else ""


def _tree(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.Module([], [])


def _keywords(code: str) -> set[str]:
    calls = [node for node in ast.walk(_tree(code)) if isinstance(node, ast.Call)]
    return {word.arg for call in calls for word in call.keywords if word.arg}


def _imported(code: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(_tree(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


# ----------------------------------------------------------------------------------------------------- conditions


def _conditions(workflow: Workflow) -> Iterator[Finding]:
    """Conditions on edges are asked anew each time a run is replayed: they must answer the same every time."""
    names = Names.of(workflow)
    for edge in workflow.edges:
        if is_needed(edge, names):
            continue  # an executor, which is asked once
        for owner, condition in conditions_of([edge]):
            why = _unsteady(condition)
            if why:
                yield Finding(
                    edge.id,
                    f"The condition {condition.name or owner} {why}. Durable Task asks conditions again whenever it "
                    "replays a run; put this into a function node in front of it.",
                )


def _unsteady(condition: Condition) -> str:
    if waits(condition):
        return "awaits something"
    if condition.kind != "python":
        return ""
    modules = sorted(_imported(condition.body) & _UNSTEADY)
    if modules:
        return f"uses {modules[0]}"
    calls = [node.func for node in ast.walk(_tree(condition.body)) if isinstance(node, ast.Call)]
    called = {function.id for function in calls if isinstance(function, ast.Name)}
    if called & {"open", "input"}:
        return "reads from outside"
    return "uses a global variable" if any(isinstance(n, ast.Global) for n in ast.walk(_tree(condition.body))) else ""


# ------------------------------------------------------------------------------------------- side by side in a step


def _meeting(workflow: Workflow, names: dict[str, str]) -> Iterator[Finding]:
    met = meetings(workflow)
    written = {node.id: _keys(workflow, node, "set_state") for node in workflow.nodes}
    read = {node.id: _keys(workflow, node, "get_state") | _marks(node) for node in workflow.nodes}
    in_code = Names.of(workflow)
    deciding = [e for e in workflow.edges if isinstance(e, SwitchEdge | FanOutEdge) and is_needed(e, in_code)]
    read |= {edge.id: {_ANY_KEY} for edge in deciding}  # a junction that looks at shared state
    yield from _twice(workflow, met, written, names)
    for a, b in met.apart():
        both = _shared(written.get(a, set()), written.get(b, set()))
        one = _shared(written.get(a, set()), read.get(b, set())) or _shared(written.get(b, set()), read.get(a, set()))
        if both or one:
            first, second = (names.get(item, item) for item in (a, b))
            does = f"write the key {both}" if both else f"use the key {one}, and one of them writes it"
            yield Finding(
                a,
                f"{first} and {second} can work in the same superstep and both {does} of shared state. On Durable Task "
                "neither sees what the other wrote. Let them work one after the other, or use different keys.",
            )


def _twice(workflow: Workflow, met: Meetings, written: dict[str, set[str]], names: dict[str, str]) -> Iterator[Finding]:
    for item, senders in met.twice():
        node = workflow.node(item)
        if isinstance(node, AgentNode) or written.get(item):
            from_ = " and ".join(dict.fromkeys(names.get(sender, sender) for sender in senders))
            what = "remember" if isinstance(node, AgentNode) else "write"
            yield Finding(
                item,
                f"{names.get(item, item)} can get two messages in one superstep (from {from_}). Durable Task handles "
                f"them side by side and keeps only what the last one made it {what}. Gather them with a join first.",
            )


def _keys(workflow: Workflow, node: Node, method: str) -> set[str]:
    """The keys that the code of a node reads or writes; ``*`` for one that is worked out."""
    return {key if key is not None else _ANY_KEY for key in calls_of(_source(workflow, node), method)}


def _marks(node: Node) -> set[str]:
    """The keys in the text of a template or question."""
    match node:
        case TemplateNode():
            return set(_STATE_MARK.findall(node.text))
        case HumanInputNode():
            return set(_STATE_MARK.findall(node.question))
    return set()


def _shared(one: set[str], other: set[str]) -> str:
    """A key that is in both; "" for none."""
    if not one or not other:
        return ""
    if _ANY_KEY in one | other:
        return next(iter(sorted((one | other) - {_ANY_KEY})), "that is worked out")
    return next(iter(sorted(one & other)), "")


# ------------------------------------------------------------------------------------------------------------ ids


def _ids(workflow: Workflow) -> Iterator[Finding]:
    """Ids become names of activities, which are compared without regard to case."""
    seen = Counter(node.id.casefold() for node in workflow.nodes)
    for node in workflow.nodes:
        if "~" in node.id or len(node.id) > _LONGEST_ID:
            text = f"The id {node.id[:40]} is too long or has a ~, which Durable Task does not take. Give it another."
            yield Finding(node.id, text)
        elif seen[node.id.casefold()] > 1:
            text = f"The id {node.id} differs from another one in upper and lower case only. Give it another."
            yield Finding(node.id, text)
