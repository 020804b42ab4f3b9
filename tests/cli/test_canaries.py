"""No secret reaches a file, a log, an export or the terminal, whatever providers and servers do with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studio.document.model import AgentNode, McpServerDecl, Workflow
from studio.files import write_workflow
from studio.settings.profiles import Profile, Profiles, write_profiles
from studio.settings.secrets import SecretProblem, Secrets

from tests.cli.conftest import Ran
from tests.fakes.provider_server import ProviderServer

Cli = Callable[..., Ran]
SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
KEY, HEADER, TOKEN = "canary-key-81f2", "canary-header-93aa", "canary-token-55c0"
CANARIES = (KEY, HEADER, TOKEN)


class Telling(ProviderServer):
    """Refuses with everything that it was sent, as some gateways do."""

    def refusal(self, body: dict[str, Any]) -> dict[str, Any] | None:
        if "telling" not in self.habits:
            return super().refusal(body)
        return {"error": {"message": f"refused: {self.headers[-1]}", "type": "x", "param": None, "code": None}}

    def reply(self, body: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        text, calls = super().reply(body)
        if "repeating" in self.habits:  # streamed in pieces of four characters
            text = f"Your headers were {self.headers[-1]['authorization']} and {self.headers[-1]['x-secret']}. {text}"
        return text, calls


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent with a key, a secret header, and a server that returns its whole environment."""
    for name, value in (("C_KEY", KEY), ("C_HEADER", HEADER), ("C_TOKEN", TOKEN)):
        monkeypatch.setenv(name, value)
    node = AgentNode(id="writer", name="Writer", instructions="Write.", profile="Here", mcp_servers=("tiny",))
    server = McpServerDecl(
        name="tiny",
        command=sys.executable,
        arguments=(str(SERVER),),
        environment={"TOKEN": "env:C_TOKEN"},
        tools=("environment",),
        approval="never",
    )
    path = tmp_path / "flow.workflow.json"
    write_workflow(Workflow(id="c", start="writer", nodes=(node,), mcp_servers=(server,), sample_input="go"), path)
    return path


def here(server: ProviderServer) -> None:
    headers = {"X-Secret": "env:C_HEADER"}
    write_profiles(Profiles().with_profile(Profile("Here", "other", server.url, "env:C_KEY", "small-1", headers)))


def leaks(folder: Path, *said: str) -> list[str]:
    """Files, and texts, in which a canary is."""
    files = [f for f in folder.rglob("*") if f.is_file()]
    assert len(files) > 1
    found = [str(f) for f in files for c in CANARIES if c.encode() in f.read_bytes()]
    return found + [text for text in said for c in CANARIES if c in text]


def test_a_run_with_a_recording_leaves_no_secret_anywhere(cli: Cli, flow: Path, tmp_path: Path) -> None:
    with Telling() as server:
        here(server)
        code, out, err = cli("run", flow, "--trust", "--json", "--record", tmp_path / "run.cassette.jsonl")
        assert code == 0
        sent = str(server.headers)
        assert KEY in sent
        assert HEADER in sent
    assert "[secret]" in out  # the server of the tool did return its variable
    assert leaks(tmp_path, out, err) == []


def test_a_provider_that_repeats_the_request_in_its_error_leaves_no_secret(
    cli: Cli, flow: Path, tmp_path: Path
) -> None:
    with Telling("telling") as server:
        here(server)
        for more in ((), ("--json",), ("--stream",)):
            code, out, err = cli("run", flow, "--trust", "--record", tmp_path / "run.cassette.jsonl", *more)
            assert code == 1
            assert "refused" in out + err
            assert leaks(tmp_path, out, err) == []


@pytest.mark.parametrize("more", [(), ("--json",), ("--stream",), ("--stream", "--json")])
def test_an_answer_and_an_input_with_keys_leave_none_in_the_runs(
    cli: Cli, flow: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """The model repeats what it was sent, also in pieces; and a person typed the key into the input."""
    with Telling("repeating") as server:
        here(server)
        record = ("--record", tmp_path / "run.cassette.jsonl")
        code, out, err = cli("run", flow, "--trust", "--input", f"my key is {KEY}", *record, *more)
        assert code == 0
        assert KEY in str(server.requests)  # the prompt is sent as it was written
    stores = [file for file in tmp_path.rglob("*.db") if file.stat().st_size]
    assert stores
    assert b"[secret]" in stores[0].read_bytes()
    assert "[secret]" in out
    assert leaks(tmp_path, *(() if "--json" in more else (out,)), err) == []


def test_export_doctor_and_lists_show_references_only(cli: Cli, flow: Path, tmp_path: Path) -> None:
    with Telling("telling") as server:
        here(server)
        _, out, err = cli("doctor", "--probe", "Here")
    assert leaks(tmp_path, out, err) == []
    _, out, err = cli("validate", flow)
    assert leaks(tmp_path, out, err) == []
    _, out, err = cli("export", flow, "--to", "agent-framework", "-o", tmp_path / "exported")
    assert leaks(tmp_path, out, err) == []


async def test_objects_that_hold_secrets_do_not_show_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C_KEY", KEY)
    secrets = Secrets()
    reference = await secrets.store(TOKEN, "session")
    assert await secrets.resolve("env:C_KEY") == KEY
    from studio.agents.mcp import StdioServer
    from studio.assembly.profile_client import client_settings

    made = await client_settings(
        Profile("x", "other", "http://x.example/v1", reference, "m", {"H": "env:C_KEY"}), secrets
    )
    shown = f"{secrets!r} {made!r} {StdioServer('s', 'x', environment={'T': TOKEN})!r}"
    assert not any(c in shown for c in CANARIES)
    with pytest.raises(SecretProblem) as problem:
        await secrets.store(f"{KEY} and {TOKEN}", "session")
    assert not any(c in str(problem.value) for c in CANARIES)
