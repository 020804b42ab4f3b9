"""Checks of tools, of the functions they and nodes call, and of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from studio.document import tools
from studio.document.code import defined, module_problem
from studio.document.edits import SetFields, SetWorkflow
from studio.document.facts import Facts
from studio.document.ids import script_owner
from studio.document.model import AgentNode, McpServerDecl, ToolDecl, Workflow
from studio.document.problems import Fix, Problem

_CALL = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)\Z")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def call_problems(facts: Facts, place: str, call: str, name: str) -> Iterator[Problem]:
    """``module:function`` of the modules of the document."""
    parts = _CALL.match(call)
    if parts is None:
        yield Problem("call_form", f"{name} calls {call}; write it as module:function.", place, "call")
        return
    module = next((m for m in facts.workflow.modules if m.name == parts.group(1)), None)
    if module is None:
        message = f"{name} calls {call}, but this workflow has no module {parts.group(1)}."
        yield Problem("unknown_module", message, place, "call")
    elif module_problem(module.source) is None and parts.group(2) not in defined(module.source):
        message = f"{name} calls {call}, but the module {module.name} defines no {parts.group(2)}."
        yield Problem("unknown_function", message, place, "call")


def tool_problems(facts: Facts) -> Iterator[Problem]:
    """The declared tools: name, code, and whether their parameters are those of the code."""
    for tool in facts.workflow.tools:
        if not _TOOL_NAME.match(tool.name):
            message = f"“{tool.name}” cannot be the name of a tool: use up to 64 letters, digits, - and _."
            yield Problem("tool_name", message, "", "tools")
        if tool.approval != "caller":
            yield from _code_problems(facts, tool)
        for limit in ("timeout", "max_invocations", "max_invocation_exceptions"):
            value = getattr(tool, limit)
            if value is not None and value <= 0:
                message = f"The tool {tool.name} has a limit that is not greater than 0."
                yield Problem("tool_limit", message, "", "tools")


def _code_problems(facts: Facts, tool: ToolDecl) -> Iterator[Problem]:
    name = f"The tool {tool.name}"
    if tool.source.strip():
        found = tools.source_problem(tool.source)
        if found is not None:
            message = f"The code of the tool {tool.name} cannot be used: {found.message}, line {found.line}."
            yield Problem("syntax", message, "", "tools")
            return
        module = tools.module_of(tool)
        if sum(m.name == module for m in tools.code_modules(facts.workflow)) > 1:
            message = f"{name} needs the module name {module} for itself; rename it, or what has that name too."
            yield Problem("tool_module", message, "", "tools")
    elif tool.call:
        yield from (Problem(p.code, p.message, "", "tools") for p in call_problems(facts, "", tool.call, name))
    else:
        message = f"{name} has no code: write a function, choose one of a module, or let the caller answer."
        yield Problem("tool_without_code", message, "", "tools")
        return
    yield from _parameter_problems(facts.workflow, tool)


def _parameter_problems(workflow: Workflow, tool: ToolDecl) -> Iterator[Problem]:
    """A call would fail for what the function does not take, and for what it wants and is not told of."""
    said = tools.signature_of(workflow, tool)
    if said is None:
        return
    wanted: Any = said.parameters.get("properties", {})
    given: Any = tool.parameters.get("properties", {})
    needed: Any = said.parameters.get("required", [])
    if not isinstance(given, dict) or said.any_name:
        return
    strange = [name for name in given if name not in wanted]
    missing = [name for name in needed if name not in given]
    if not strange and not missing:
        return
    words = f"which the function does not take: {', '.join(strange)}" if strange else ""
    words = words or f"but the function also needs: {', '.join(missing)}"
    changed = tool.model_copy(update={"parameters": said.parameters})
    edit = SetWorkflow({"tools": tuple(changed if t is tool else t for t in workflow.tools)})
    message = f"The tool {tool.name} declares parameters {words}."
    yield Problem("tool_parameters", message, "", "tools", "warning", Fix("Take them from the code", edit))


def unknown_servers(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    """MCP servers that an agent uses and the workflow does not have."""
    declared = {m.name for m in facts.workflow.mcp_servers}
    for server in node.mcp_servers:
        if server not in declared:
            left = tuple(s for s in node.mcp_servers if s != server)
            fix = Fix("Remove it", SetFields("nodes", node.id, {"mcp_servers": left}))
            message = f"{facts.name(node.id)} uses the MCP server {server}, which this workflow does not have."
            yield Problem("unknown_server", message, node.id, "mcp_servers", fix=fix)


def server_problems(facts: Facts) -> Iterator[Problem]:
    """The declared MCP servers."""
    for server in facts.workflow.mcp_servers:
        for code, message in _of_server(server):
            yield Problem(code, message, "", "mcp_servers")


def _of_server(server: McpServerDecl) -> Iterator[tuple[str, str]]:
    name = f"The MCP server {server.name or 'without a name'}"
    if not _TOOL_NAME.match(server.name):
        yield "server_name", f"{name} needs a name of letters, digits, - and _ (64 at most)."
    if server.transport == "stdio" and not server.command.strip():
        yield "server_command", f"{name} names no program to start."
    if server.transport == "http":
        address = urlsplit(server.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            yield "server_url", f"{name} needs an address that begins with http:// or https://."
        elif address.password:
            yield "server_url", f"{name} has a password in its address; give it as a header that refers to a secret."
    if server.timeout <= 0:
        yield "server_timeout", f"{name} has a time limit that is not greater than 0."


def scripted_calls(facts: Facts, agent: AgentNode) -> Iterator[Problem]:
    """Calls in the offline script of an agent that name a tool of an MCP server without the server in front."""
    script = facts.workflow.offline.nodes[agent.id]
    servers = [s for s in facts.workflow.mcp_servers if s.name in agent.mcp_servers]
    for name in dict.fromkeys(_called(script)):
        meant = [s for s in servers if (name in s.tools if s.tools is not None else "/" not in agent.id)]
        known = name in agent.tools or any(name.startswith(f"{_cleaned(s.name)}_") for s in servers)
        if known or not meant:
            continue
        full = f"{_cleaned(meant[0].name)}_{name}"
        message = f"The offline script of {facts.name(agent.id)} calls {name}. Tools of an MCP server have its name "
        message += f"in front: {full}."
        nodes = {**facts.workflow.offline.nodes, agent.id: _renamed(script, name, full)}
        edit = SetWorkflow({"offline": facts.workflow.offline.model_copy(update={"nodes": nodes})})
        fix = Fix(f"Call {full}", edit)
        yield Problem("script_tool", message, script_owner(agent.id), "offline", "warning", fix)


def _cleaned(server: str) -> str:
    """A server's name as it stands in front of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", server).rstrip("_-")


def _called(script: Mapping[str, Any]) -> Iterator[str]:
    replies = script.get("replies")
    for reply in replies if isinstance(replies, list) else []:
        calls = reply.get("calls") if isinstance(reply, dict) else None
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict) and isinstance(call.get("tool"), str) and call["tool"]:
                yield call["tool"]


def _renamed(value: Any, old: str, new: str) -> Any:
    """A part of a script whose calls name another tool."""
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: new if k == "tool" and v == old else _renamed(v, old, new) if k != "arguments" else v
            for k, v in value.items()}  # fmt: skip
