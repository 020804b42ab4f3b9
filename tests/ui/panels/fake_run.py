"""A run model without a run: the attributes are set by hand, the commands are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.agents.messages import Usage
from studio.bridge.run_model import RunModel
from studio.bridge.run_views import (
    AnswerView,
    BranchView,
    CheckpointView,
    InvocationView,
    MessageView,
    NodeView,
    QueuedView,
    RunUpdate,
    StreamPiece,
    SuperstepView,
)
from studio.debugger.breakpoints import Breakpoint
from studio.debugger.comparison import Comparison
from studio.debugger.mapping import NodeMapping
from studio.debugger.states import RunState


class FakeRun(RunModel):
    """Remembers what panels asked for in :attr:`calls`."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []
        self.comparisons: dict[str, Comparison] = {}
        self.allowed: dict[str, str] = {}
        """Command -> why not; a command that is not named may be called."""

    def can(self, command: str) -> tuple[bool, str]:
        why = self.allowed.get(command, "")
        return not why, why

    def answer(self, answers: Mapping[str, Any]) -> None:
        self.calls.append(("answer", dict(answers)))

    def edit_queued(self, message: str, text: str) -> None:
        self.calls.append(("edit_queued", message, text))

    def drop_queued(self, message: str) -> None:
        self.calls.append(("drop_queued", message))

    def apply_drawing(self) -> None:
        self.calls.append(("apply_drawing",))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def retry(self) -> None:
        self.calls.append(("retry",))

    def restore(self, checkpoint: str, *, recorded: bool = False) -> None:
        self.calls.append(("restore", checkpoint))

    def fork(self, checkpoint: str, queued: Mapping[str, str] | None = None, *, recorded: bool = False) -> None:
        texts = self.drafts_at(checkpoint) if queued is None else dict(queued)
        self.calls.append(("fork", checkpoint, texts or None))

    def show_branch(self, branch: str) -> None:
        self.calls.append(("show_branch", branch))

    def resume(self, branch: str | None = None) -> None:
        self.calls.append(("resume", branch))

    def is_interrupted(self, branch: str) -> bool:
        return any(b.branch == branch and b.state == "interrupted" for b in self.branches)

    def mark(
        self, checkpoint: str, *, name: str | None = None, note: str | None = None, pinned: bool | None = None
    ) -> None:
        self.calls.append(("mark", checkpoint, name, note, pinned))
        view = next(c for c in self.checkpoints if c.checkpoint == checkpoint)
        view.name = view.name if name is None else name
        view.note = view.note if note is None else note
        view.pinned = view.pinned if pinned is None else pinned
        self.tell(checkpoints=True)

    def rename_branch(self, branch: str, name: str) -> None:
        self.calls.append(("rename_branch", branch, name))

    def removal_of(self, branch: str) -> tuple[int, int, int]:
        own = [c for c in self.checkpoints if c.branch == branch]
        return len(own), sum(c.bytes for c in own), sum(bool(c.name or c.pinned) for c in own)

    def forks_of(self, branch: str) -> int:
        own = {c.checkpoint for c in self.checkpoints if c.branch == branch}
        return len({c.branch for c in self.checkpoints if c.parent in own and c.branch != branch})

    def comparison(self, checkpoint: str) -> Comparison | None:
        return self.comparisons.get(checkpoint)

    def fork_mapped(self, checkpoint: str, mapping: NodeMapping) -> None:
        self.calls.append(("fork_mapped", checkpoint, mapping))

    def delete_branch(self, branch: str) -> None:
        self.calls.append(("delete_branch", branch))

    def toggle_breakpoint(self, node: str) -> None:
        self.calls.append(("toggle_breakpoint", node))
        self.breakpoints = self.breakpoints ^ {node}
        self.breakpoints_changed.emit()

    @property
    def held_by(self) -> frozenset[str]:
        return frozenset({self.paused_at} - {None})  # type: ignore[arg-type]

    def tell(self, **changes: Any) -> None:
        """Emits an update."""
        self.updated.emit(RunUpdate(**changes))

    def stream(self, invocation: str, text: str, kind: str = "text") -> None:
        """Lets text arrive in a lane, as the pump would."""
        pieces = self.invocations[invocation].pieces
        if pieces and pieces[-1].kind == kind:
            pieces[-1].text += text
        else:
            pieces.append(StreamPiece(kind, text))  # type: ignore[arg-type]
        self.tell(invocations=frozenset({invocation}))


MARKET = (
    "Prices for four-hour lithium systems fell to 118 €/kWh in the spring tenders, 31 % below 2024 [M2]. Revenue has "
    "moved from frequency services to day-ahead spread: 64 % of income in Germany, 71 % in Italy [M3, M6]. Eight-hour "
    "systems remain above 150 €/kWh and need a capacity payment [M7]. New entrants bid without a fixed-price contract "
    "for the first time [M9]."
)
TECH = (
    "Lithium iron phosphate stays the default for two to four hours of storage [T1, T4]. Above eight hours, iron-air "
    "cells and pumped heat are the two options with plants in operation [T2].\nSodium-ion is 8 to 12 % cheaper per "
    "cycle in the 2026 tenders, but no supplier gives a guarantee longer than ten years [T5]."
)
POLICY = (
    "The revised market rules let storage take part in every balancing product and end double grid fees in 19 of 27 "
    "states [P1]. Capacity schemes opened to storage in Poland, Belgium and Italy [P4]. Permits are the main delay: 14 "
    "months in the median state [P6]."
)
INPUT = "Two-page brief: grid storage in the EU, 2026"


