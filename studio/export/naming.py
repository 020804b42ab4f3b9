"""Names of exported code: unique, no word of Python, none that the module needs for something else."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanOutEdge,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.document.turns import added_nodes, turn_sources

_BUILTINS = frozenset(name for name in dir(builtins) if name.islower())
_BUILD = frozenset(
    re.findall(
        r"\w+",
        """agent_middleware agent_node agents as_json chat_middleware chosen client client_factory data default_client
        function_middleware os plain_results storage targets typing with_tool_loop within""",
    )
)
"""Names that ``build()`` and ``agents.py`` use themselves."""
_MAIN = frozenset(
    re.findall(
        r"\w+",
        """answer answer_approval answer_call answer_question argparse ask asyncio build compares contains equals
        field_of folded holds item_of json length lowered main matches message number print_output result run state sys
        text text_method text_of type type_of value value_of value_of_answer plain_of""",
    )
)
"""Names of the module with the conditions."""
_CLASSES = frozenset(
    re.findall(
        r"\w+",
        """Agent AgentContext AgentExecutor AgentExecutorRequest AgentExecutorResponse AgentHostOptions AgentResponse
        AgentResponseUpdate AgentSession Any Callable Case ChatContext ChatOptions ChatResponseUpdate ChatStartExecutor
        CheckpointStorage Content ConversationRunner Default Executor FunctionInvocationContext FunctionTool Mapping
        Message MiddlewareFailure MiddlewareTermination Never Question RunnerAgent RunnerSettings Sequence StateContext
        StateJunction TurnToken TurnTokenAgentExecutor TurnRouter TurnCollector TurnJoin Workflow WorkflowBuilder
        WorkflowContext WorkflowExecutor WorkflowRunState WithText""",
    )
)
"""Classes that the modules with executors import or define."""


def identifier(text: str, fallback: str = "workflow") -> str:
    """A name as a lower-case Python identifier: for packages, modules, functions."""
    name = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")
    if not name or name[0].isdigit():
        name = f"{fallback}_{name}".strip("_")
    return f"{name}_" if keyword.iskeyword(name) else name


def class_name(node_id: str) -> str:
    """``carry_out`` -> ``CarryOut``."""
    return "".join(part[:1].upper() + part[1:] for part in identifier(node_id, "node").split("_") if part) or "Node"


@dataclass(frozen=True, slots=True)
class Names:
    """``variables``: id of a node, switch or fan-out -> its name in ``build()`` and its function in ``agents.py``;
    ``classes``: id -> class; ``conditions``: id of the edge, case or leg -> function."""

    variables: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    around: dict[str, str] = field(default_factory=dict)
    """``agent.context``, ``agent.provider_1``, ``agent.middleware_2`` -> function in ``agents.py``"""
    turn_sources: frozenset[str] = frozenset()
    """The nodes that send whole turns, see :mod:`studio.document.turns`."""

    @classmethod
    def of(cls, workflow: Workflow) -> Names:
        """The names of one workflow, in the order of the document."""
        modules = {module.name.split(".")[0] for module in workflow.modules}
        sessions = {f"{identifier(s, 'session')}_session" for s in _sessions(workflow)}
        taken = {*_BUILD, *_BUILTINS, *modules, *sessions}
        junctions = [edge.id for edge in workflow.edges if isinstance(edge, SwitchEdge | FanOutEdge)]
        names = cls(turn_sources=turn_sources(workflow))
        added = list(added_nodes(workflow))
        for item in dict.fromkeys([*(node.id for node in workflow.nodes), *junctions, *added]):
            names.variables[item] = _free(identifier(item, "node"), taken, "_node")
        for owner, wanted in _around(workflow, names.variables):
            names.around[owner] = _free(wanted, taken, "_code")
        taken |= _MAIN
        for owner, condition in conditions_of(workflow.edges):
            names.conditions[owner] = _free(identifier(condition.name or f"when_{owner}", "when"), taken, "_holds")
        for tool in workflow.tools:
            names.tools[tool.name] = _free(identifier(tool.name, "tool"), taken, "_tool")
        classes = {*_CLASSES, *(declared.name for declared in workflow.types)}
        for node in workflow.nodes:
            names.classes[node.id] = _free(class_name(node.id), classes, "Node")
        return names

    def package(self, node: SubWorkflowNode) -> str:
        """The package of a workflow inside."""
        return self.variables[node.id]


def _sessions(workflow: Workflow) -> list[str]:
    return sorted({s for node in workflow.nodes if isinstance(s := getattr(node, "session", None), str) and s})


def _around(workflow: Workflow, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Code around agents and the names that its functions should have."""
    for node in workflow.nodes:
        if isinstance(node, AgentNode):
            name = variables[node.id]
            yield f"{node.id}.context", f"{name}_context"
            for kind, declared in (("provider", node.providers), ("middleware", node.middleware)):
                for number in range(1, len(declared) + 1):
                    yield f"{node.id}.{kind}_{number}", f"{name}_{kind}_{number}"


def _free(wanted: str, taken: set[str], suffix: str) -> str:
    name, number = wanted, 1
    while name in taken:
        name = f"{wanted.rstrip('_')}{suffix}{number if number > 1 else ''}"
        number += 1
    taken.add(name)
    return name


def conditions_of(edges: Iterable[Edge]) -> list[tuple[str, Condition]]:
    """Every condition with the id of what it belongs to: an edge, a case, ``fan-out.target``."""
    found: list[tuple[str, Condition]] = []
    for edge in edges:
        match edge:
            case DirectEdge(condition=Condition() as condition):
                found.append((edge.id, condition))
            case SwitchEdge():
                found += [(case.id, case.condition or Condition(name=f"when_{case.id}")) for case in edge.cases]
            case FanOutEdge():
                found += [(f"{edge.id}.{target}", c) for target, c in (edge.selection or {}).items()]
    return found
