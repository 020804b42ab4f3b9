"""The real window while agents stream: ``python -m tests.benchmarks.stream_child AGENTS RATE SECONDS``."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from studio.document.model import AgentNode, FanOutEdge, OfflineScript, Place, TemplateNode, Workflow
from studio.files import write_workflow

from tests.benchmarks.children import answer
from tests.benchmarks.figures import percentile

Measuring = Callable[[Any, "Tokens", int], Coroutine[Any, Any, None]]
"""Window, tokens, how many there will be: measures a run and gives the answer."""
WORD = 7
"""Characters of every token."""
_WAIT_MS = 400


def workflow(agents: int, rate: int, seconds: int) -> Workflow:
    """A start that fans out to agents, each with ``rate`` tokens a second; a paragraph ends every 40 tokens."""
    names = [f"a{i}" for i in range(agents)]
    text = "".join(f"w{n:04d}" + ("\n\n" if n % 40 == 39 else ", ") for n in range(rate * seconds))
    places = {name: Place(x=460, y=100 * i) for i, name in enumerate(names)}
    return Workflow(
        id="bench-stream",
        name="Stream",
        start="begin",
        nodes=(TemplateNode(id="begin", name="Begin"), *(AgentNode(id=n, name=n.upper()) for n in names)),
        edges=(FanOutEdge(id="out", source="begin", targets=tuple(names)),),
        offline=OfflineScript.model_validate(
            {
                "nodes": {n: {"replies": [{"text": text, "wait_ms": _WAIT_MS}]} for n in names},
                "delay_ms": 1000 / rate,
            }
        ),
        places={**places, "begin": Place(x=0, y=50 * agents), "out": Place(x=300, y=50 * agents)},
    )


class Tokens:
    """When each token was made by the model and when it was painted."""

    def __init__(self) -> None:
        self.made: dict[str, list[float]] = {}
        self.painted: dict[str, list[float]] = {}
        """Milliseconds from making to painting, per agent."""

    def hook(self) -> None:
        """The model keeps its pace whatever the loop does, and both ends tell their moments."""
        self._hook_model()
        self._hook_lanes()

    def _hook_model(self) -> None:
        from studio.agents.offline import protocol
        from studio.agents.offline.model import OfflineModel

        made, event, begin = self.made, protocol._event, OfflineModel.__init__
        reply = OfflineModel.reply
        now = asyncio.get_running_loop().time
        due: dict[object, float] = {}

        async def pace(delay: float) -> None:
            task = asyncio.current_task()
            due[task] = max(due.get(task, 0.0), now() - 0.05) + delay
            await asyncio.sleep(max(0.0, due[task] - now()))

        def with_pace(model: Any, *arguments: Any, **more: Any) -> None:
            begin(model, *arguments, **{**more, "sleep": pace})

        nodes: dict[object, str] = {}

        def named_reply(model: Any, body: Any, node: str | None = None) -> Any:
            nodes[asyncio.current_task()] = node or ""
            return reply(model, body, node)

        def timed_event(body: Any) -> bytes:
            data = event(body)
            if body["choices"] and body["choices"][0]["delta"].get("content"):
                made.setdefault(nodes.get(asyncio.current_task(), ""), []).append(now())
            return data

        OfflineModel.__init__ = with_pace  # type: ignore[method-assign,assignment]
        OfflineModel.reply = named_reply  # type: ignore[method-assign,assignment]
        protocol._event = timed_event

    def _hook_lanes(self) -> None:
        from studio.ui.run.lane_view import LaneView

        made, painted, paint = self.made, self.painted, LaneView.paintEvent
        now = asyncio.get_running_loop().time

        def timed_paint(lane: Any, event: Any) -> None:
            paint(lane, event)
            view = lane._view
            if view is None or view.node not in made:
                return
            late, moments, at = painted.setdefault(view.node, []), made[view.node], now()
            shown = lane.text.taken // WORD
            late.extend((at - moment) * 1000 for moment in moments[len(late) : shown])

        LaneView.paintEvent = timed_paint  # type: ignore[method-assign,assignment]


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def _measure(window: Any, tokens: Tokens, whole: int) -> None:
    """Idle while the client is loaded, then a run: its start, its streams up to the ``whole`` of tokens, its end."""
    from studio.debugger.states import ENDED

    from tests.benchmarks.stream_beats import Beats

    beats, idle = Beats(window), Beats(window)
    idle.start()
    await _until(lambda: "openai.resources.chat.completions" in sys.modules)
    await asyncio.sleep(0.5)
    warm_up = idle.stop()
    run = window.page.workspace.run
    window.tool_bar.input.show_text("go")
    idle.start()
    window.actions_["run.run"].trigger()
    async with asyncio.timeout(20):
        await _until(lambda: bool(tokens.made))
    start = idle.stop()
    beats.start()
    busy, wall = time.process_time(), time.perf_counter()
    await _until(lambda: run.state in ENDED or sum(map(len, tokens.made.values())) >= whole)
    found = beats.stop()
    share = (time.process_time() - busy) / (time.perf_counter() - wall)
    idle.start()
    await _until(lambda: run.state in ENDED)
    await asyncio.sleep(0.3)
    end = idle.stop()
    moments = [moment for made in tokens.made.values() for moment in made]
    late = [milliseconds for painted in tokens.painted.values() for milliseconds in painted]
    first = [painted[0] for painted in tokens.painted.values() if painted]
    answer(
        {
            "state": run.state.value,
            "beats": found,
            "busy": share,
            "warm_up": warm_up,
            "start": start,
            "end": end,
            "first": first,
            "late": {"median": percentile(late, 0.5), "p99": percentile(late, 0.99)},
            "lanes_seen": len(first),
            "tokens": len(moments),
            "rate": round(len(moments) / (max(moments) - min(moments))),
        }
    )


def run(agents: int, rate: int, seconds: int, measure: Measuring | None = None) -> int:
    """Opens the workflow in the program, runs it, says what was measured."""
    from studio.ui.app import main

    file = Path("stream.workflow.json").absolute()
    write_workflow(workflow(agents, rate, seconds), file)
    tasks: list[asyncio.Task[None]] = []

    def on_ready(window: Any) -> None:
        tokens = Tokens()
        tokens.hook()
        window.showMaximized()
        task = asyncio.get_running_loop().create_task((measure or _measure)(window, tokens, agents * rate * seconds))
        task.add_done_callback(lambda _: window.close_window())
        tasks.append(task)

    code = main([str(file)], ready=on_ready)
    tasks[0].result()
    return code


if __name__ == "__main__":
    sys.exit(run(*map(int, sys.argv[1:])))
