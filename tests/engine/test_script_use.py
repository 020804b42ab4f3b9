"""The engine as a library: a script without a document and without Qt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, sys
from studio.agents.messages import AgentReply, assistant
from studio.agents.session import Session
from studio.engine import AgentHost, Codec, SqliteStore, WorkflowBuilder

class Echo:
    def __init__(self, name): self.name = name
    def new_session(self): return Session()
    async def run(self, messages, *, session, updates=None, hooks=None):
        return AgentReply((assistant(f"{self.name}({messages[-1].text})", self.name),))

def build():
    writer, critic = AgentHost(Echo("writer"), "writer"), AgentHost(Echo("critic"), "critic")
    return WorkflowBuilder(writer, name="two agents", outputs=[critic]).edge(writer, critic).build()

async def main():
    store = SqliteStore(sys.argv[1], Codec())
    result = await build().run("hello", store=store)
    print(result.outputs[0].text)
    middle = (await store.infos())[1]
    again = await build().run(checkpoint=middle.id, store=store)
    print(again.outputs[0].text, len(await store.infos()))
    await store.close()

asyncio.run(main())
bad = {"PySide6", "pydantic", "openai", "httpx2", "keyring", "studio.document", "networkx"} & set(sys.modules)
assert not bad, bad
"""


def test_a_script_builds_runs_checkpoints_and_resumes(tmp_path: Path) -> None:
    assert len(SCRIPT.strip().splitlines()) <= 30
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path / "runs.db")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["critic(writer(hello))", "critic(writer(hello)) 6"]
