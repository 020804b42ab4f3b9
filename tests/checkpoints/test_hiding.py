"""What the codec hides is in no byte of the file, and everything can still be read."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from studio.agents.hiding import Hider
from studio.agents.messages import Message, Text, ToolCall, ToolResult, assistant, user
from studio.checkpoints import Checkpoint, Mark, PendingRequest, QueuedMessage, RunRecord, SqliteStore
from studio.checkpoints.bodies import parsed
from studio.checkpoints.database import connect
from studio.engine import Codec, Record

KEY = "sk-canary-7f3a"
LONG = "x" * 300 + KEY + "y" * 300


def everything(parent: str | None, number: int) -> Checkpoint:
    """A checkpoint that has the key in every place."""
    call = Message("assistant", (ToolCall("c1", "send", f'{{"token": "{KEY}"}}'), ToolResult("c1", {"said": KEY})))
    said = [user(f"{n} {KEY}") for n in range(8)]
    messages = (
        QueuedMessage("m1.1", "a", None, [*said, assistant(LONG), call]),
        QueuedMessage("m1.2", "a", None, Record("Order", {"note": KEY, "lines": [LONG, KEY]})),
        QueuedMessage("m1.3", "a", None, KEY),
    )
    return Checkpoint(
        f"c{number}",
        parent,
        "run",
        superstep=number,
        messages=messages,
        requests=(PendingRequest("r1", "ask", {"question": f"Is it {KEY}?"}, "str"),),
        state={"short": KEY, "long": LONG, "nested": {"list": [KEY, 1, None, KEY, LONG, number]}},
        executors={"a": {"history": [user(LONG), assistant(KEY)], "calls": number}},
        fan_in={"j": (QueuedMessage("m1.4", "b", "j", f"{KEY} once more"),)},
    )


async def filled(path: Path, codec: Codec) -> None:
    store = SqliteStore(path, codec)
    await store.start_run(RunRecord("run", 1, "main", input=f"go {KEY}", note=KEY))
    await store.update_run("run", note=f"now {KEY}")
    await store.append_events("run", [{"type": "TokensArrived", "text": KEY}, {"data": [LONG]}])
    for number in (1, 2, 3):
        await store.save(everything(f"c{number - 1}" if number > 1 else None, number))
    await store.set_mark("c1", Mark("it is " + KEY, KEY, tags=(KEY,)))
    await store.set_drafts({"r1": {"answer": KEY}})
    await store.close()


def texts(path: Path) -> str:
    """Everything in the file, inflated."""
    connection = connect(path)
    found = []
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
        for row in connection.execute(f'SELECT * FROM "{table}"').fetchall():
            for value in row:
                if isinstance(value, bytes):
                    try:
                        value = str(parsed(value))
                    except (ValueError, zlib.error):
                        value = repr(value)
                found.append(str(value))
    connection.close()
    return "\n".join(found)


async def test_no_byte_of_the_file_has_the_key(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path, Codec())
    assert texts(path).count("canary") > 20  # the test does look where the key would be
    path.unlink()
    await filled(path, Codec(hide=Hider(lambda: (KEY,))))
    assert "canary" not in texts(path)
    for file in tmp_path.iterdir():
        assert b"canary" not in file.read_bytes(), file


@pytest.mark.parametrize("number", [1, 3])
async def test_what_was_hidden_can_be_read(tmp_path: Path, number: int) -> None:
    await filled(tmp_path / "runs.db", Codec(hide=Hider(lambda: (KEY,))))
    store = SqliteStore(tmp_path / "runs.db", Codec())
    found = await store.load(f"c{number}")
    clean = LONG.replace(KEY, "[secret]")
    assert found.state["nested"] == {"list": ["[secret]", 1, None, "[secret]", clean, number]}
    assert found.state["short"] == "[secret]"
    conversation = found.messages[0].data
    assert [m.text for m in conversation[:9]] == [*(f"{n} [secret]" for n in range(8)), clean]
    assert [type(part) for part in conversation[9].parts] == [ToolCall, ToolResult]
    assert found.messages[1].data == Record("Order", {"note": "[secret]", "lines": [clean, "[secret]"]})
    assert found.executors["a"]["history"][0].parts == (Text(clean),)
    assert found.requests[0].data == {"question": "Is it [secret]?"}
    assert (await store.runs())[0].input == "go [secret]"
    assert (await store.load_events("run"))[0]["text"] == "[secret]"
    assert (await store.marks())["c1"] == Mark("it is [secret]", "[secret]", tags=("[secret]",))
    assert await store.drafts() == {"r1": {"answer": "[secret]"}}
    await store.close()


async def test_going_on_after_a_key_was_hidden_keeps_lists_whole(tmp_path: Path) -> None:
    """What the packer remembers of a list in memory is what is in the file."""
    store = SqliteStore(tmp_path / "runs.db", Codec(hide=Hider(lambda: (KEY,))))
    said: list[Message] = []
    parent = None
    for number in range(20):
        said.append(user(f"{number} {KEY if number % 3 == 0 else 'plain'}"))
        await store.save(Checkpoint(f"c{number}", parent, "run", superstep=number, state={"said": list(said)}))
        parent = f"c{number}"
    await store.close()
    store = SqliteStore(tmp_path / "runs.db", Codec())
    wanted = [f"{n} {'[secret]' if n % 3 == 0 else 'plain'}" for n in range(20)]
    assert [m.text for m in (await store.load("c19")).state["said"]] == wanted
    assert [m.text for m in (await store.load("c7")).state["said"]] == wanted[:8]
    await store.close()
