"""Tools of a document: what code says about itself, and what is wrong with a declaration."""

from __future__ import annotations

from typing import Any

import pytest
from studio.document import tool_edits as edits
from studio.document import tools
from studio.document.fingerprint import document_fingerprint, node_fingerprint
from studio.document.model import (
    AgentNode,
    McpServerDecl,
    ModuleDecl,
    RunnerAgent,
    RunnerNode,
    ToolDecl,
    TypeDecl,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.validate import problems

WEATHER = '''
from typing import Annotated, Literal

UNITS = ("c", "f")


async def get_weather(
    city: Annotated[str, "Name of the city"],
    days: int = 3,
    unit: Literal["c", "f"] = "c",
    tags: list[str] | None = None,
    exact: bool = False,
    *,
    near: "dict[str, float]" = UNITS,
) -> str:
    """Tells the weather
    of a city.

    More words.

    Args:
        days: How many days ahead.
        near (dict): Places around.
    """
    return city


def _hidden(x): ...
'''


def test_a_signature_becomes_json_schema() -> None:
    (found,) = tools.signatures(WEATHER)
    assert (found.name, found.description, found.is_async) == ("get_weather", "Tells the weather of a city.", True)
    assert found.returns == "str"
    assert found.unclear == ()
    assert found.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "days": {"type": "integer", "description": "How many days ahead.", "default": 3},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "exact": {"type": "boolean", "default": False},
            "near": {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "description": "Places around.",
            },
        },
        "required": ["city"],
    }


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("str", {"type": "string"}),
        ("float | int", {"type": ["number", "integer"]}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ("Union[str, list[int]]", {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}),
        ("Literal[1, 2]", {"type": "integer", "enum": [1, 2]}),
        ("Literal['a', None]", {"enum": ["a", None]}),
        ("dict[str, Any]", {"type": "object", "additionalProperties": True}),
        ("typing.Sequence[bool]", {"type": "array", "items": {"type": "boolean"}}),
        ("Score", {"type": "object", "properties": {"score": {"type": "integer"}}}),
        ("list[Score]", {"type": "array", "items": {"type": "object", "properties": {"score": {"type": "integer"}}}}),
    ],
)
def test_annotations(written: str, schema: Any) -> None:
    score = TypeDecl.model_validate(
        {"name": "Score", "schema": {"type": "object", "properties": {"score": {"type": "integer"}}}}
    )
    (found,) = tools.signatures(f"def f(x: {written}): ...", [score])
    assert found.parameters["properties"] == {"x": schema}
    assert found.unclear == ()


@pytest.mark.parametrize("parameter", ["x", "x: Path", "x: Callable[[], None]", "x: 'not ( python'"])
def test_what_has_no_schema_is_said(parameter: str) -> None:
    (found,) = tools.signatures(f"def f({parameter}): ...")
    assert found.unclear == ("x",)
    assert found.parameters["properties"] == {"x": {}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:", "invalid syntax"),
        ("x = 1", "it defines no function"),
        ("def _f(): ...", "it defines no function"),
        ("def f(x, /): ...", "parameters before / cannot be given by name"),
    ],
)
def test_code_that_is_no_tool(source: str, message: str) -> None:
    found = tools.source_problem(source)
    assert found is not None
    assert message in found.message


def test_where_the_code_of_a_tool_is() -> None:
    written = ToolDecl(name="get-weather", source=WEATHER, call="ignored:f")
    assert tools.target_of(written) == "tool_get_weather:get_weather"
    assert tools.target_of(ToolDecl(name="a", call="m:f")) == "m:f"
    assert tools.target_of(ToolDecl(name="a", call="m:f", approval="caller")) == ""
    module = ModuleDecl(name="m", source="def f(): ...\ndef _g(): ...\nasync def h(): ...")
    flow = Workflow(modules=(module,), tools=(written, ToolDecl(name="b", approval="caller", source="def f(): ...")))
    assert [m.name for m in tools.code_modules(flow)] == ["m", "tool_get_weather"]
    assert tools.importable(flow) == ["m:f", "m:h"]


def flow(*tools: ToolDecl, servers: tuple[McpServerDecl, ...] = (), **agent: Any) -> Workflow:
    node = AgentNode(id="writer", name="Writer", instructions="Write.", **agent)
    module = ModuleDecl(name="m", source="def f(city: str, days: int = 3): ...\ndef any(**more): ...")
    return Workflow(start="writer", nodes=(node,), tools=tools, modules=(module,), mcp_servers=servers)


