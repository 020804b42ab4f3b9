"""Proofs of exports: what passes, what fails and where, what is not run."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from studio.document.model import HumanInputNode, OfflineScript, Workflow
from studio.export import export_project
from studio.proof import Proof, Sample, Step, prove
from studio.proof.interpreters import NoInterpreter, find_interpreter
from studio.proof.model import Outcome, Shape, outcomes_differ, shapes_differ
from studio.proof.proving import ONE_SUPERSTEP, TOO_LONG
from studio.proof.words import line

from tests.assembly.running import script
from tests.assembly.test_kinds import agent, function, workflow
from tests.waiting import until

FLOW = workflow(
    [
        agent("writer"),
        HumanInputNode(id="ask", name="Ask", choices=("fine", "bad")),
        function("end", "result = data.upper()", sends="", yields="text"),
    ],
    offline=script(writer=["A draft."]),
    sample_input="tides",
)


def _states(proof: Proof) -> dict[str, str]:
    return {step.key: step.state for step in proof.steps}


def _changed(path: str, old: str, new: str, flow: Workflow = FLOW) -> dict[str, str]:
    files = export_project(flow, "changed")
    assert old in files[path]
    return files | {path: files[path].replace(old, new)}


async def test_an_export_is_proven_step_by_step() -> None:
    seen: list[tuple[str, str]] = []
    files = export_project(FLOW)
    proof = await prove(FLOW, files, on_step=lambda step: seen.append((step.key, step.state)))
    assert proof.proven, proof.steps
    assert _states(proof) == dict.fromkeys(
        ("compiles", "lints", "builds", "smoke", "same", "restores", "secrets"), "passed"
    )
    assert proof.events == 11
    passed = [key for key, state in seen if state == "passed"]
    assert passed == ["compiles", "lints", "builds", "smoke", "same", "restores", "secrets"]
    assert line(proof.steps[4]) == "ok      Same result: same outputs and 11 equal events"
    words = "after superstep 2, by a new build"
    assert line(proof.steps[5]) == f"ok      Restores a checkpoint: {words}"


async def test_recorded_replies_and_answers_are_used_on_both_sides() -> None:
    sample = Sample("other", OfflineScript(nodes={"writer": {"replies": ["Recorded."]}}), {"ask": ["bad"]})
    proof = await prove(FLOW, _changed("changed/functions.py", "data.upper()", "data"), sample)
    failed = proof.failed
    assert failed is not None
    assert (failed.key, failed.node) == ("same", "end")
    assert "'BAD'" in failed.detail
    assert "'bad'" in failed.detail


async def test_a_graph_that_differs_names_the_node_and_nothing_after_it_is_run() -> None:
    proof = await prove(FLOW, _changed("changed/workflow.py", ".add_edge(ask, end)", ".add_edge(writer,end)"))
    assert _states(proof) == {
        "compiles": "passed",
        "lints": "failed",
        "builds": "failed",
        "smoke": "not_run",
        "same": "not_run",
        "restores": "not_run",
        "secrets": "passed",
    }
    assert proof.failed is not None
    assert proof.failed.node == "ask"
    assert "workflow.py" in proof.steps[1].detail, "a finding says where"
    assert not proof.proven


COUNTING = workflow(
    [
        function("count", "ctx.set_state('seen', 1)\nresult = data"),
        function("middle", "result = data"),
        function("show", "result = f\"{data} {ctx.get_state('seen')}\"", sends="", yields="text"),
    ],
    sample_input="x",
)


async def test_code_that_a_checkpoint_does_not_bring_back_is_found() -> None:
    files = export_project(COUNTING, "changed")
    path = "changed/functions.py"
    hook = "    async def on_checkpoint_restore(self, state: Any) -> None:\n        self.again = ' again'\n"
    for old, new in {
        'super().__init__(id="show")\n': f'super().__init__(id="show")\n        self.again = ""\n\n{hook}',
        "yield_output(result)": "yield_output(result + self.again)",
    }.items():
        assert old in files[path]
        files[path] = files[path].replace(old, new)
    proof = await prove(COUNTING, files)
    states = _states(proof)
    assert (states["same"], states["restores"], proof.proven) == ("passed", "failed", False), proof.steps
    assert proof.failed is not None
    differs = "show gave 'x 1' on the canvas and 'x 1 again' in the code."
    assert proof.failed.detail == f"Restored after superstep 2, the run is another one: {differs}"
    assert proof.failed.node == "show"


async def test_with_one_superstep_nothing_is_restored_and_that_is_said() -> None:
    one = workflow([function("end", "result = data", sends="", yields="text")], sample_input="x")
    proof = await prove(one, export_project(one))
    assert proof.proven
    assert line(proof.steps[5]) == f"not run Restores a checkpoint: {ONE_SUPERSTEP}"
    for detail, proven in ((TOO_LONG, True), ("A step before this one did not pass.", False)):
        steps = (*proof.steps[:5], Step("restores", "not_run", detail), proof.steps[6])
        assert Proof(steps, 1.0).proven is proven


async def test_code_that_is_no_python_and_a_key_in_a_file() -> None:
    files = _changed("changed/workflow.py", "def build(", "def build((")
    files["README.md"] += "sk-" + "a1b2c3d4" * 4
    proof = await prove(FLOW, files)
    states = _states(proof)
    assert (states["compiles"], states["same"], states["secrets"]) == ("failed", "not_run", "failed")
    detail = next(s.detail for s in proof.steps if s.key == "compiles")
    assert "changed/workflow.py, line" in detail


async def test_without_a_framework_nothing_is_called_proven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from studio.proof import interpreters

    monkeypatch.setattr(interpreters, "NEEDED", {"no-such-distribution": "9."})
    with pytest.raises(NoInterpreter, match="lacks no-such-distribution") as stopped:
        await find_interpreter([None])
    assert "pip install" in str(stopped.value)
    proof = await prove(FLOW, export_project(FLOW), interpreters=[str(tmp_path / "nothing")])
    assert not proof.proven
    assert _states(proof)["same"] == "not_run"
    assert "cannot be started" in proof.steps[0].detail


async def test_the_first_python_that_has_the_framework_is_taken(tmp_path: Path) -> None:
    found = await find_interpreter([str(tmp_path / "nothing"), None])
    assert (found.path, found.framework[:5]) == (sys.executable, "1.23.")


KILLED = """
import asyncio, json, os, sys
from pathlib import Path
from studio.proof.process import told

