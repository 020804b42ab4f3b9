"""Retrying, changing while paused, running from a node, replaying and stepping back, through the run model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from studio.agents.agent import Agent
from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.checkpoints import RunStore
from studio.debugger.breakpoints import Breakpoint
from studio.debugger.overrides import Mock
from studio.debugger.states import RunState
from studio.document.fingerprint import document_fingerprint
from studio.document.model import AgentNode, DirectEdge, FanInEdge, FanOutEdge, Workflow
from studio.engine import AgentHost, Context, FunctionExecutor, WorkflowBuilder
from studio.engine import Workflow as Graph
from studio.engine.hosts.subworkflow import SubWorkflowExecutor
from studio.files import dumps

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk, three
from tests.debugger.graphs import CODEC, Asker, Plan, agent, chain, last, until
from tests.fakes.scripted_client import ScriptedClient

S = RunState


class Room:
    """A diamond of two agents, drawn and built anew for each run; the clients count their calls."""

    def __init__(self, store: RunStore | None = None) -> None:
        self.store = store or KeptStore(CODEC)
        self.prompts = {"left": "be left", "right": "be right"}
        self.fails: set[str] = set()
        self.clients = {id: ScriptedClient([], then="repeat_last") for id in self.prompts}
        for id, client in self.clients.items():
            client._replies = [{"text": f"reply of {id}"}]
        self.problems: list[str] = []
        self.document = self.drawn()
        self.signature = ""

        async def prepare(document: Workflow) -> Plan:
            plan = Plan(self.graph())
            plan.document_text, plan.fingerprint = dumps(document), document_fingerprint(document)
            return plan

        async def open_store() -> RunStore:
            return self.store

        async def signature(_document: Workflow) -> str:
            return self.graph().signature

        async def fingerprint(document: Workflow) -> str:
            return document_fingerprint(document)

        services = RunServices(
            lambda: self.document, open_store, prepare, CODEC, signature=signature, fingerprint=fingerprint
        )
        self.run = RunModel(services)
        self.run.failed_to_start.connect(self.problems.append)

    def drawn(self) -> Workflow:
        agents = tuple(AgentNode(id=id, name=id.title(), instructions=text) for id, text in self.prompts.items())
        others = tuple(AgentNode(id=id, name=id.title()) for id in ("start", "join"))
        return Workflow(
            id="room",
            nodes=(*others, *agents),
            edges=(
                FanOutEdge(id="fan", source="start", targets=("left", "right")),
                FanInEdge(id="bar", sources=("left", "right"), target="join"),
                DirectEdge(id="unused", source="join", target="join"),
            ),
        )

    def graph(self) -> Graph:
        async def begin(data: Any, ctx: Context) -> None:
            ctx.send(data)

        async def join(data: Any, ctx: Context) -> None:
            ctx.yield_output(" + ".join(d.text for d in data))

        start = FunctionExecutor("start", begin, accepts=str, sends=(str,))
        end = FunctionExecutor("join", join, accepts=list, sends=(), yields=(str,))
        agents = [AgentHost(Agent(id, self.client(id), self.prompts[id]), id) for id in self.prompts]
        builder = WorkflowBuilder(start, name="room").fan_out(start, agents).fan_in(agents, end)
        return builder.build()

    def client(self, id: str) -> Any:
        room = self

        class Failing:
            model = "m"

            async def complete(self, request: Any, *, chunk: Any, hooks: Any) -> Any:
                reply = await room.clients[id].complete(request, chunk=chunk, hooks=hooks)
                if id in room.fails:
                    raise ConnectionError("the line is dead")
                return reply

            async def close(self) -> None: ...

        return Failing()

    @property
    def calls(self) -> dict[str, int]:
        return {id: len(client.requests) for id, client in self.clients.items()}

    def prompt(self, id: str, text: str) -> None:
        self.prompts[id] = text
        self.document = self.drawn()
        self.run.document_changed()

    async def reach(self, state: RunState) -> None:
        await until(lambda: self.run.state is state and not self.run._moving, 15)

    async def finished(self) -> None:
        self.run.run("go")
        await self.reach(S.COMPLETED)


def in_room(on_loop: OnLoop, script: Callable[[Room], Awaitable[None]], store: RunStore | None = None) -> Room:
    rooms: list[Room] = []

    async def main() -> None:
        room = Room(store)
        rooms.append(room)
        try:
            await script(room)
        finally:
            await room.run.close()
            room.run.deleteLater()

    on_loop(main)
    return rooms[0]


def texts(room: Room) -> list[str]:
    return [o.text for o in room.run.outputs if o.node == "join" and o.final]


def test_a_retry_calls_only_the_node_that_failed(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.setup.put(Breakpoint("error", id="e"))  # holds until the other one has finished
        room.fails.add("right")
        room.run.run("go")
        await room.reach(S.PAUSED)
        assert room.run.sentence == "Paused in superstep 2 — Right failed: the line is dead"
        room.run.setup.remove_all()
        room.run.run("go")
        await room.reach(S.FAILED)
        assert room.calls == {"left": 1, "right": 1}
        room.fails.clear()
        room.run.retry()
        await room.reach(S.COMPLETED)
        assert room.calls == {"left": 1, "right": 2}
        assert texts(room) == ["reply of left + reply of right"]
        assert room.run.branches[-1].note == "retried at 1"

    in_room(on_loop, script)


def test_a_held_failure_is_retried_where_it_stands(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.setup.put(Breakpoint("error", id="e"))
        room.fails.add("right")
        room.run.run("go")
        await room.reach(S.PAUSED)
        assert room.run.can("retry") == (True, "")
        room.fails.clear()
        room.run.retry()
        await room.reach(S.COMPLETED)
        assert room.calls == {"left": 1, "right": 2}
        assert len(room.run.branches) == 1

    in_room(on_loop, script)


def test_a_changed_prompt_is_applied_to_the_paused_run(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.setup.toggle("node", "right")
        room.run.run("go")
        await room.reach(S.PAUSED)
        assert room.calls == {"left": 1, "right": 0}
        assert room.run.can("apply") == (False, "The drawing is as the run has it.")
        room.prompt("right", "be brief")
        await until(lambda: room.run.drawing_differs == ("Right",), 15)
        room.run.apply_drawing()
        await until(lambda: not room.run._moving, 15)
        assert room.run.state is S.PAUSED
        await until(lambda: room.run.drawing_differs == (), 15)
        room.run.setup.remove_all()
        room.run.run("go")
        await room.reach(S.COMPLETED)
        assert room.calls == {"left": 1, "right": 1}
        assert room.clients["right"].requests[0].instructions == "be brief"
        assert [(b.name, b.state) for b in room.run.branches] == [("main", "paused"), ("Fork A", "completed")]
        assert room.run.branches[1].note == "prompt of Right changed at 1"

    in_room(on_loop, script)


def test_after_applying_the_run_does_not_stop_again_where_it_stood(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.setup.toggle("node", "right")
        room.run.setup.toggle("node", "join")
        room.run.run("go")
        await room.reach(S.PAUSED)
        room.prompt("right", "be brief")
        await until(lambda: room.run.drawing_differs == ("Right",), 15)
        room.run.apply_drawing()
        await until(lambda: not room.run._moving and room.run.drawing_differs == (), 15)
        assert room.run.sentence == "Restored before superstep 2"
        room.run.run("go")
        await until(lambda: room.run.sentence == "Paused before superstep 3 — breakpoint on Join", 15)
        assert room.calls == {"left": 1, "right": 1}
        assert room.run._session is not None
        assert [node for _id, node, _at in room.run._session.stands_at] == ["join"], "what it stood at before is over"

    in_room(on_loop, script)


def test_what_has_other_edges_is_not_applied(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.setup.toggle("node", "right")
        room.run.run("go")
        await room.reach(S.PAUSED)
        room.prompts["third"] = "be third"
        room.clients["third"] = ScriptedClient(["x"])
        room.document = room.drawn()
        room.run.document_changed()
        await until(lambda: bool(room.run.drawing_differs), 15)
        room.run.apply_drawing()
        await until(lambda: bool(room.problems), 15)
        assert room.problems[0].startswith("Nodes or edges were added or removed since this run began.")
        assert room.run.state is S.PAUSED

    in_room(on_loop, script)


def test_a_node_runs_again_with_the_inputs_it_had(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        await room.finished()
        room.prompt("right", "be new")
        room.clients["right"]._replies = [{"text": "new reply"}]
        room.run.run_from("right")
        await until(lambda: len(room.run.branches) == 2 and room.run.state is S.COMPLETED, 15)
        assert room.calls == {"left": 1, "right": 2}
        assert texts(room) == ["reply of left + new reply"]
        assert room.run.branches[1].note == "from Right at 1"
        room.prompt("left", "be other")
        room.run.run_from("join")
        await until(lambda: len(room.run.branches) == 3 and room.run.state is S.COMPLETED, 15)
        assert room.calls == {"left": 1, "right": 2}
        assert room.run.branches[2].note == "from Join, with inputs from before Left changed, at 2"
        room.run.run_from("nobody")
        await until(lambda: bool(room.problems), 15)
        assert room.problems == ["nobody did not run in the shown run: there are no inputs to start from."]

    in_room(on_loop, script)


def test_a_replay_is_free_and_one_with_another_prompt_calls_that_node(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        await room.finished()
        room.run.replay()
        await until(lambda: len(room.run.branches) == 2 and room.run.state is S.COMPLETED, 15)
        assert room.calls == {"left": 1, "right": 1}
        assert texts(room) == ["reply of left + reply of right"]
        assert [(b.number, b.note) for b in room.run.branches] == [(1, ""), (2, "replay of main of run 1")]
        room.prompt("left", "be other")
        room.run.replay(step=True)
        await until(lambda: room.run.state is S.PAUSED, 15)
        room.run.run("")
        await room.reach(S.COMPLETED)
        assert room.calls == {"left": 2, "right": 1}
        warned = [e.message for e in room.run.events if type(e).__name__ == "RunWarned"]
        assert warned == ["Left leaves the recording: its prompt has changed. From here on the model is called."]

    in_room(on_loop, script)


def test_a_finished_run_is_stepped_backwards_and_forwards(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        assert room.run.can("step_back") == (False, "There is no earlier superstep to show.")
        await room.finished()
        seen = []
        for _ in range(3):
            room.run.step_back()
            await until(lambda: not room.run._moving, 15)
            seen.append((room.run.state, [s.number for s in room.run.supersteps]))
        assert seen == [(S.PAUSED, [1, 2]), (S.PAUSED, [1]), (S.PAUSED, [])]
        assert not room.run.can("step_back")[0]
        for _ in range(3):
            room.run.step_forward()
            await until(lambda: not room.run._moving, 15)
        assert [s.number for s in room.run.supersteps] == [1, 2, 3]
        assert room.run.can("step_forward") == (False, "This is the last superstep that was recorded.")
        assert room.calls == {"left": 1, "right": 1}
        assert len(room.run.branches) == 1

    in_room(on_loop, script)


def test_node_by_node_and_to_a_node(on_loop: OnLoop) -> None:
    async def script(room: Room) -> None:
        room.run.step_node("go")
        await room.reach(S.PAUSED)
        for wanted in ({"start"}, {"start", "left"}, {"start", "left", "right"}):
            room.run.step_node("go")
            await until(lambda: set(room.run.nodes) >= wanted and room.run.state is S.PAUSED, 15)  # noqa: B023
            done = {n for n, v in room.run.nodes.items() if v.status == "done"}
            assert done == wanted
        room.run.stop()
        await room.reach(S.CANCELLED)
        room.run.run_to("join", "go")
        await room.reach(S.PAUSED)
        assert room.run.sentence == "Paused before superstep 3 — before Join"

    in_room(on_loop, script)


def test_the_configuration_survives_a_restart_and_counts_for_the_run(on_loop: OnLoop) -> None:
    async def first(room: Room) -> None:
        setup = room.run.setup
        setup.put(Breakpoint("tokens", limit=100, id="t"))
        setup.toggle("edge", "fan:to:left")
        setup.switch("t", on=False)
        setup.pin("left", "pinned", "run 7")
        setup.mute("right", on=True)
        setup.mock("search", Mock(error="down"))

    async def second(room: Room) -> None:
        setup = room.run.setup
        assert [(b.kind, b.place, b.enabled) for b in setup.breakpoints] == [
            ("tokens", "", False), ("edge", "fan:to:left", True),
        ]  # fmt: skip
        assert setup.overrides.note() == "1 pinned, 1 muted, 1 tool mocked"
        setup.remove_all()
        setup.mute("right", on=False)
        await room.finished()
        assert room.calls == {"left": 0, "right": 1}
        assert texts(room) == ["pinned + reply of right"]
        assert room.run.branches[0].note == "1 pinned, 1 tool mocked"
        setup.unpin("left")
        setup.mock("search", None)
        assert not setup.overrides

    in_room(on_loop, first)
    in_room(on_loop, second)


def test_the_inner_node_that_asks_is_known_at_any_depth(on_loop: OnLoop) -> None:
    def graph() -> Graph:
        inner = SubWorkflowExecutor(chain(Asker("x"), last("y")), "deep")
        return chain(SubWorkflowExecutor(chain(inner, last("z")), "sub"), last("end"))

    async def script(desk: Desk) -> None:
        desk.run.run("go")
        await until(lambda: desk.run.state is S.WAITING, 15)
        (form,) = desk.run.requests
        assert (form.node, form.path) == ("sub", ("sub", "deep", "x"))
        desk.run.answer({form.request: "yes"})
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        assert [o.text for o in desk.run.outputs] == ["yes"]

    on_desk(on_loop, graph, script)


def test_pins_and_mutes_are_said_in_the_lane(on_loop: OnLoop) -> None:
    def graph() -> Graph:
        return chain(agent("a", "real"), agent("b", "real"))

    async def script(desk: Desk) -> None:
        desk.run.setup.pin("a", "pinned", "run 2")
        desk.run.setup.mute("b", on=True)
        desk.run.run("go")
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        notes = [p.text for i in desk.run.invocations.values() for p in i.pieces if p.kind == "note"]
        assert notes == ["Pinned reply from run 2: the node was not called.", "Muted: the node passed its input on."]

    on_desk(on_loop, graph, script)


def test_an_end_is_shown_together_with_the_last_events(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        seen: list[tuple[RunState, int]] = []
        desk.run.state_changed.connect(lambda: seen.append((desk.run.state, len(desk.run.outputs))))
        desk.run._pump._budget = 0.0  # one event a frame, as on a busy machine
        desk.run.run("go")
        await until(lambda: desk.run.state is S.COMPLETED, 15)
        assert [count for state, count in seen if state is S.COMPLETED] == [1]

    on_desk(on_loop, three, script)


def test_a_halt_is_shown_together_with_the_checkpoint_it_stands_at(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        seen: list[tuple[RunState, int]] = []
        desk.run.state_changed.connect(lambda: seen.append((desk.run.state, len(desk.run.checkpoints))))
        desk.run._pump._budget = 0.0  # one event a frame, as on a busy machine
        desk.run.toggle_breakpoint("b")
        desk.run.run("go")
        await until(lambda: desk.run.state is S.PAUSED)
        assert [count for state, count in seen if state is S.PAUSED] == [2], "of the input and of the first superstep"

    on_desk(on_loop, three, script)