def codes(workflow: Workflow) -> list[str]:
    return [p.code for p in problems(workflow)]


def properties(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in names}}


def test_tools_that_are_in_order() -> None:
    said = flow(
        ToolDecl(name="a", call="m:f", parameters=properties("city")),
        ToolDecl(name="b", source="def b(): ..."),
        ToolDecl(name="c", approval="caller"),
        ToolDecl(name="d", call="m:any", parameters=properties("anything")),
        ToolDecl(name="e", call="m:f", parameters={"type": "object"}),
        servers=(McpServerDecl(name="s", command="x"), McpServerDecl(name="h", transport="http", url="https://h/mcp")),
        mcp_servers=("s", "h"),
        tools=("a", "b", "c"),
    )
    assert [p.message for p in problems(said) if p.code != "tool_parameters"] == []
    assert [p.message for p in problems(said)] == ["The tool e declares parameters but the function also needs: city."]


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        (ToolDecl(name="bad name", call="m:any"), "tool_name"),
        (ToolDecl(name="a"), "tool_without_code"),
        (ToolDecl(name="a", source="def ("), "syntax"),
        (ToolDecl(name="a", call="m:nothing"), "unknown_function"),
        (ToolDecl(name="a", call="n:f"), "unknown_module"),
        (ToolDecl(name="a", call="m:any", timeout=0), "tool_limit"),
        (ToolDecl(name="a", call="m:f", parameters=properties("city", "town")), "tool_parameters"),
    ],
)
def test_problems_of_tools(tool: ToolDecl, code: str) -> None:
    assert codes(flow(tool)) == [code]


def test_the_fix_takes_the_parameters_from_the_code() -> None:
    said = flow(ToolDecl(name="a", call="m:f"))
    (problem,) = problems(said)
    assert problem.fix is not None
    changed = problem.fix.edit.apply(said).workflow
    assert changed.tools[0].parameters["required"] == ["city"]
    assert codes(changed) == []


@pytest.mark.parametrize(
    ("server", "code"),
    [
        (McpServerDecl(name="bad name", command="x"), "server_name"),
        (McpServerDecl(name="s"), "server_command"),
        (McpServerDecl(name="s", transport="http", url="ftp://x"), "server_url"),
        (McpServerDecl(name="s", transport="http", url="http://a:b@x/mcp"), "server_url"),
        (McpServerDecl(name="s", command="x", timeout=0), "server_timeout"),
    ],
)
def test_problems_of_servers(server: McpServerDecl, code: str) -> None:
    assert codes(flow(servers=(server,))) == [code]


def test_an_agent_that_uses_an_unknown_server_can_be_fixed() -> None:
    said = flow(mcp_servers=("gone",))
    (problem,) = problems(said)
    assert problem.code == "unknown_server"
    assert problem.fix is not None
    assert codes(problem.fix.edit.apply(said).workflow) == []


# --------------------------------------------------------------------------------------------------------- edits


def after(edit: Any, workflow: Workflow) -> Workflow:
    assert not isinstance(edit, Problem)
    made = edit.apply(workflow)
    assert made.inverse.apply(made.workflow).workflow == workflow
    return made.workflow


def test_a_new_tool_follows_its_code_until_somebody_says_otherwise() -> None:
    made = after(edits.add_tool(Workflow()), Workflow())
    assert (made.tools[0].name, made.tools[0].parameters["required"]) == ("tool", ["text"])
    agent = AgentNode(id="a", name="A", instructions="x", tools=("tool",))
    made = made.model_copy(update={"nodes": (agent,)})
    code = 'def get_weather(city: str):\n    """Tells the weather."""'
    made = after(edits.set_tool(made, 0, source=code), made)
    assert (made.tools[0].name, made.tools[0].description) == ("get_weather", "Tells the weather.")
    assert made.tools[0].parameters["properties"] == {"city": {"type": "string"}}
    assert made.nodes[0].tools == ("get_weather",)
    broken = after(edits.set_tool(made, 0, source="def get_w("), made)
    assert broken.tools[0].parameters == made.tools[0].parameters
    said = after(edits.set_tool(made, 0, description="My words.", parameters={"type": "object"}), made)
    said = after(edits.set_tool(said, 0, source=code.replace("city", "town").replace("get_weather", "other")), said)
    assert (said.tools[0].description, said.tools[0].parameters) == ("My words.", {"type": "object"})
    assert said.tools[0].name == "other"
    said = after(edits.rename_tool(said, 0, "mine"), said)
    said = after(edits.set_tool(said, 0, source=code, from_code=("parameters",)), said)
    assert (said.tools[0].name, said.tools[0].parameters["required"]) == ("mine", ["city"])


