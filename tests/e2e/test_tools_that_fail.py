"""A key from the environment that is not there at first, tools that raise and never end, a server that dies in a call,
is started again and still runs when the program is closed. Real pointer and keys against a strict loopback server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studio.document.model import AgentNode, DirectEdge, McpServerDecl, Place, ToolDecl, Workflow
from studio.files import write_workflow

from tests.e2e.display import wait_until
from tests.e2e.studio import ROOT, Studio
from tests.e2e.test_tools_and_providers import RUN, WORKFLOW, Person
from tests.fakes.provider_server import ProviderServer

pytestmark = pytest.mark.e2e

VARIABLE, KEY = "E2E_PROVIDER_KEY", "sk-canary-of-the-environment"
CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def drawing() -> Workflow:
    """One agent whose tools all fail, and one whose tool never ends."""
    program, script = sys.executable, str(ROOT / "tests" / "fakes" / "mcp_server.py")
    dying, waiting = (
        McpServerDecl(name=name, command=program, arguments=(script, name), tools=(tool,), approval="never")
        for name, tool in (("dying", "die"), ("waiting", "wait"))
    )
    broken = "def broken(city: str) -> str:\n    raise ValueError('no such city: ' + city)\n"
    endless = "def endless(city: str) -> str:\n    while True:\n        pass\n"
    return Workflow(
        name="Failing",
        start="unlucky",
        nodes=(
            AgentNode(
                id="unlucky", name="Unlucky", instructions="Try.", tools=("broken", "endless"), mcp_servers=("dying",)
            ),
            AgentNode(id="patient", name="Patient", instructions="Wait.", mcp_servers=("waiting",)),
        ),
        edges=(DirectEdge(id="e", source="unlucky", target="patient"),),
        tools=(
            ToolDecl(name="broken", source=broken, parameters=CITY),
            ToolDecl(name="endless", source=endless, parameters=CITY, timeout=0.5),
        ),
        mcp_servers=(dying, waiting),
        places={"unlucky": Place(x=0, y=0), "patient": Place(x=0, y=200)},
        sample_input="What is the weather?",
    )


def set_up_provider(person: Person, url: str) -> None:
    """A profile whose key is a variable, used by default."""
    studio = person.studio
    person.display.key("ctrl+comma")
    studio.click("Model providers", "SettingsDialog")
    studio.click("Add", "ProvidersPage")
    studio.wait("find('profile.name') is not None")
    person.fill("profile.name", "Strict")
    person.fill("profile.url", url)
    studio.click("Variable", "ProvidersPage")
    person.fill("profile.key_variable", VARIABLE)
    person.fill("profile.model", "small-1")
    studio.click("Save", "ProvidersPage")
    studio.click("Use by default", "ProvidersPage")
    studio.click("Close", "SettingsDialog")
    studio.wait("find('settings') is None")


def run_without_the_variable(person: Person) -> None:
    """The run fails before anything is sent, and says which variable of which profile it was."""
    studio = person.studio
    studio.click("trust_accept")
    studio.wait("find('trust_accept') is None")
    person.display.key("ctrl+l")
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'failed'")
    assert f"Strict: variable {VARIABLE} is not set." in studio.ask(f"{RUN}.sentence")
    person.shot("fail-1-no-variable")
    person.display.key("ctrl+q")
    assert studio.wait_closed() == 0


def run_with_it(person: Person) -> None:
    """Every failure is a result that the model sees; the second agent then waits for a tool that never ends."""
    studio = person.studio
    person.display.key("ctrl+l")
    person.display.key("F5")
    view = "window.page.workspace.mcp.view"
    called = f"any(p.kind == 'tool' for i in {RUN}.invocations.values() if i.node == 'patient' for p in i.pieces)"
    studio.wait(called)
    studio.wait(f"{view}({WORKFLOW}.mcp_servers[0]).state == 'failed'")
    told = studio.ask(f"next(o.text for o in {RUN}.outputs if o.node == 'unlucky')")
    assert told.count("Error:") == 3
    assert "no such city" not in told  # details are for the log, unless the loop is told to give them
    usage = studio.ask(f"[{RUN}.nodes['unlucky'].usage.input, {RUN}.nodes['unlucky'].usage.output]")
    assert usage == [None, None]  # this server tells none: unknown, never 0
    person.shot("fail-2-results")


def start_again_and_quit(person: Person) -> None:
    """The person sees why the server ended, starts it again, and closes the program in the middle of the run."""
    studio = person.studio
    first, second = (f"window.page.workspace.mcp.view({WORKFLOW}.mcp_servers[{n}])" for n in (0, 1))
    assert "code 3: last words" in studio.ask(f"{first}.problem")
    person.display.key("Escape")
    person.open_section("MCP servers")
    person.press("dying", "McpCards")
    person.press("Restart", "McpCard")
    studio.wait(f"{first}.state == 'ready'")
    person.shot("fail-3-started-again")
    pids = [studio.ask(f"{view}.pid") for view in (first, second)]
    assert all(_runs(pid) for pid in pids)
    person.display.key("ctrl+q")
    assert studio.wait_closed() == 0
    wait_until(lambda: not any(map(_runs, pids)), "no process of a server is left")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_tools_that_fail(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "failing.workflow.json"
    write_workflow(drawing(), file)
    with ProviderServer("no_stream_options", "no_usage", "whole", "any_model") as server:
        person = Person(start(str(file)))
        person.studio.wait("window.page is not None")
        set_up_provider(person, server.url)
        run_without_the_variable(person)
        assert server.requests == []
        person = Person(start(str(file), **{VARIABLE: KEY}))
        person.studio.wait("window.page is not None")
        run_with_it(person)
        start_again_and_quit(person)
        asked = [body for _, body in server.requests]
        assert "stream_options" in asked[0]
        assert all("stream_options" not in body for body in asked[1:])  # learned from one refusal
        assert {h["authorization"] for h in server.headers} == {f"Bearer {KEY}"}
    written = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert [f for f in written if KEY.encode() in f.read_bytes()] == []
    assert "Traceback" not in person.studio.errors.read_text(encoding="utf-8")
