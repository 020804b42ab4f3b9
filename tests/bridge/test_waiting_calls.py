"""A provider refuses for a while: who waits is known with the seconds that are left, and can be asked to try now."""

from __future__ import annotations

from studio.assembly import ServiceSource
from studio.bridge.folding import RunViews
from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.checkpoints import RunStore
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.preparation import PinnedPlan, prepare
from studio.debugger.states import RunState
from studio.document.model import AgentNode, Workflow
from studio.engine import events as ev
from studio.settings.profiles import Profile, Profiles
from studio.settings.secrets import Secrets

from tests.bridge.conftest import OnLoop
from tests.debugger.graphs import CODEC, until
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, delta

HELLO = Given((delta(content="Hello"), delta("stop"), DONE))
LATER = Given(status=503, headers={"retry-after": "100"})


def test_who_waits_is_known_and_tries_now_when_asked(on_loop: OnLoop) -> None:
    document = Workflow(id="w", start="a", nodes=(AgentNode(id="a", name="Writer", profile="Here"),))

    async def main() -> None:
        async with ScriptedServer(LATER, HELLO) as server:
            profiles = Profiles().with_profile(Profile("Here", "other", server.url, "", "m"))
            source = ServiceSource(lambda: profiles, Secrets())
            store: RunStore = MemoryRunStore(CODEC)

            async def open_store() -> RunStore:
                return store

            async def prepared(workflow: Workflow) -> PinnedPlan:
                return await prepare(workflow, source, None)

            run = RunModel(RunServices(lambda: document, open_store, prepared, CODEC))
            try:
                run.run("go")
                await until(lambda: bool(run.waits), 60)
                [(view, left)] = run.waits
                assert (view.node, 0 < left <= 100) == ("a", True)
                run.try_now()
                assert run.waits == []
                await until(lambda: run.state is RunState.COMPLETED, 60)
                assert [o.text for o in run.outputs] == ["Hello"]
                assert len(server.received) == 2
            finally:
                await run.close()
                run.deleteLater()
                await source.close()

    on_loop(main)


def test_a_wait_ends_with_what_comes_next() -> None:
    views = RunViews()
    for event in (
        ev.SuperstepStarted(0.0, 1),
        ev.NodeStarted(0.0, 1, "a", "i1", (), "x"),
        ev.ModelCallRetried(1.0, "a", "i1", "m1", 1, 12.0, "waits for the provider's rate limit"),
    ):
        views.fold(event)
    view = views.invocations["i1"]
    assert view.next_try == 13.0
    assert view.pieces[-1].text == "Waits for the provider's rate limit. The next try follows in 12.0 s."
    views.fold(ev.TokensArrived(14.0, "a", "i1", "Hel", "text"))
    assert view.next_try is None
    views.fold(ev.ModelCallRetried(15.0, "a", "i1", "m2", 1, 0, "tools is not supported"))
    assert (view.next_try, view.pieces[-1].text) == (None, "Tools is not supported. The next try follows at once.")
