"""Python predicates as conditions of breakpoints: asked in a process of their own, wherever a run can be held."""

from __future__ import annotations

from typing import Any

import pytest
from studio.assembly import ServiceSource
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.debugger.session import RunSession
from studio.debugger.states import RunState
from studio.document.conditions import Condition, Scope
from studio.document.model import Workflow
from studio.engine import Context, FunctionExecutor
from studio.engine import events as ev
from studio.settings.profiles import Profiles
from studio.settings.secrets import Secrets
from studio.workers import UserCodeError

from tests.debugger.graphs import Asker, Bench, chain, last, until, upper
from tests.debugger.test_breakpoints import drawn, paused

S = RunState


def code(body: str) -> Condition:
    return Condition(kind="python", body=body)


class Judge:
    """Says yes to a text; remembers what it was asked."""

    def __init__(self, yes: str = "", error: str = "") -> None:
        self.yes, self.error = yes, error
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, body: str, data: object, scope: Scope) -> bool:
        self.asked.append((body, scope.text))
        if self.error:
            raise UserCodeError("ValueError", self.error)
        return scope.text == self.yes


def writer(id: str) -> FunctionExecutor:
    async def run(data: Any, ctx: Context) -> None:
        ctx.set_state("rounds", data)
        ctx.send(f"{data}-{id}")

    return FunctionExecutor(id, run, accepts=str, sends=(str,), yields=())


def graph() -> Any:
    return chain(writer("a"), upper("b"), last())


def start(breakpoint: Breakpoint, judge: Judge, make: Any = graph) -> tuple[Bench, RunSession, Breakpoints]:
    bench, items = Bench(make), Breakpoints([breakpoint])
    session = bench.session(breakpoints=items, document=drawn(make()), judge=judge)
    session.run()
    return bench, session, items


@pytest.mark.parametrize(
    ("kind", "when", "place", "yes", "sentence"),
    [
        ("node", "before", "b", "go-a", "breakpoint on b"),
        ("node", "before", "", "go-a-b", "breakpoint on end"),
        ("node", "after", "a", "go-a", "after a"),
        ("edge", "delivered", "", "go-a-b", "breakpoint on end"),
        ("edge", "queued", "", "go-a", "a has queued a message"),
        ("state", None, "rounds", "go", "a changed rounds"),
    ],
)
async def test_it_decides_wherever_a_run_can_be_held(kind: Any, when: Any, place: str, yes: str, sentence: str) -> None:
    judge = Judge(yes)
    _, session, items = start(Breakpoint(kind, place, when, code("p"), id="x"), judge)
    assert (await paused(session)).split(" — ")[1] == sentence
    assert items.hits == {"x": 1}, "only what is true is a hit"
    assert judge.asked[-1] == ("p", yes)
    session.continue_()
    await session.ended()
    assert session.state is S.COMPLETED, session.failure
    _, never, items = start(Breakpoint(kind, place, when, code("p"), id="x"), Judge("other"))
    await never.ended()
    assert (never.state, items.hits) == (S.COMPLETED, {})


async def test_a_request_is_held_at_the_boundary_if_it_is_true() -> None:
    def asks() -> Any:
        return chain(Asker("q"), last())

    _, session, _ = start(Breakpoint("request", "", None, code("p")), Judge("About go?"), asks)
    await until(lambda: session.state is S.WAITING)
    session.answer({session.requests[0].id: "yes"})
    assert (await paused(session)).endswith("q asks")
    await session.close()


async def test_one_that_fails_stops_the_run_and_says_why() -> None:
    bench, session, _ = start(Breakpoint("node", "b", "before", code("p"), id="x"), Judge(error="no field score"))
    assert (await paused(session)).endswith("breakpoint on b")
    (told,) = [e.data["text"] for e in bench.kinds(ev.NodeEvent) if e.kind == "breakpoint_logged"]
    assert told == "The condition of this breakpoint failed: ValueError: no field score"
    await session.close()


async def test_a_real_one_is_asked_in_its_own_process() -> None:
    source = ServiceSource(lambda: Profiles(), Secrets(), trusts=lambda *_: False)
    holds = source.predicates(Workflow(id="w")).holds
    scope = Scope("a long text", {"score": 7}, "text", {"rounds": 2})
    assert await holds("return len(text) > 5 and value['score'] == 7", "a long text", scope)
    assert await holds("state['rounds'] > 1", None, scope)
    assert not await holds("len(text) > 400", None, scope)
    with pytest.raises(UserCodeError, match="KeyError"):
        await holds("value['gone']", None, scope)
    with pytest.raises(UserCodeError):
        await holds("return (", None, scope)
    assert not await source.predicates(Workflow(id="w")).holds("type == 'Brief'", object(), scope)
    await source.close()
