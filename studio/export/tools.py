"""The tools of agents as ``FunctionTool`` objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.document.model import AgentNode, RunnerNode, ToolDecl, Workflow
from studio.document.tools import signature_of, target_of
from studio.export.pretty import Bracket, Expression, Pair, call, plain, statement, string, value
from studio.export.source import AGENT_SUPPORT, FRAMEWORK, Module


def used_tools(workflow: Workflow) -> tuple[ToolDecl, ...]:
    """The declared tools that an agent has, in the order of the document."""
    names = set(_named(workflow))
    return tuple(tool for tool in workflow.tools if tool.name in names)


def _named(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes:
        match node:
            case AgentNode():
                yield from (*node.tools, *node.tool_loop.additional_tools)
            case RunnerNode():
                yield from (name for agent in node.agents for name in agent.tools)


def tool_block(module: Module, workflow: Workflow, tool: ToolDecl, variable: str) -> str:
    """The definition of a tool, behind its mark."""
    module.need(FRAMEWORK, "FunctionTool")
    description, before = module.constant(f"{variable.upper()}_DESCRIPTION", tool.description, room=20)
    items: list[Expression] = [Pair("name=", string(tool.name)), Pair("description=", description)]
    function = _function(module, tool)
    if function is not None:
        items.append(Pair("func=", function))
    items.append(Pair("input_model=", plain(value(tool.parameters))))
    if tool.approval == "always":
        items.append('approval_mode="always_require"')
    for limit in ("max_invocations", "max_invocation_exceptions"):
        if getattr(tool, limit) is not None:
            items.append(f"{limit}={getattr(tool, limit)}")
    if function is not None and (tool.result == "json" or _gives_record(workflow, tool)):
        module.need(AGENT_SUPPORT, "as_json")
        items.append("result_parser=as_json")
    return f"# tool: {tool.name}\n{before}" + statement(Bracket("FunctionTool(", items), 0, f"{variable} = ")


def _gives_record(workflow: Workflow, tool: ToolDecl) -> bool:
    """Whether its code says that it returns a declared type, which the framework would write as ``Name(...)``."""
    found = signature_of(workflow, tool)
    names = set(re.findall(r"\w+", found.returns)) if found is not None else set()
    return any(declared.name in names for declared in workflow.types)


def _function(module: Module, tool: ToolDecl) -> str | Bracket | None:
    """What is called; None for a tool that the caller answers."""
    name, _, function = target_of(tool).partition(":")
    if tool.approval == "caller" or not name:
        return None
    where, _, last = name.rpartition(".")
    module.need(f".{where}", last)
    if tool.timeout is None:
        return f"{last}.{function}"
    module.need(AGENT_SUPPORT, "within")
    return call("within", f"{tool.timeout:g}", f"{last}.{function}")
