"""Edits of tools and MCP servers: what a form changes together, as one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from studio.document.edits import Batch, Edit, SetFields, SetWorkflow
from studio.document.model import AgentNode, McpServerDecl, ModuleDecl, RunnerNode, ToolDecl, Workflow
from studio.document.problems import Problem
from studio.document.references import renamed
from studio.document.tools import functions, signature_of

CodeOf = Literal["written", "module", "caller"]
"""Where the code of a tool is: in the tool, in a module of the document, or with whoever runs the workflow."""

_FOLLOWING = ("name", "description", "parameters")
TEMPLATE = '''def {name}(text: str) -> str:
    """What the tool does, in words for the model."""
    return text
'''


def code_of(tool: ToolDecl) -> CodeOf:
    """Where the code of a tool is."""
    if tool.approval == "caller":
        return "caller"
    return "module" if tool.call and not tool.source.strip() else "written"


def add_tool(workflow: Workflow, call: str = "") -> Edit:
    """A new tool at the end: one that calls a function of a module, or one to be written, with a template."""
    name = free(call.partition(":")[2] or "tool", (t.name for t in workflow.tools))
    tool = ToolDecl(name=name, call=call) if call else ToolDecl(name=name, source=TEMPLATE.format(name=name))
    return SetWorkflow({"tools": (*workflow.tools, _as_code_says(workflow, tool))})


def import_module(workflow: Workflow, stem: str, source: str) -> Edit:
    """A module from a file, and a tool for each of its public functions."""
    base = "".join(c if c.isalnum() and c.isascii() else "_" for c in stem)
    name = free(base if base.isidentifier() else f"m_{base}", (m.name for m in workflow.modules))
    modules = (*workflow.modules, ModuleDecl(name=name, source=source))
    seen = workflow.model_copy(update={"modules": modules})
    tools = list(workflow.tools)
    for function in functions(source):
        tool_name = free(function.name, (t.name for t in tools))
        tools.append(_as_code_says(seen, ToolDecl(name=tool_name, call=f"{name}:{function.name}")))
    return SetWorkflow({"modules": modules, "tools": tuple(tools)})


def set_tool(workflow: Workflow, index: int, **values: Any) -> Edit:
    """Other fields of a tool. What follows its code (``from_code``) is read from new code as soon as that can be read;
    a field that is set by hand follows no longer."""
    before = workflow.tools[index]
    by_hand = {"name", "description", "parameters"} & set(values)
    if by_hand and "from_code" not in values:
        values["from_code"] = tuple(f for f in before.from_code if f not in by_hand)
    after = before.model_copy(update=values)
    said = signature_of(workflow, after) if {"source", "call", "from_code"} & set(values) else None
    if said is None:
        return _with_tool(workflow, index, after)
    follow = {"description": said.description, "parameters": said.parameters}
    edit = _with_tool(
        workflow, index, after.model_copy(update={f: v for f, v in follow.items() if f in after.from_code})
    )
    if "name" not in after.from_code or said.name in {t.name for t in workflow.tools}:
        return edit
    rename = renamed(edit.apply(workflow).workflow, "tool", before.name, said.name)
    return edit if isinstance(rename, Problem) else Batch((edit, rename))


def set_code_of(workflow: Workflow, index: int, where: CodeOf) -> Edit:
    """Another place of the code."""
    tool = workflow.tools[index]
    if where == "caller":
        return set_tool(workflow, index, approval="caller")
    approval = "never" if tool.approval == "caller" else tool.approval
    # Other code has other parameters; words and a name of one's own stay.
    follows = tuple(f for f in _FOLLOWING if f in tool.from_code or f == "parameters")
    if where == "module":
        calls = [f"{m.name}:{f.name}" for m in workflow.modules for f in functions(m.source)]
        call = tool.call or (calls[0] if calls else "module:function")
        return set_tool(workflow, index, approval=approval, source="", call=call, from_code=follows)
    name = tool.name if tool.name.isidentifier() else "tool"
    source = tool.source if tool.source.strip() else TEMPLATE.format(name=name)
    return set_tool(workflow, index, approval=approval, source=source, call="", from_code=follows)


def rename_tool(workflow: Workflow, index: int, name: str) -> Edit | Problem:
    """Another name, also where agents use it. A :class:`Problem` says why it cannot be."""
    edit = renamed(workflow, "tool", workflow.tools[index].name, name)
    if isinstance(edit, Problem):
        return edit
    kept = tuple(f for f in workflow.tools[index].from_code if f != "name")
    return Batch((_with_tool(workflow, index, workflow.tools[index].model_copy(update={"from_code": kept})), edit))


def remove_tool(workflow: Workflow, index: int) -> Edit:
    """Without a tool; agents that use it lose it."""
    name = workflow.tools[index].name
    left = SetWorkflow({"tools": _without(workflow.tools, index)})
    return Batch((left, *_in_agents(workflow, "tools", lambda names: tuple(n for n in names if n != name))))


# --------------------------------------------------------------------------------------------------------- servers


def add_server(workflow: Workflow) -> Edit:
    """A new MCP server at the end."""
    name = free("server", (m.name for m in workflow.mcp_servers))
    return SetWorkflow({"mcp_servers": (*workflow.mcp_servers, McpServerDecl(name=name))})


def set_server(workflow: Workflow, index: int, **values: Any) -> Edit:
    """Other fields of a server; another name also where agents use it."""
    before = workflow.mcp_servers[index]
    servers = list(workflow.mcp_servers)
    servers[index] = before.model_copy(update=values)
    edit = SetWorkflow({"mcp_servers": tuple(servers)})
    name = values.get("name", before.name)
    if name == before.name:
        return edit
    uses = _in_agents(workflow, "mcp_servers", lambda names: tuple(name if n == before.name else n for n in names))
    return Batch((edit, *uses))


def remove_server(workflow: Workflow, index: int) -> Edit:
    """Without a server; agents that use it lose it."""
    name = workflow.mcp_servers[index].name
    left = SetWorkflow({"mcp_servers": _without(workflow.mcp_servers, index)})
    return Batch((left, *_in_agents(workflow, "mcp_servers", lambda names: tuple(n for n in names if n != name))))


# -------------------------------------------------------------------------------------------------------- internal


def free(wanted: str, taken: Iterable[str]) -> str:
    """The name, or the name with a number if there is one like it."""
    there = set(taken)
    return next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, len(there) + 3))) if n not in there)


def _with_tool(workflow: Workflow, index: int, tool: ToolDecl) -> Edit:
    tools = list(workflow.tools)
    tools[index] = tool
    return SetWorkflow({"tools": tuple(tools)})


def _as_code_says(workflow: Workflow, tool: ToolDecl) -> ToolDecl:
    said = signature_of(workflow, tool)
    if said is None:
        return tool
    fields = {"parameters": said.parameters, "description": said.description, "from_code": _FOLLOWING}
    return tool.model_copy(update=fields)


def _without(items: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*items[:index], *items[index + 1 :])


def _in_agents(workflow: Workflow, field: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> list[Edit]:
    """Edits of every agent whose list of names changes, those inside conversation runners too."""
    edits: list[Edit] = []
    for node in workflow.nodes:
        if isinstance(node, AgentNode) and change(getattr(node, field)) != getattr(node, field):
            edits.append(SetFields("nodes", node.id, {field: change(getattr(node, field))}))
        elif isinstance(node, RunnerNode):
            agents = tuple(a.model_copy(update={field: change(getattr(a, field))}) for a in node.agents)
            if agents != node.agents:
                edits.append(SetFields("nodes", node.id, {"agents": agents}))
    return edits
