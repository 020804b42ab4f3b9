"""The reference graphs of the restore matrix, and how a run of them is played to its end.

``python -m tests.engine.restoring FILE GRAPH`` plays every checkpoint of a file in a new process.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.agents.messages import ApprovalRequest, ApprovalResponse
from studio.checkpoints import SqliteStore
from studio.engine import Codec, Workflow
from studio.engine import events as ev

from tests.conformance.build import CaseBuilder
from tests.conformance.forms import form

Form = dict[str, Any]


def function(id: str, *ops: Form, accepts: str = "any", **more: Any) -> Form:
    """A function node; by default it adds its name and sends on."""
    do = list(ops) or [{"op": "append", "text": f"+{id}"}, {"op": "send"}]
    return {"id": id, "kind": "function", "handlers": [{"accepts": accepts, "do": do, "yields": ["any"]}], **more}


def agent(id: str, *replies: Form, **more: Any) -> Form:
    """An agent whose answer depends on nothing but what it is asked."""
    given = list(replies) or [{"echo": f"{id}: "}]
    return {"id": id, "kind": "agent", "replies": given, "then": "repeat_last", **more}


def direct(source: str, target: str, **more: Any) -> Form:
    return {"kind": "direct", "from": source, "to": target, **more}


END = function("end", {"op": "append_state", "key": "ends", "value": {"$ref": "value", "as": "text"}}, {"op": "yield"})
KEEP = function("keep", {"op": "remember"}, {"op": "call_count"}, {"op": "send"}, checkpointed=True)
TOOL = {"name": "pay", "returns": "paid {q}", "approval": "always"}
CALL = {"calls": [{"id": "call_1", "tool": "pay", "arguments": {"q": "5"}}]}


def approving(id: str) -> Form:
    """Asks for its tool once, then answers."""
    return agent(id, CALL, {"echo": f"{id} did: "}, tools=[TOOL])


GRAPHS: dict[str, Form] = {
    "chain": {
        "start": "a",
        "nodes": [agent("a"), agent("b"), KEEP, END],
        "edges": [{"kind": "chain", "nodes": ["a", "b", "keep", "end"]}],
    },
    "uneven_fan_in": {
        "start": "s",
        "nodes": [function("s"), function("short"), function("long"), function("longer"), END],
        "edges": [
            {"kind": "fan_out", "from": "s", "to": ["short", "long"]},
            direct("long", "longer"),
            {"kind": "fan_in", "from": ["short", "longer"], "to": "end"},
        ],
    },
    "switch": {
        "start": "a",
        "nodes": [agent("a"), function("yes"), function("no"), END],
        "edges": [
            {
                "kind": "switch",
                "from": "a",
                "cases": [{"when": {"text_contains": "go"}, "to": "yes"}, {"default": True, "to": "no"}],
            },
            direct("yes", "end"),
            direct("no", "end"),
        ],
    },
    "loop_over_fan_in": {
        "start": "s",
        "nodes": [
            function("s", {"op": "text"}, {"op": "send"}),
            function("l"),
            function("r"),
            function("j", {"op": "join", "sep": "|"}, {"op": "send"}, accepts="list"),
            END,
        ],
        "edges": [
            {"kind": "fan_out", "from": "s", "to": ["l", "r"]},
            {"kind": "fan_in", "from": ["l", "r"], "to": "j"},
            direct("j", "s", when={"not": {"text_longer_than": 30}}),
            direct("j", "end", when={"text_longer_than": 30}),
        ],
    },
    "approval": {
        "start": "pay",
        "nodes": [approving("pay"), END],
        "edges": [direct("pay", "end")],
    },
    "parallel_approvals": {
        "start": "s",
        "nodes": [function("s"), approving("p"), approving("q"), END],
        "edges": [
            {"kind": "fan_out", "from": "s", "to": ["p", "q"]},
            direct("p", "end"),
            direct("q", "end"),
        ],
    },
    "nested": {
        "start": "s",
        "nodes": [
            function("s"),
            {
                "id": "sub",
                "kind": "workflow",
                "propagate_requests": True,
                "graph": {
                    "start": "in",
                    "nodes": [
                        function(
                            "in",
                            {"op": "request_info", "response": "str"},
                            responses=[
                                {
                                    "request": "any",
                                    "response": "str",
                                    "do": [{"op": "append", "text": "!"}, {"op": "send"}],
                                }
                            ],
                        ),
                        agent("deep"),
                        function("out", {"op": "text"}, {"op": "yield"}),
                    ],
                    "edges": [direct("in", "deep"), direct("deep", "out")],
                },
            },
            END,
        ],
        "edges": [direct("s", "sub"), direct("sub", "end")],
    },
    "failing": {
        "start": "a",
        "nodes": [agent("a"), function("bad", {"op": "fail", "message": "on purpose"})],
        "edges": [direct("a", "bad")],
    },
}


@dataclass
class Heard:
    """A sink that notes what a run does, and how far it was at each checkpoint."""

    builder: CaseBuilder
    invoked: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    marks: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    parents: list[tuple[str, str | None]] = field(default_factory=list)
    error: str = ""

    def append(self, event: ev.Event) -> None:
        if isinstance(event, ev.NodeStarted):
            self.invoked.append("/".join((*event.inside, event.node)))
        elif isinstance(event, ev.OutputYielded):
            self.outputs.append(json.dumps(form(event.data), sort_keys=True))
        elif isinstance(event, ev.CheckpointSaved):
            self.marks[event.checkpoint] = self.here
            self.parents.append((event.checkpoint, event.parent))

    @property
    def here(self) -> tuple[int, int, int]:
        return len(self.invoked), len(self.outputs), len(self.builder.model_calls)

    def since(self, mark: tuple[int, int, int] = (0, 0, 0)) -> dict[str, Any]:
        """What happened after a mark: call counts, prompts, outputs, and how it ended."""
        invoked, outputs, calls = mark
        prompts = [json.dumps(call["messages"], sort_keys=True) for call in self.builder.model_calls[calls:]]
        return {
            "invoked": dict(Counter(self.invoked[invoked:])),
            "outputs": sorted(self.outputs[outputs:]),
            "prompts": sorted(prompts),
            "error": self.error,
        }


async def play(workflow: Workflow, heard: Heard, store: SqliteStore, **start: Any) -> None:
    """To the very end: whatever is asked is answered."""
    given = start
    try:
        while given:
            result = await workflow.run(events=heard, store=store, **given)
            answers = {
                r.id: ApprovalResponse(r.data.id, True, r.data.call) if isinstance(r.data, ApprovalRequest) else "yes"
                for r in result.requests
            }
            given = {"answers": answers} if answers else {}
    except Exception as error:
        heard.error = f"{type(error).__name__}: {error}"


def built(name: str, calls_before: Counter[str] | None = None) -> tuple[Workflow, CaseBuilder]:
    """A fresh instance. ``calls_before``: model calls that were made already, for agents whose answers are counted."""
    builder = CaseBuilder(name, "delivery")
    workflow = builder.build(GRAPHS[name])
    for node, count in (calls_before or {}).items():
        builder.skip(node, count)
    return workflow, builder


async def replay(name: str, store: SqliteStore, checkpoint: str, before: Counter[str]) -> dict[str, Any]:
    """Resumes a checkpoint on a fresh instance."""
    workflow, builder = built(name, before)
    heard = Heard(builder)
    await play(workflow, heard, store, checkpoint=checkpoint)
    return {**heard.since(), "parents": heard.parents}


async def _all(path: Path, name: str, wanted: dict[str, dict[str, int]]) -> dict[str, Any]:
    store = SqliteStore(path, Codec())
    found = {id: await replay(name, store, id, Counter(before)) for id, before in wanted.items()}
    await store.close()
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_all(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))))
