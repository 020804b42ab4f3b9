"""What a person changes while a run is paused: messages, state, conversations, tool results; and runs as tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import Message, ToolCall, assistant, user
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.bridge.run_edits import changed_messages, messages_json
from studio.debugger.breakpoints import Breakpoint
from studio.debugger.forks import Reset
from studio.debugger.overrides import Pin
from studio.debugger.run_tests import read_test
from studio.debugger.states import RunState
from studio.engine import AgentHost, Context, FunctionExecutor, WorkflowBuilder
from studio.engine import Workflow as Graph
from studio.engine.types import ANY

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk, three
from tests.debugger.graphs import CODEC, Asker, agent, chain, last, until, upper
from tests.fakes.scripted_client import ScriptedClient

S = RunState


async def paused_before(desk: Desk, superstep: int) -> None:
    desk.run.step("go")
    for _ in range(superstep - 1):
        await until(lambda: desk.run.state is S.PAUSED, 15)
        desk.run.step("go")
    await until(lambda: desk.run.state is S.PAUSED and desk.run.next_superstep == superstep, 15)


def test_messages_are_duplicated_injected_and_dropped(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        await paused_before(desk, 2)
        (first,) = run.queued
        run.duplicate_queued(first.message)
        run.inject("a", None, "injected")
        run.inject("a", "b", "gone again")
        assert [(q.text, q.edited) for q in run.queued] == [
            ("go-a", False), ("go-a", True), ("injected", True), ("gone again", True),
        ]  # fmt: skip
        run.edit_queued(run.queued[1].message, "changed")
        run.drop_queued(run.queued[3].message)
        assert [q.text for q in run.queued] == ["go-a", "changed", "injected"]
        run.run("go")
        await until(lambda: run.state is S.COMPLETED, 15)
        assert [o.text for o in run.outputs] == ["go-a-b", "changed-b", "injected-b"]
        assert [(b.name, b.state, b.note) for b in run.branches] == [
            ("main", "paused", ""), ("Fork A", "completed", "message edited, 2 messages added at 1"),
        ]  # fmt: skip

    on_desk(on_loop, three, script)


def test_shared_state_is_changed_for_the_fork_only(on_loop: OnLoop) -> None:
    def graph() -> Graph:
        async def write(data: Any, ctx: Context) -> None:
            ctx.set_state("rounds", 1)
            ctx.send(data)

        async def read(data: Any, ctx: Context) -> None:
            ctx.yield_output(f"{data} {ctx.get_state('rounds')}")

        a = FunctionExecutor("a", write, accepts=str, sends=(str,))
        b = FunctionExecutor("b", read, accepts=str, sends=(), yields=(str,))
        return WorkflowBuilder(a, name="w").edge(a, b).build()

    async def script(desk: Desk) -> None:
        run = desk.run
        await paused_before(desk, 2)
        assert run.editable_state == {"rounds": 1}
        run.change_state({"rounds": 7})
        assert run.shared_state == {"rounds": 7}
        run.run("go")
        await until(lambda: run.state is S.COMPLETED, 15)
        assert [o.text for o in run.outputs] == ["go 7"]
        assert run.branches[1].note == "state changed at 1"
        run.show_branch(run.branches[0].branch)
        await until(lambda: run.state is S.PAUSED, 15)
        assert run.editable_state == {"rounds": 1}

    on_desk(on_loop, graph, script)


def test_what_an_agent_remembers_is_changed(on_loop: OnLoop) -> None:
    client = ScriptedClient(["first", "second"])

    async def script(desk: Desk) -> None:
        run = desk.run
        await paused_before(desk, 3)
        asked: list[Sequence[Message]] = []
        run.ask_conversation("a", asked.append)
        await until(lambda: bool(asked), 15)
        assert messages_json(asked[0]) == [{"role": "user", "text": "go"}, {"role": "assistant", "text": "first"}]
        changed = changed_messages(asked[0], [{"role": "user", "text": "go"}, {"role": "assistant", "text": "never"}])
        run.change_conversation("a", changed)
        run.run("go")
        await until(lambda: run.state is S.COMPLETED, 15)
        assert [m.text for m in client.requests[1].messages] == ["go", "never", "and then?"]
        assert run.branches[1].note == "conversation changed at 2"
        run.ask_conversation("b", asked.append)

    on_desk(on_loop, lambda: _two_turns(client), script)


def _two_turns(client: ScriptedClient) -> Graph:
    host = AgentHost(Agent("a", client), "a", session=Session("s"))

    async def again(data: Any, ctx: Context) -> None:
        if ctx.get_state("asked") is None:
            ctx.set_state("asked", True)
            ctx.send("and then?")

    back = FunctionExecutor("b", again, accepts=ANY, sends=(str,))
    return WorkflowBuilder(host, name="w").edge(host, back).edge(back, host).build()


@pytest.mark.parametrize("what", ["conversation", "node"])
def test_a_reset_agent_begins_a_new_conversation_on_a_fork(on_loop: OnLoop, what: Reset) -> None:
    client = ScriptedClient(["first", "second", "third"])

    async def script(desk: Desk) -> None:
        run = desk.run
        await paused_before(desk, 3)
        run.reset("a", what)
        run.change_conversation("a", [])
        assert not run.resets, "a changed conversation is not begun anew"
        run.reset("a", what)
        run.reset("a", None)
        assert not run.resets
        run.reset("a", what)
        assert dict(run.resets) == {"a": what}
        run.run("go")
        await until(lambda: run.state is S.COMPLETED, 15)
        assert [m.text for m in client.requests[1].messages] == ["and then?"]
        assert (run.branches[1].note, dict(run.resets)) == (f"{what} reset at 2", {})
        await run_again(run)
        assert [m.text for m in client.requests[2].messages] == ["go", "first", "and then?"], "the original stays"

    async def run_again(run: Any) -> None:
        second = next(c.checkpoint for c in run.checkpoints if c.branch == run.branches[0].branch and c.superstep == 2)
        run.fork(second, {})
        await until(lambda: len(client.requests) == 3 and run.state is S.COMPLETED, 15)

    on_desk(on_loop, lambda: _two_turns(client), script)


def test_the_result_of_a_held_tool_is_given_and_no_model_is_asked_again(on_loop: OnLoop) -> None:
    ran: list[str] = []
    call = {"calls": [{"id": "c1", "tool": "search", "arguments": {"q": "x"}}]}
    client = ScriptedClient([call, {"echo": "end "}])

    def graph() -> Graph:
        async def search(arguments: dict[str, Any]) -> str:
            ran.append(arguments["q"])
            return "real"

        tool = Tool("search", "", {"type": "object"}, search)
        return WorkflowBuilder(AgentHost(Agent("a", client, tools=(tool,)), "a"), name="w").build()

    async def script(desk: Desk) -> None:
        run = desk.run
        run.setup.put(Breakpoint("node", "a", id="n"))  # the fork does not stop there once more
        run.setup.put(Breakpoint("tool", "search", id="t"))
        run.run("go")
        await until(lambda: run.state is S.PAUSED, 15)
        assert run.pending_tool is None
        run.run("go")
        await until(lambda: run.pending_tool is not None, 15)
        assert run.pending_tool == ("a", "search", {"q": "x"})
        run.give_tool_result({"hits": 3})
        await until(lambda: run.state is S.COMPLETED, 15)
        assert ran == []
        assert len(client.requests) == 2
        part: Any = client.requests[1].messages[-1].parts[0]
        assert part.result == '{"hits": 3}'
        assert run.branches[1].note == "result of search given at 0"

    on_desk(on_loop, graph, script)


def written(path: Path) -> bool:
    """Whether a test file is there to its end: it is written in a thread."""
    return path.exists() and path.read_text(encoding="utf-8").endswith("}\n")


def test_a_run_is_written_as_a_test(on_loop: OnLoop, tmp_path: Path) -> None:
    said: list[str] = []

    async def script(desk: Desk) -> None:
        desk.run.test_written.connect(said.append)
        desk.run.run("go")
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        desk.run.make_test(tmp_path / "tests" / "x.test.json", tmp_path / "w.workflow.json")
        await until(lambda: bool(desk.problems), 15)
        (tmp_path / "tests").mkdir()
        desk.run.make_test(tmp_path / "tests" / "x.test.json", tmp_path / "w.workflow.json")
        await until(lambda: bool(said), 15)

    def graph() -> Graph:
        return chain(upper("a"), agent("b", "reply"))

    desk = on_desk(on_loop, graph, script)
    assert desk.problems[0].startswith("The test cannot be written: ")
    assert said == ["The test was written. Run it with: superstep-studio test x.test.json"]
    test = read_test(tmp_path / "tests" / "x.test.json")
    assert (test.name, test.workflow, test.input) == ("x", "../w.workflow.json", "go")
    assert test.replies == {"b": [{"asked": "go-a", "text": "reply"}]}
    assert test.expect == [{"path": ["a", "b"]}, {"output": {"equals": "reply"}}]


def test_the_shown_run_is_given_to_a_proof(on_loop: OnLoop) -> None:
    found: list[Any] = []

    async def script(desk: Desk) -> None:
        found.append(await desk.run.shown_run())
        desk.run.run("go")
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        found.append(await desk.run.shown_run())

    on_desk(on_loop, lambda: chain(upper("a"), agent("b", "reply")), script)
    assert found[0] is None
    assert (found[1].input, found[1].replies) == ("go", {"b": [{"asked": "go-a", "text": "reply"}]})
    assert found[1].name == "main of run 1"


def test_what_was_pinned_and_muted_in_a_run_is_so_in_its_test(on_loop: OnLoop, tmp_path: Path) -> None:
    """The setup of a test is that of the run, not what is set when the test is made."""

    def graph() -> Graph:
        return chain(upper("a"), agent("b", "real"), agent("c", "real"), agent("d", "real"))

    async def script(desk: Desk) -> None:
        setup = desk.run.setup
        setup.pin("b", "pinned", "run 2")
        setup.mute("c", on=True)
        desk.run.run("go")
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        setup.unpin("b")
        setup.mute("c", on=False)
        setup.mute("d", on=True)
        desk.run.make_test(tmp_path / "x.test.json", tmp_path / "w.workflow.json")
        await until(lambda: written(tmp_path / "x.test.json"), 15)

    on_desk(on_loop, graph, script)
    test = read_test(tmp_path / "x.test.json")
    assert (dict(test.pins), test.muted) == ({"b": "pinned"}, ["c"])
    assert list(test.replies) == ["d"]
    assert (test.overrides.pins, test.overrides.muted) == ({"b": Pin("pinned")}, {"c"})


@pytest.mark.parametrize("bad", ["text", [{"role": "nobody", "text": "x"}], [{"role": "user"}], [3]])
def test_a_conversation_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"role|list"):
        changed_messages([], bad)


def test_messages_without_a_text_say_what_they_hold_and_are_told_apart_by_it() -> None:
    calls = [Message("assistant", (ToolCall(f"c{n}", "add", f'{{"a": {n}}}'),)) for n in (1, 2)]
    shown = messages_json(calls)
    assert shown == [{"role": "assistant", "text": "", "holds": f'add({{"a": {n}}})'} for n in (1, 2)]
    assert changed_messages(calls, shown) == calls
    assert changed_messages(calls, shown[1:]) == calls[1:], "the one that was taken out is gone, not the last one"


def test_messages_that_stay_are_the_same_objects() -> None:
    old = [user("a"), assistant("b"), user("a")]
    kept = changed_messages(old, [{"role": "user", "text": "a"}, {"role": "user", "text": "a"}])
    assert kept[0] is old[0]
    assert kept[1] is old[2]


def test_an_answer_that_was_begun_survives_a_restart_until_it_is_sent(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    def graph() -> Graph:
        return chain(Asker("a"), last("end"))

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await until(lambda: desk.run.state is S.WAITING, 15)
        desk.run.keep_draft(desk.run.requests[0].request, "half an ans")

    async def second(desk: Desk) -> None:
        await until(lambda: bool(desk.run.answer_drafts), 15)
        desk.run.show_branch(desk.run.branches[0].branch)
        await until(lambda: desk.run.state is S.WAITING, 15)
        (form,) = desk.run.requests
        assert desk.run.answer_drafts == {form.request: "half an ans"}
        desk.run.answer({form.request: "half an answer"})
        await until(lambda: desk.run.state is S.COMPLETED, 15)

    on_desk(on_loop, graph, first, store)
    on_desk(on_loop, graph, second, store)
    assert asyncio.run(store.drafts()) == {}
