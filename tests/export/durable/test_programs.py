"""Worker and client of an export as a person starts them, with nothing but environment variables."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from studio.agents.offline import serve
from studio.assembly import served_model
from studio.document.model import HumanInputNode, ToolDecl
from studio.export.durable import export_durable
from studio.files import write_project

from tests.assembly.running import script
from tests.assembly.test_kinds import SCORE, agent, function, show, workflow
from tests.export.corpus import documents
from tests.export.durable.hosts import PATIENCE, Hosts

pytestmark = pytest.mark.filterwarnings("default")


def _started(module: str, folder: Path, environment: dict[str, str], log: Path) -> subprocess.Popen[str]:
    with log.open("w") as errors:
        command = [sys.executable, "-m", module]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)


async def test_a_run_from_the_command_line(tmp_path: Path) -> None:
    """A tool that is approved, a question whose answer is a record, a wrong answer, the output; then a clean end."""
    call = {"calls": [{"id": "c1", "tool": "buy", "arguments": {}}]}
    ask = HumanInputNode(id="ask", name="Ask", question="{input}?", answer_type="Score")
    rate = function("rate", "result = f'{data.points} of 10'", accepts="Score")
    flow = workflow(
        [agent("a", tools=("buy",)), ask, rate, show()],
        name="Shop",
        types=(SCORE,),
        tools=(ToolDecl(name="buy", source="def buy() -> str:\n    return 'bought'", approval="always"),),
        offline=script(a=[call, {"echo": "> "}]).model_copy(update={"delay_ms": 0}),
        outputs=("show",),
    )
    server = await serve(served_model(flow))
    hosts = Hosts(tmp_path)
    hosts.export("shop", flow)
    hosts.open()
    environment = {
        **os.environ,
        "DURABLE_ENDPOINT": hosts.address,
        "DURABLE_TASKHUB": "",
        "OPENAI_API_KEY": server.key,
        "OPENAI_BASE_URL": server.url,
        "OPENAI_CHAT_COMPLETION_MODEL": "offline",
    }
    folder = tmp_path / "shop"
    worker = _started("shop.worker", folder, environment, tmp_path / "log")
    assert worker.stdout is not None
    try:
        said = await asyncio.to_thread(worker.stdout.readline)
        assert said.startswith("Working on shop_v"), (tmp_path / "log").read_text()
        answers = 'true\n{"score": 7}\n{"points": 7}\n'
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "shop.client", "run", "socks"],
            cwd=folder, env=environment, input=answers, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.stdout.close()
        ended = await asyncio.to_thread(worker.wait, PATIENCE)
        await asyncio.to_thread(hosts.close)
        await server.close()
    asked = [line for line in done.stderr.splitlines() if line.startswith(("a: ", "ask: ", "This is no answer"))]
    assert asked[0] == "a: May buy({}) run? true or false", done.stderr
    assert asked[1] == "ask: > bought?"
    assert asked[2].startswith("This is no answer to the question:")
    assert (done.returncode, done.stdout) == (0, "7 of 10\n")
    assert ended == 0


@pytest.mark.long
def test_the_test_of_an_export_passes(tmp_path: Path) -> None:
    """The one that comes with it: two workers, one killed, compared with one process."""
    flow = documents()["template_research_brief"]
    write_project(export_durable(flow, "brief"), tmp_path / "brief")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_scale_out.py"],
        cwd=tmp_path / "brief", capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "1 passed" in done.stdout
