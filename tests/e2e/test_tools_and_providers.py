"""A provider is set up and probed, an agent gets a function tool and a tool of an MCP server, one call is approved, the
other refused, and what it used and cost is shown. Real pointer and keys against a loopback server."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import AgentNode, Place, Workflow
from studio.files import write_workflow

from tests.e2e.conftest import SHOTS
from tests.e2e.display import wait_until
from tests.e2e.studio import ROOT, Studio
from tests.e2e.test_control import Debugging
from tests.fakes.provider_server import ProviderServer

pytestmark = pytest.mark.e2e

WORKFLOW = "window.page.workspace.document.workflow"
RUN = "window.page.workspace.run"
KEY = "sk-canary-of-the-window"
FIELD = "getattr(app.focusWidget(), 'accessibleName', str)()"


class Person:
    """Somebody at the window."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.display = studio, studio.display

    def shot(self, name: str) -> None:
        self.display.screenshot(SHOTS / f"tools-{name}.png")

    def fill(self, field: str, text: str, within: str = "") -> None:
        """Types into a field by its object name or label."""
        focused = f"{field!r} in ({FIELD}, getattr(app.focusWidget(), 'objectName', str)())"

        def clicked() -> bool:
            self.see(field, within)
            self.studio.click(field, within)
            return bool(self.studio.ask(focused))

        wait_until(clicked, f"{field} has the focus")
        self.display.key("ctrl+a")
        self.display.type(text)

    def see(self, text: str, within: str = "") -> None:
        """Turns the wheel over the inspector until something is in view."""
        for tries in range(90):
            found = self.studio.ask(f"find({text!r}, {within!r})")
            if found and (
                not within.endswith(("Card", "Cards", "ChipsField", "InspectorPanel"))
                or 130 < found[1] + found[3] // 2 < 930
            ):
                return
            self.display.move(1300, 500)
            self.display.xdotool("click", 4 if (found and found[1] <= 130) or tries > 40 else 5)
        raise AssertionError(f"{text} never came into view")

    def press(self, text: str, within: str) -> None:
        """Clicks something in a card, which may have to be scrolled to."""
        self.see(text, within)
        self.studio.click(text, within)

    def choose(self, field: str, entry: str) -> None:
        """Adds an entry from the menu of a field of chips."""
        self.press(field, "ChipsField")
        self.studio.click(entry, "QMenu")

    def open_section(self, title: str) -> None:
        """Unfolds a section of the inspector by its header, which shows its name."""
        self.press(title, "InspectorPanel")


def set_up_provider(person: Person, server: ProviderServer) -> None:
    """A profile with a key for this session, probed, used by default."""
    studio = person.studio
    person.display.key("ctrl+comma")
    studio.click("Model providers", "SettingsDialog")
    studio.click("Add", "ProvidersPage")
    studio.wait("find('profile.name') is not None")
    person.fill("profile.name", "Here")
    person.fill("profile.url", server.url)
    studio.click("This session", "ProvidersPage")
    person.fill("profile.key", KEY)
    person.fill("profile.model", "small-1")
    person.shot("1-profile")
    studio.click("Save", "ProvidersPage")
    studio.wait("find('stored; type to replace it') is not None")
    studio.click("Test connection…", "ProvidersPage")
    studio.wait("find('probe') is not None")
    studio.click("Start", "ProbeDialog")
    studio.wait("find('Use these settings') is not None", 60)
    person.shot("2-probe")
    studio.click("Use these settings", "ProbeDialog")
    studio.wait("find('probe') is None")
    studio.click("Use by default", "ProvidersPage")
    person.shot("3-profile-probed")


def enter_price(person: Person) -> None:
    """A row of the table of prices, from cell to cell with Tab."""
    studio = person.studio
    studio.click("Prices", "SettingsDialog")
    studio.click("Add", "PricesPage")
    studio.wait(
        "type(app.focusWidget()).__name__ == 'QExpandingLineEdit' or 'LineEdit' in type(app.focusWidget()).__name__"
    )
    for text in ("small-*", "", "2", "", "8"):
        person.display.key("ctrl+a")
        if text:
            person.display.type(text)
        person.display.key("Tab")
    person.display.key("Escape")
    person.shot("4-prices")
    studio.click("Close", "SettingsDialog")
    studio.wait("find('settings') is None")


def add_function_tool(person: Person) -> None:
    """Written in the inspector; asks before it runs."""
    studio = person.studio
    person.open_section("Tools")
    person.press("Add tool", "ToolCards")
    studio.wait(f"len({WORKFLOW}.tools) == 1")
    person.fill("Function", 'def get_weather(city: str) -> str: return "warm in " + city', "ToolCard")
    studio.wait(f"{WORKFLOW}.tools[0].name == 'get_weather' and 'city' in {WORKFLOW}.tools[0].parameters['properties']")
    person.press("Ask first", "ToolCard")
    studio.wait(f"{WORKFLOW}.tools[0].approval == 'always'")
    person.shot("5-function-tool")