def test_a_module_is_imported_with_its_functions() -> None:
    made = after(
        edits.import_module(Workflow(), "my-tools", "def a(x: int): ...\ndef _b(): ...\nasync def c(): ..."), Workflow()
    )
    assert [m.name for m in made.modules] == ["my_tools"]
    assert [(t.name, t.call) for t in made.tools] == [("a", "my_tools:a"), ("c", "my_tools:c")]
    assert made.tools[0].parameters["properties"] == {"x": {"type": "integer"}}


def test_where_the_code_is_can_change() -> None:
    made = flow(ToolDecl(name="a", source="def a(): ...", approval="always"))
    module = after(edits.set_code_of(made, 0, "module"), made)
    assert (module.tools[0].source, module.tools[0].call, module.tools[0].approval) == ("", "m:f", "always")
    caller = after(edits.set_code_of(module, 0, "caller"), module)
    assert edits.code_of(caller.tools[0]) == "caller"
    written = after(edits.set_code_of(caller, 0, "written"), caller)
    assert (edits.code_of(written.tools[0]), written.tools[0].approval) == ("written", "never")
    assert codes(written) == []


def test_names_change_wherever_they_are_used_and_removing_leaves_no_mention() -> None:
    runner = RunnerNode(id="r", name="R", agents=(RunnerAgent(id="x", name="X", tools=("a",), mcp_servers=("s",)),))
    made = flow(
        ToolDecl(name="a", call="m:any"),
        servers=(McpServerDecl(name="s", command="x"),),
        tools=("a",),
        mcp_servers=("s",),
    )
    made = made.model_copy(update={"nodes": (*made.nodes, runner)})
    other = after(edits.rename_tool(made, 0, "b"), made)
    other = after(edits.set_server(other, 0, name="t", command="y"), other)
    assert (other.nodes[0].tools, other.nodes[0].mcp_servers) == (("b",), ("t",))
    assert other.nodes[1].agents[0].mcp_servers == ("t",)
    assert other.mcp_servers[0].command == "y"
    gone = after(edits.remove_server(other, 0), other)
    gone = after(edits.remove_tool(gone, 0), gone)
    assert (gone.nodes[0].tools, gone.nodes[0].mcp_servers, gone.nodes[1].agents[0].mcp_servers) == ((), (), ())
    assert isinstance(edits.rename_tool(made, 0, "no good name"), Problem)
    twice = after(edits.add_server(gone), gone)
    assert [m.name for m in after(edits.add_server(twice), twice).mcp_servers] == ["server", "server_2"]


def test_two_tools_that_would_share_a_module_are_told_apart() -> None:
    one, other = ToolDecl(name="a-b", source="def f(): ..."), ToolDecl(name="a_b", source="def g(): ...")
    assert codes(flow(one, other)) == ["tool_module", "tool_module"]
    assert codes(flow(one)) == []


def test_what_follows_the_code_is_no_part_of_how_a_run_goes() -> None:
    made = flow(ToolDecl(name="a", source="def f(): ..."), tools=("a",))
    same = flow(ToolDecl(name="a", source="def f(): ...", from_code=("parameters",)), tools=("a",))
    other = flow(ToolDecl(name="a", source="def f(): ...", timeout=1), tools=("a",))
    same, other = (w.model_copy(update={"id": made.id}) for w in (same, other))
    assert node_fingerprint(same, "writer") == node_fingerprint(made, "writer")
    assert document_fingerprint(same) == document_fingerprint(made)
    assert node_fingerprint(other, "writer") != node_fingerprint(made, "writer")
    server = McpServerDecl(name="s", command="x")
    with_server = flow(servers=(server,), mcp_servers=("s",))
    changed = flow(servers=(server.model_copy(update={"arguments": ("y",)}),), mcp_servers=("s",))
    assert node_fingerprint(with_server, "writer") != node_fingerprint(changed, "writer")
