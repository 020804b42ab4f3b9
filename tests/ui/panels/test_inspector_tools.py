"""Tools and MCP servers in the inspector: cards that write the document, a question before a program starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.edits import SetWorkflow
from studio.document.model import AgentNode, McpServerDecl, ToolDecl
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.mcp_cards import McpCard, McpCards
from studio.ui.inspector.tool_cards import ToolCard, ToolCards

Show = Callable[..., InspectorPanel]


@pytest.fixture
def tools(show: Show, workspace: Workspace) -> Iterator[ToolCards]:
    panel = show(InspectorPanel, 340, 900)
    workspace.selection.select(())
    workspace.selection.field_requested.emit("", "tools")
    found = panel.findChild(ToolCards)
    assert isinstance(found, ToolCards)
    yield found
    panel.hide()


@pytest.fixture
def servers(show: Show, workspace: Workspace) -> Iterator[McpCards]:
    panel = show(InspectorPanel, 340, 900)
    workspace.selection.select(())
    workspace.selection.field_requested.emit("", "mcp_servers")
    found = panel.findChild(McpCards)
    assert isinstance(found, McpCards)
    yield found
    panel.hide()


def card(cards: ToolCards, index: int) -> ToolCard:
    found = cards.cards[index]
    assert isinstance(found, ToolCard)
    found.set_open(True)
    return found


def editor(found: Any, name: str) -> Any:
    return found.form.field(name).editor


def press(qtbot: QtBot, cards: Any, text: str) -> None:
    from studio.ui.widgets.buttons import Button

    button = next(b for b in cards.findChildren(Button) if text in (b.text(), b.accessibleName()) and b.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_way_from_an_agent_leads_to_the_cards(tools: ToolCards) -> None:
    assert tools.isVisible()
    assert [c.target.item.name for c in tools.cards] == ["check_citation", "web_search"]


def test_a_function_is_written_and_the_tool_follows(tools: ToolCards, workspace: Workspace, qtbot: QtBot) -> None:
    press(qtbot, tools, "Add tool")
    made = card(tools, 2)
    source = editor(made, "source")
    source.selectAll()
    qtbot.keyClicks(source, "async def get_weather(city: str, days: int = 3): return city")
    tool = workspace.document.workflow.tools[2]
    assert tool.name == "get_weather"
    assert tool.parameters["required"] == ["city"]
    assert made._said.plain == "async function get_weather(city, days)"
    source.selectAll()
    qtbot.keyClicks(source, "def (")
    source.left.emit()
    assert made.form.field("source")._problem.startswith("Line 1: invalid syntax")  # type: ignore[union-attr]
    assert workspace.document.workflow.tools[2].parameters["required"] == ["city"]


def test_a_tool_is_renamed_where_it_is_used_when_the_field_is_left(
    tools: ToolCards, workspace: Workspace, qtbot: QtBot
) -> None:
    first = card(tools, 0)
    first._name.selectAll()
    qtbot.keyClicks(first._name, "look up")
    qtbot.keyPress(first._name, Qt.Key.Key_Return)
    assert workspace.document.workflow.tools[0].name == "check_citation"
    assert "up to 64 letters" in first._name_field._problem
    first._name.selectAll()
    qtbot.keyClicks(first._name, "look_up")
    qtbot.keyPress(first._name, Qt.Key.Key_Return)
    agents = [n for n in workspace.document.workflow.nodes if isinstance(n, AgentNode) and n.tools]
    assert "look_up" in agents[0].tools
    workspace.document.undo_stack.undo()
    assert workspace.document.workflow.tools[0].name == "check_citation"


def test_where_the_code_is_decides_what_is_shown(tools: ToolCards, workspace: Workspace) -> None:
    first = card(tools, 0)
    assert (first._source.isVisible(), first._call.isVisible()) == (False, True)
    first._where.edited.emit("written")
    assert (first._source.isVisible(), first._call.isVisible()) == (True, False)
    first._where.edited.emit("caller")
    assert workspace.document.workflow.tools[0].approval == "caller"
    assert not first._approval.isVisible()
    assert first.summary() == "caller answers"


def test_a_file_becomes_a_module_with_tools(tools: ToolCards, workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "weather.py"
    file.write_text("def today(city: str): ...\ndef _no(): ...\n", encoding="utf-8")
    tools.import_file(file)
    assert [(t.name, t.call) for t in workspace.document.workflow.tools[2:]] == [("today", "weather:today")]
    file.write_text("def (", encoding="utf-8")
    tools.import_file(file)
    assert len(workspace.document.workflow.tools) == 3
    assert tools._problem.plain.startswith("weather.py gives no tools: invalid syntax")
    tools.import_file(tmp_path / "gone.py")
    assert tools._problem.plain.startswith("gone.py cannot be read")


def test_removing_a_tool_takes_it_from_the_agents(tools: ToolCards, workspace: Workspace, qtbot: QtBot) -> None:
    card(tools, 0)
    press(qtbot, tools, "Remove check_citation")
    qtbot.waitUntil(lambda: len(workspace.document.workflow.tools) == 1)
    assert all("check_citation" not in getattr(n, "tools", ()) for n in workspace.document.workflow.nodes)
    assert len(tools.cards) == 1


def test_a_server_asks_before_it_is_trusted_and_again_when_it_changed(
    servers: McpCards, workspace: Workspace, qtbot: QtBot
) -> None:
    press(qtbot, servers, "Add MCP server")
    made = servers.cards[0]
    assert isinstance(made, McpCard)
    assert not made._accept.isVisible()  # nothing to ask about yet
    qtbot.keyClicks(editor(made, "command"), "python")
    qtbot.keyClicks(editor(made, "arguments"), "-m")
    qtbot.keyPress(editor(made, "arguments"), Qt.Key.Key_Return)
    qtbot.keyClicks(editor(made, "arguments"), "my server")
    qtbot.keyClicks(editor(made, "environment"), "TOKEN=env:MY_TOKEN")
    server = workspace.document.workflow.mcp_servers[0]
    assert (server.command, server.arguments, server.environment) == (
        "python", ("-m", "my server"), {"TOKEN": "env:MY_TOKEN"},
    )  # fmt: skip
    assert made._command.plain.startswith("program: python -m 'my server'\nvariable: TOKEN=env:MY_TOKEN\nfound at: ")
    workspace.mcp.accept(server)
    assert (made._accept.isVisible(), made._start.isVisible()) == (False, True)
    qtbot.keyClicks(editor(made, "arguments"), "!")
    assert (made._accept.isVisible(), made._start.isVisible()) == (True, False)


def test_an_address_has_other_fields(servers: McpCards, workspace: Workspace, qtbot: QtBot) -> None:
    server = McpServerDecl(name="far", transport="http", url="https://example.com/mcp")
    workspace.document.execute(SetWorkflow({"mcp_servers": (server,)}), "Add")
    made = servers.cards[0]
    made.set_open(True)
    assert (editor(made, "url").isVisible(), editor(made, "command").isVisible()) == (True, False)
    headers = editor(made, "headers")
    qtbot.keyClicks(headers, "no pair")
    headers.left.emit()
    assert "Line 1 has no :" in made.form.field("headers")._problem  # type: ignore[union-attr]
    headers.selectAll()
    qtbot.keyClicks(headers, "Authorization: env:TOKEN")
    assert workspace.document.workflow.mcp_servers[0].headers == {"Authorization": "env:TOKEN"}


def test_agents_choose_servers(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    servers = (McpServerDecl(name="far", transport="http", url="https://example.com/mcp"),)
    workspace.document.execute(SetWorkflow({"mcp_servers": servers, "tools": (ToolDecl(name="x"),)}), "Add")
    workspace.selection.select(("writer",))
    assert panel.page is not None
    assert panel.page.form is not None
    field = panel.page.form.field("mcp_servers").editor  # type: ignore[union-attr]
    assert field._offer() == [("far", "far")]  # type: ignore[attr-defined]