def add_server(person: Person) -> None:
    """A program is trusted and started; one of its tools is taken."""
    studio = person.studio
    person.open_section("MCP servers")
    person.press("Add MCP server", "McpCards")
    studio.wait(f"len({WORKFLOW}.mcp_servers) == 1")
    person.fill("Program", sys.executable, "McpCard")
    person.fill("Arguments, one a line", str(ROOT / "tests" / "fakes" / "mcp_server.py"), "McpCard")
    person.press("Always", "McpCard")
    person.shot("6-server")
    person.press("Trust and start", "McpCard")
    server = f"window.page.workspace.mcp.view({WORKFLOW}.mcp_servers[0])"
    studio.wait(f"{server}.state == 'ready' and len({server}.tools) > 3", 60)
    person.press("What it offers", "McpCard")
    person.shot("7-server-ready")
    person.choose("Tools that are taken", "add")
    studio.wait(f"{WORKFLOW}.mcp_servers[0].tools == ('add',)")


def give_tools(person: Person) -> None:
    """The agent takes both from the menus of its fields."""
    studio = person.studio
    person.display.click(*studio.ask("spot('writer', 'middle')"))
    studio.wait("window.page.workspace.selection.items == ('writer',)")
    for field, entry, where in (("Tools", "get_weather", "tools"), ("MCP servers", "server", "mcp_servers")):
        person.choose(field, entry)
        studio.wait(f"{WORKFLOW}.node('writer').{where} == ({entry!r},)")
    person.shot("8-agent")


def run_and_decide(person: Person) -> None:
    """Both tools are called at once; one is approved, the other refused. A breakpoint on the cost holds the rest."""
    studio = person.studio
    studio.click("Debug")
    Debugging(studio).breakpoint("Budget: cost", Money="0.0003")
    person.display.key("ctrl+l")
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'waiting' and len({RUN}.requests) == 2", 60)
    studio.wait("find('Approve', 'ApprovalCard') is not None")
    person.shot("9-two-calls")
    cards = "[w for w in app.allWidgets() if type(w).__name__ == 'ApprovalCard' and w.isVisible()]"
    for tool, button in (("get_weather", "approve"), ("server_add", "refuse")):
        card = f"next(w for w in {cards} if w._tool == {tool!r})"
        x, y, width, height = studio.ask(f"rect({card}.{button})")
        person.display.click(x + width // 2, y + height // 2)
        studio.wait(f"{card}.{button}.isChecked()")
    person.shot("10-decided")
    studio.click("Send answers", "RequestsPanel")
    studio.wait(f"{RUN}.sentence == 'Paused before superstep 2 — the run has cost more than 0.0003'", 60)
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'completed'", 60)
    text = studio.ask(f"{RUN}.outputs[-1].text")
    assert "warm in Oslo" in text
    assert "Error: Tool call invocation was rejected by user." in text
    # 200 tokens in at 2 and 40 out at 8 dollars for a million
    studio.wait("find('run_cost') is not None")
    assert studio.ask("[w.text for w in app.allWidgets() if w.objectName() == 'run_cost']") == ["$0.00072"]
    person.shot("11-done")


def test_a_provider_and_tools(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "weather.workflow.json"
    document = Workflow(
        name="Weather",
        start="writer",
        nodes=(AgentNode(id="writer", name="Writer", instructions="Tell about the weather."),),
        places={"writer": Place(x=0, y=0)},
        sample_input="What is the weather?",
    )
    write_workflow(document, file)
    with ProviderServer("new_limit", pause=0.05) as server:
        studio = start(str(file))
        person = Person(studio)
        studio.wait("window.page is not None")
        set_up_provider(person, server)
        enter_price(person)
        add_function_tool(person)
        add_server(person)
        give_tools(person)
        run_and_decide(person)
        assert studio.ask(f"{RUN}.usage.output") == 40
        assert all(KEY not in str(body) for _, body in server.requests)
        assert {h["authorization"] for h in server.headers} == {f"Bearer {KEY}"}
        person.display.key("ctrl+s")
        studio.wait("not window.page.workspace.document.dirty")
        person.display.key("ctrl+q")
        assert studio.wait_closed() == 0
    written = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert [f for f in written if KEY.encode() in f.read_bytes()] == []
    assert "Traceback" not in studio.errors.read_text(encoding="utf-8")