def paused(run: FakeRun) -> None:
    """Run 13 of the research brief, paused before superstep 4."""
    run.state = RunState.PAUSED
    run.sentence = "Paused before superstep 4 — breakpoint on Join"
    run.paused_at, run.next_superstep = "join", 4
    run.branch, run.here = "main", "m3"
    run.setup.breakpoints.replace(Breakpoint(place=node, id=node) for node in ("join", "writer", "publisher"))
    run.setup.changed.emit()
    rows = (
        ("i1", "planner", 1, 0.0, 4.1, 0, [StreamPiece("text", "Three topics: market, tech, policy.")]),
        ("i2", "planner", 2, 26.1, 29.3, 0, [StreamPiece("text", "Plan approved.")]),
        ("i3", "market", 3, 29.3, 37.4, 612, [*_tool("web_search", '"four-hour battery price EU"', "9 hits", "c1"),
                                               *_tool("read_page", "tender-results-2026", "4.1 kB", "c2"),
                                               StreamPiece("text", MARKET)]),
        ("i4", "tech", 3, 29.3, 39.1, 486, [*_tool("web_search", '"iron-air pilot plant 2026"', "6 hits", "c3"),
                                             StreamPiece("text", TECH)]),
        ("i5", "policy", 3, 29.3, 35.7, 528, [*_tool("read_page", "electricity-market-rules", "6.3 kB", "c4"),
                                               StreamPiece("text", POLICY)]),
    )  # fmt: skip
    for key, node, step, start, end, tokens, pieces in rows:
        usage = Usage(1000, tokens or 96)
        run.invocations[key] = InvocationView(key, node, step, start, end, "done", usage, tokens, list(pieces))
        run.nodes[node] = NodeView(node, "done", 1 + (node == "planner"), end - start, usage)
    run.supersteps[:] = [
        SuperstepView(1, 0.0, 4.1, ["i1"], [], "m1"),
        SuperstepView(2, 26.1, 29.3, ["i2"], [AnswerView("r0", "planner", "approved", "submit_plan")], "m2"),
        SuperstepView(3, 29.3, 39.1, ["i3", "i4", "i5"], [], "m3"),
    ]
    for number, (node, text) in enumerate((("market", MARKET), ("tech", TECH), ("policy", POLICY)), 1):
        run.queued.append(QueuedView(f"q{number}", node, None, ("research_join",), "agent reply", text, text))
        run.messages.append(
            MessageView(f"q{number}", node, None, 3, "agent reply", text, text, invocation=f"i{number + 2}")
        )
    run.messages.insert(0, _delivered("m0", "", 0, "text", INPUT, ("e0", "planner")))
    run.messages.insert(
        1, _delivered("m2", "planner", 2, "agent reply", "3 topics, approved by you", ("fan:to:tech", "tech"))
    )
    run.shared_state.update({"plan.topics": ["market", "tech", "policy"], "sources": 14, "approved": True, "rounds": 0})
    tree(run)


def _delivered(message: str, source: str, step: int, kind: str, text: str, to: tuple[str, str]) -> MessageView:
    return MessageView(message, source, None, step, kind, text, text, "delivered", [(to[0], to[1], True, "")])


def _tool(name: str, arguments: str, result: str, key: str) -> list[StreamPiece]:
    return [StreamPiece("tool", arguments, name, key), StreamPiece("result", result, name, key)]


def tree(run: FakeRun) -> None:
    """Main with a fork at 2 that has finished."""
    run.branches[:] = [
        BranchView("main", 13, "main", "paused", 1_764_512_461.0, "", 17.1, Usage(8000, 2300), INPUT),
        BranchView(
            "a", 13, "Fork A", "completed", 1_764_512_500.0, "prompt edited at 2", 29.0, Usage(9000, 3900), INPUT
        ),
    ]
    chain = (("m0", None, "input", 0), ("m1", "m0", "superstep", 1), ("ma", "m1", "answers", 1),
             ("m2", "ma", "superstep", 2), ("m3", "m2", "superstep", 3))  # fmt: skip
    run.checkpoints[:] = [
        CheckpointView(i, parent, "main", kind, step, 1_764_512_468.4 + step, 41_000)  # type: ignore[arg-type]
        for i, parent, kind, step in chain
    ]
    for step, parent in ((3, "m2"), (4, "a3"), (5, "a4"), (6, "a5")):
        run.checkpoints.append(
            CheckpointView(f"a{step}", parent, "a", "superstep", step, 1_764_512_500.0 + step, 58_000)
        )
    run.checkpoints[3].name = "plan approved"