folder = Path(sys.argv[1])
(folder / "endless.py").write_text("import os\\nprint(os.getpid(), flush=True)\\nwhile True: pass\\n")
job = {"folder": str(folder), "module": "endless", "environment": {}, "steps": ["builds"], "build": "build"}

async def main():
    started = asyncio.create_subprocess_exec
    async def noting(*command, **more):
        process = await started(*command, **more)
        print(process.pid, flush=True)
        return process
    asyncio.create_subprocess_exec = noting
    async for _ in told(sys.executable, [job], 600):
        pass

asyncio.run(main())
"""


async def test_the_process_of_a_proof_ends_when_the_program_is_killed(tmp_path: Path) -> None:
    command = (sys.executable, "-c", KILLED, str(tmp_path))
    studio = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert studio.stdout is not None
    pid = int(await asyncio.wait_for(studio.stdout.readline(), 60))
    os.kill(pid, 0)
    studio.kill()
    await studio.wait()

    def gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    await until(gone, "the process ends")


async def test_a_cancelled_proof_ends_its_process() -> None:
    slow = workflow([function("wait", "import time\ntime.sleep(600)\nresult = data")], sample_input="x")
    files = _changed("changed/functions.py", "time.sleep(600)", "time.sleep(600)", slow)
    reached = asyncio.Event()

    def told(step: Step) -> None:
        if step.key == "smoke" and step.state == "running":
            reached.set()

    quick = workflow([function("wait", "import time\nresult = data")], sample_input="x")
    task = asyncio.create_task(prove(quick, files, on_step=told))
    await asyncio.wait_for(reached.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)


@pytest.mark.parametrize(
    ("canvas", "code", "node"),
    [
        ({}, {"start": "b"}, "a"),
        ({"nodes": ("a", "b")}, {}, "b"),
        ({}, {"edges": (("SingleEdgeGroup", ("a",), ("a",)),)}, "a"),
    ],
)
def test_graphs_that_differ(canvas: dict[str, Any], code: dict[str, Any], node: str) -> None:
    plain: dict[str, Any] = {"start": "a", "nodes": ("a",), "edges": ()}
    found = shapes_differ(Shape(**{**plain, **canvas}), Shape(**{**plain, **code}))
    assert found is not None
    assert found.node == node
    assert shapes_differ(Shape(**plain), Shape(**plain)) is None


def test_events_of_one_superstep_may_come_in_any_order_and_outputs_of_one_node_may_not() -> None:
    one = Outcome(((("invoked", "a"), ("invoked", "b")),), (("a", 1), ("b", 2)))
    other = Outcome(((("invoked", "b"), ("invoked", "a")),), (("b", 2), ("a", 1)))
    assert outcomes_differ(one, other) is None
    turned = Outcome(one.supersteps, (("a", 2), ("a", 1)))
    assert outcomes_differ(Outcome(one.supersteps, (("a", 1), ("a", 2))), turned) is not None
    more = outcomes_differ(one, Outcome((*one.supersteps, (("failed", "b"),)), one.outputs))
    assert more is not None
    assert more.node == "b"
    failed = outcomes_differ(one, Outcome(one.supersteps, one.outputs, ("b", "ValueError: no")))
    assert failed is not None
    assert failed.text == "The run failed only in the code: ValueError: no"
