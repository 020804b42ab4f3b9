"""The tool loop against the real framework's: the same script must give the same turns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from tests.fakes.two_agents import Answer, Give, Json, Say, Turn, on_framework, on_ours

LOOK: Json = {"name": "look", "returns": "found {q}"}
COUNT: Json = {"name": "count", "returns": "3 {q}"}
BROKEN: Json = {"name": "broken", "error": "no"}
DELETE: Json = {"name": "delete", "approval": "always", "returns": "deleted {q}"}
WIPE: Json = {"name": "wipe", "approval": "always", "returns": "wiped {q}"}
PLACE: Json = {"name": "place", "approval": "caller_executes"}
TOOLS = [LOOK, COUNT, BROKEN, DELETE, WIPE, PLACE]


def calls(*names: str, text: str = "", q: Any = "x") -> Json:
    reply: Json = {"calls": [{"id": f"c_{n}_{i}", "tool": n, "arguments": {"q": q}} for i, n in enumerate(names)]}
    return {"text": text, **reply} if text else reply


SCENARIOS: dict[str, tuple[list[Json], list[Turn]]] = {
    "plain": ([{"text": "hi"}], [Say("hello")]),
    "chunks": ([{"chunks": ["Hel", "lo"]}], [Say("hello")]),
    "two turns": ([{"text": "one"}, {"text": "two"}], [Say("a"), Say("b")]),
    "same text twice": ([{"text": "ok"}, {"text": "ok"}, {"text": "ok"}], [Say("a"), Say("a"), Say("a")]),
    "one tool": ([calls("look"), {"text": "done"}], [Say("go")]),
    "text and tool": ([calls("look", text="Let me see."), {"text": "done"}], [Say("go")]),
    "two tools": ([calls("look", "count"), {"text": "done"}], [Say("go")]),
    "tool after tool": ([calls("look"), calls("count"), {"text": "done"}], [Say("go")]),
    "unknown tool": ([calls("nothing"), {"text": "done"}], [Say("go")]),
    "tool fails": ([calls("broken"), {"text": "done"}], [Say("go")]),
    "wrong argument": ([calls("look", q=3), {"text": "done"}], [Say("go")]),
    "three failing batches": ([calls("broken")] * 3 + [calls("look")], [Say("go")]),
    "three failing batches, then text": ([calls("broken")] * 3 + [{"text": "sorry"}], [Say("go")]),
    "approved": ([calls("delete"), {"text": "done"}], [Say("go"), Answer({"delete": True})]),
    "rejected": ([calls("delete"), {"text": "done"}], [Say("go"), Answer({"delete": False})]),
    "approved, then another turn": (
        [calls("delete"), {"text": "done"}, {"text": "more"}],
        [Say("go"), Answer({"delete": True}), Say("and?")],
    ),
    "approved with other arguments": (
        [calls("delete"), {"text": "done"}],
        [Say("go"), Answer({"delete": {"q": "y"}})],
    ),
    "text before approval": (
        [calls("delete", text="I must."), {"text": "done"}],
        [Say("go"), Answer({"delete": True})],
    ),
    "one of two rejected": (
        [calls("delete", "wipe"), {"text": "done"}],
        [Say("go"), Answer({"delete": True, "wipe": False})],
    ),
    "sibling waits for approval": ([calls("look", "delete"), {"text": "done"}], [Say("go"), Answer({"delete": True})]),
    "sibling runs after rejection": (
        [calls("delete", "look"), {"text": "done"}],
        [Say("go"), Answer({"delete": False})],
    ),
    "asked twice": (
        [calls("delete"), calls("wipe"), {"text": "done"}],
        [Say("go"), Answer({"delete": True}), Answer({"wipe": True})],
    ),
    "unknown beside approval": ([calls("nothing", "delete"), {"text": "done"}], [Say("go")]),
    "other turn while asked": ([calls("delete"), {"text": "later"}], [Say("go"), Say("never mind")]),
    "caller runs": ([calls("place"), {"text": "done"}], [Say("go"), Answer({"place": "placed"})]),
    "caller runs two": ([calls("place", "place"), {"text": "done"}], [Say("go"), Answer({"place": "placed"})]),
    "caller and sibling": ([calls("look", "place"), {"text": "done"}], [Say("go"), Answer({"place": "placed"})]),
    "caller and approval": (
        [calls("place", "delete"), {"text": "done"}],
        [Say("go"), Answer({"place": "placed", "delete": True})],
    ),
    "all three kinds": (
        [calls("delete", "look", "place"), {"text": "done"}],
        [Say("go"), Answer({"delete": False, "place": "placed"})],
    ),
    "transcript repeated": (
        [{"text": "one"}, {"text": "two"}, {"text": "three"}],
        [
            Give((("user", None, "q"),)),
            Give((("user", None, "q"), ("assistant", "bot", "one"), ("assistant", "critic", "hm"))),
            Give(
                (
                    ("user", None, "q"),
                    ("assistant", "bot", "one"),
                    ("assistant", "critic", "hm"),
                    ("assistant", "bot", "two"),
                    ("assistant", "critic", "ok"),
                )
            ),
        ],
    ),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
async def test_same_turns_as_the_framework(name: str, stream: bool) -> None:
    replies, turns = SCENARIOS[name]
    theirs = await on_framework(TOOLS, replies, turns, stream)
    ours = await on_ours(TOOLS, replies, turns, stream)
    for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
        expected, got = asdict(one), asdict(other)
        for key in expected:
            assert got[key] == expected[key], f"turn {number}: {key}\n{expected[key]}\n{got[key]}"
