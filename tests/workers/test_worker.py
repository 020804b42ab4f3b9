"""User code in a worker process: results, context, prints, errors, limits, the end (WK-1)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from studio.workers import CallContext, Limits, Unit, UserCodeError, Worker, protocol

from tests.waiting import until


@dataclass
class Host:
    """Remembers what a call did."""

    state: dict[str, Any] = field(default_factory=dict)
    told: list[tuple[Any, ...]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    line_came: asyncio.Event = field(default_factory=asyncio.Event)

    def state_get(self, key: str) -> Any:
        return self.state[key]

    def state_set(self, key: str, value: Any) -> None:
        self.state[key] = value

    def send(self, data: Any, target: str | None) -> None:
        self.told.append(("send", data, target))

    def yield_output(self, data: Any) -> None:
        self.told.append(("yield", data))

    def ask(self, data: Any, response_type: str, request_id: str | None) -> str:
        self.told.append(("ask", data, response_type, request_id))
        return request_id or "made"

    def printed(self, text: str, stream: str) -> None:
        self.lines.append((stream, text))
        self.line_came.set()


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker()
    yield made
    await made.close()


async def run(worker: Worker, source: str, data: Any = "x", host: Host | None = None, **options: Any) -> Any:
    await worker.load([Unit("node", source, "body")])
    return await worker.call("node", data, host=host or Host(), **options)


async def failure(worker: Worker, source: str, data: Any = "x", **options: Any) -> UserCodeError:
    with pytest.raises(UserCodeError) as caught:
        await run(worker, source, data, **options)
    return caught.value


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ------------------------------------------------------------------------------------------------------- results


async def test_a_body_leaves_its_result(worker: Worker) -> None:
    assert await run(worker, "result = data.upper()", "abc") == "ABC"
    assert await run(worker, "if data:\n    return [data, 1, None, 2.5, True]") == ["x", 1, None, 2.5, True]
    assert await run(worker, "words = data") is None


async def test_a_body_may_await_and_helpers_see_its_names(worker: Worker) -> None:
    source = (
        "import asyncio\nawait asyncio.sleep(0)\ndef twice():\n    return data * 2\nresult = [twice() for _ in 'ab']"
    )
    assert await run(worker, source, "q") == ["qq", "qq"]


async def test_texts_with_line_breaks_in_a_body_keep_their_indentation(worker: Worker) -> None:
    assert await run(worker, 'result = """a\n    b\nc"""') == "a\n    b\nc"


async def test_module_functions_take_data_or_data_and_context(worker: Worker) -> None:
    tools = "from lib.text import shout\ndef one(data):\n    return shout(data)\nasync def two(data, ctx):\n"
    tools += "    await ctx.send_message(data)\n    return 2\ndef none():\n    return 0"
    await worker.load([Unit("tools", tools), Unit("lib.text", "def shout(t):\n    return t + '!'")])
    host = Host()
    assert await worker.call("tools:one", "a", host=host) == "a!"
    assert await worker.call("tools:two", "a", host=host) == 2
    assert await worker.call("tools:none", "a", host=host) == 0
    assert host.told == [("send", "a", None)]


async def test_tools_get_their_arguments_by_name(worker: Worker) -> None:
    await worker.load([Unit("tools", "def add(a, b=1):\n    return a + b")])
    assert await worker.call("tools:add", {"a": 2}, host=Host(), style="tool") == 3


async def test_a_predicate_that_is_an_expression_is_its_own_result(worker: Worker) -> None:
    scope = {"data": "ok", "text": "ok", "value": {"score": 8}, "type": "text", "state": {}}
    await worker.load([Unit("c", "value['score'] > 7 and text == 'ok'", "predicate")])
    assert await worker.call("c", scope, host=Host(), style="predicate") is True


SCORE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string", "default": "-"}, "points": {"type": "integer"}},
    "required": ["points"],
}


async def test_declared_types_are_dataclasses_in_the_worker_and_records_outside(worker: Worker) -> None:
    source = "assert isinstance(data, Score)\nresult = Score(data.points + 1, note=data.note)"
    await worker.load([Unit("node", source, "body")], {"Score": SCORE})
    given = {"$record": "Score", "points": 1}
    assert await worker.call("node", given, host=Host()) == {"$record": "Score", "points": 2, "note": "-"}


async def test_agent_messages_have_the_attributes_of_the_framework(worker: Worker) -> None:
    text = {"type": "text", "text": "draft"}
    message = {"$": "message", "role": "assistant", "parts": [text], "author": "w", "id": None, "extra": {}}
    reply = {"$": "reply", "messages": [message], "value": None, "finish_reason": None}
    data = {"$": "response", "executor": "w", "reply": reply, "conversation": [message]}
    source = "assert data.agent_response.messages[0].author_name == 'w'\n"
    source += "result = data.with_text(data.agent_response.text.upper())"
    result = await run(worker, source, data)
    assert result["reply"]["messages"][0]["parts"] == [{"type": "text", "text": "DRAFT"}]
    assert len(result["conversation"]) == 1
    request = "from agent_framework import AgentExecutorRequest, Message\n"
    request += "result = AgentExecutorRequest([Message('user', [data])], False)"
    assert (await run(worker, request))["should_respond"] is False


async def test_an_object_with_a_mark_of_ours_survives(worker: Worker) -> None:
    assert await run(worker, "result = {'$': 1}") == {"$": "dict", "items": [["$", 1]]}


# ------------------------------------------------------------------------------------------------------- context


async def test_the_context_works_awaited_or_not_in_order(worker: Worker) -> None:
    source = """
before = ctx.get_state("n", 0)
ctx.set_state("n", before + 1)
ctx.send_message(ctx.get_state("n"), target_id="b")
await ctx.yield_output("out")
await ctx.request_info("sure?", bool, request_id="r1")
result = [ctx.source_executor_ids, ctx.is_streaming(), ctx.get_state("missing", "none")]
"""
    host = Host(state={"n": 4})
    result = await run(worker, source, host=host, context=CallContext(("a",), streaming=True))
    assert result == [["a"], True, "none"]
    assert host.state == {"n": 5}
    assert host.told == [("send", 5, "b"), ("yield", "out"), ("ask", "sure?", "bool", "r1")]


async def test_prints_come_by_line_with_the_call_that_printed_them(worker: Worker) -> None:
    source = "import asyncio, sys\nprint('start', data)\nawait asyncio.sleep(0.01)\nprint(data, end='')\n"
    await worker.load([Unit("node", source + "print('warned', file=sys.stderr)", "body")])
    one, two = Host(), Host()
    await asyncio.gather(worker.call("node", 1, host=one), worker.call("node", 2, host=two))
    assert one.lines == [("out", "start 1"), ("err", "warned"), ("out", "1")]
    assert two.lines == [("out", "start 2"), ("err", "warned"), ("out", "2")]


async def test_lines_of_child_processes_are_prints_too(worker: Worker) -> None:
    host = Host()
    source = "import subprocess\nsubprocess.run(['echo', 'from outside'])\nimport time\n"
    task = asyncio.create_task(run(worker, source + "while not ctx.get_state('seen', False):\n    pass", host=host))
    await asyncio.wait_for(host.line_came.wait(), 60)
    host.state["seen"] = True
    await task
    assert host.lines == [("out", "from outside")]


async def test_an_error_of_the_host_fails_the_call(worker: Worker) -> None:
    class Refusing(Host):
        def send(self, data: Any, target: str | None) -> None:
            raise ValueError("no such target")

    with pytest.raises(ValueError, match="no such target"):
        await run(worker, "ctx.send_message(1, 'nobody')", host=Refusing())


async def test_plain_functions_run_side_by_side(worker: Worker) -> None:
    await worker.load([Unit("node", "ctx.set_state(data, 1)\nwhile not ctx.get_state('go', 0):\n    pass", "body")])
    host = Host()
    calls = [asyncio.create_task(worker.call("node", name, host=host)) for name in ("a", "b")]
    await until(lambda: {"a", "b"} <= host.state.keys())
    host.state["go"] = 1
    await asyncio.gather(*calls)


# -------------------------------------------------------------------------------------------------------- errors


async def test_an_error_shows_only_frames_of_the_users_text(worker: Worker) -> None:
    await worker.load([Unit("tools", "import json\n\ndef parse(t):\n    return json.loads(t)")])
    await worker.load([Unit("tools", "import json\n\ndef parse(t):\n    return json.loads(t)"), *_calling()])
    with pytest.raises(UserCodeError) as caught:
        await worker.call("node", "{", host=Host())
    error = caught.value
    assert (error.type, type(error).__name__) == ("JSONDecodeError", "JSONDecodeError")
    assert [(f.unit, f.line, f.function) for f in error.where] == [("node", 2, ""), ("tools", 4, "parse")]
    assert error.where[-1].code == "return json.loads(t)"
    assert str(error).endswith("(tools, line 4)")


def _calling() -> list[Unit]:
    return [Unit("node", "from tools import parse\nresult = parse(data)", "body")]


async def test_a_syntax_error_has_its_line_at_loading(worker: Worker) -> None:
    with pytest.raises(UserCodeError) as caught:
        await worker.load([Unit("node", "x = 1\nif x\n  y", "body")])
    assert (caught.value.type, caught.value.where[0].unit, caught.value.where[0].line) == ("SyntaxError", "node", 2)
    with pytest.raises(UserCodeError) as caught:
        await worker.load([Unit("m", "def f(:\n  pass")])
    assert (caught.value.where[0].unit, caught.value.where[0].line) == ("m", 1)
    with pytest.raises(UserCodeError, match="yield_output"):
        await worker.load([Unit("node", "yield data", "body")])


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("result = {1, 2}", "set"),
        ("result = [object()]", "object"),
        ("result = {1: 2}", "int"),
        ("result = float('nan')", "nan"),
        ("result = b'x'", "bytes"),
        ("result = []\nresult.append(result)", "refers to itself"),
        ("result = 'x' * 9_000_000", "9,000,002 bytes"),
    ],
)
async def test_a_result_that_is_no_json_is_named(worker: Worker, source: str, named: str) -> None:
    error = await failure(worker, source)
    assert error.type == "TypeError"
    assert named in error.message


async def test_exits_and_cancelled_errors_of_user_code_are_errors(worker: Worker) -> None:
    assert (await failure(worker, "import sys\nsys.exit(3)")).type == "SystemExit"
    assert (await failure(worker, "import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError")).type == (
        "CancelledError"
    )
    assert (await failure(worker, "import sys\nawait ctx.send_message(1)\nsys.exit(3)")).type == "SystemExit"
    assert await run(worker, "result = 1") == 1


async def test_missing_functions_are_named(worker: Worker) -> None:
    await worker.load([Unit("m", "x = 1")])
    for target, named in (("m:f", "no function 'f'"), ("other:f", "no module 'other'"), ("os:getcwd", "no module")):
        with pytest.raises(UserCodeError, match=named):
            await worker.call(target, 1, host=Host())


async def test_a_crash_is_told_and_the_worker_goes_on(worker: Worker) -> None:
    error = await failure(worker, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\nwhile True: pass")
    assert error.type == "WorkerDied"
    assert "SIGSEGV" in error.message
    assert await run(worker, "result = 1") == 1


async def test_a_death_between_calls_is_told() -> None:
    died: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    worker = Worker(died=died.set_result)
    await worker.start()
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    assert "SIGKILL" in await asyncio.wait_for(died, 60)
    assert worker.pid is None
    assert await run(worker, "result = 1") == 1
    await worker.close()


async def test_a_missing_interpreter_is_told() -> None:
    worker = Worker("/nowhere/python")
    with pytest.raises(UserCodeError, match="/nowhere/python cannot be started"):
        await worker.start()
    await worker.close()


async def test_an_interpreter_that_is_no_python_is_told() -> None:
    worker = Worker("/bin/true")
    with pytest.raises(UserCodeError) as caught:
        await worker.start()
    assert caught.value.type == "WorkerStart"
    await worker.close()


# ------------------------------------------------------------------------------------------------- cancel, limits


async def _running_call(worker: Worker, source: str) -> tuple[asyncio.Task[Any], Host, int]:
    host = Host()
    await worker.load([Unit("node", "print('running')\n" + source, "body"), Unit("quick", "result = 1", "body")])
    task = asyncio.create_task(worker.call("node", "x", host=host))
    await asyncio.wait_for(host.line_came.wait(), 60)
    assert worker.pid is not None
    return task, host, worker.pid


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "await ctx.send_message(1)\nwhile True: pass",
        "import re\nre.match('(a+)+b', 'a' * 40)",
        "import time\ntime.sleep(1000)",
    ],
    ids=["python", "async body", "C code", "sleeping"],
)
async def test_an_endless_loop_is_killed_and_the_next_worker_is_there(worker: Worker, source: str) -> None:
    task, host, pid = await _running_call(worker, source)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert await worker.call("quick", "x", host=host) == 1
    assert worker.pid != pid
    assert not alive(pid)
    assert host.lines == [("out", "running")]


async def test_a_cancelled_coroutine_cleans_up_and_the_worker_stays(worker: Worker) -> None:
    source = "import asyncio\ntry:\n    await asyncio.sleep(1000)\nfinally:\n    ctx.set_state('cleaned', True)\n"
    task, _host, pid = await _running_call(worker, source)
    task.cancel()
    await asyncio.wait([task])
    assert worker.pid == pid


async def test_a_kill_interrupts_the_other_calls(worker: Worker) -> None:
    await worker.load([Unit("node", "print(data)\nwhile True: pass", "body")])
    hosts = Host(), Host()
    tasks = [asyncio.create_task(worker.call("node", i, host=host)) for i, host in enumerate(hosts)]
    await asyncio.gather(*(asyncio.wait_for(h.line_came.wait(), 60) for h in hosts))
    tasks[0].cancel()
    with pytest.raises(UserCodeError) as caught:
        await tasks[1]
    assert caught.value.type == "Interrupted"


async def test_all_calls_cancelled_at_once_end_together(worker: Worker) -> None:
    await worker.load([Unit("node", "print(data)\nwhile True: pass", "body"), Unit("quick", "result = 1", "body")])
    hosts = [Host() for _ in range(4)]
    tasks = [asyncio.create_task(worker.call("node", i, host=host)) for i, host in enumerate(hosts)]
    await asyncio.gather(*(asyncio.wait_for(h.line_came.wait(), 60) for h in hosts))
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(t.cancelled() for t in tasks)
    assert await worker.call("quick", 1, host=Host()) == 1


async def test_a_call_has_a_time_limit(worker: Worker) -> None:
    error = await failure(worker, "while True: pass", timeout=0.05)
    assert (error.type, error.message) == ("TimeLimit", "The code did not end within 0.05 seconds")
    assert await run(worker, "result = 1") == 1


async def test_close_ends_the_process_and_what_it_started() -> None:
    worker = Worker()
    host = Host()
    source = "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)\nwhile True: pass"
    await worker.load([Unit("node", source, "body")])
    task = asyncio.create_task(worker.call("node", "x", host=host))
    await asyncio.wait_for(host.line_came.wait(), 60)
    pids = (worker.pid or 0, int(host.lines[0][1]))
    await worker.close()
    with pytest.raises(UserCodeError, match="closed"):
        await task
    assert not alive(pids[0])
    await until(lambda: not alive(pids[1]))  # adopted by init, which reaps it


async def test_memory_can_be_limited() -> None:
    worker = Worker(limits=Limits(memory_bytes=1_000_000_000))
    assert (await failure(worker, "x = bytearray(2_000_000_000)")).type == "MemoryError"
    await worker.close()


async def test_an_idle_worker_ends_and_comes_back() -> None:
    worker = Worker(limits=Limits(idle=0.01))
    assert await run(worker, "result = 1") == 1
    await until(lambda: worker.pid is None)
    assert await worker.call("node", 1, host=Host()) == 1
    await worker.close()


async def test_no_key_of_the_studio_reaches_user_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    worker = Worker(env={"REGION": "north"})
    result = await run(worker, "import os\nresult = dict(os.environ)")
    assert result["REGION"] == "north"
    assert "canary-key" not in result.values()
    await worker.close()


# ------------------------------------------------------------------------------------------------- end of the studio

_STUDIO = """
import asyncio, os, signal, sys
from studio.workers import Unit, Worker

class Host:
    def printed(self, text, stream):
        print(text, flush=True)

async def main():
    worker = Worker()
    await worker.load([Unit("node", sys.argv[1], "body")])
    await worker.call("node", 1, host=Host())

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems see the end of input only")
@pytest.mark.parametrize("loop", ["while True: pass", "import re\nre.match('(a+)+b', 'a' * 40)"], ids=["python", "C"])
async def test_a_busy_worker_ends_with_a_killed_studio(loop: str) -> None:
    source = f"import os\nprint(os.getpid())\n{loop}"
    studio = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _STUDIO, source, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert studio.stdout is not None
    pid = int(await asyncio.wait_for(studio.stdout.readline(), 60))
    assert alive(pid)
    studio.kill()
    await studio.communicate()
    await until(lambda: not alive(pid))


async def test_frames_over_standard_pipes_where_descriptors_cannot_be_passed() -> None:
    def message(**fields: Any) -> bytes:
        return protocol.frame(fields)

    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(Path(protocol.__file__).with_name("child.py")), "0", "1"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    body = "import os, sys\nos.write(1, b'raw\\n')\nresult = [data, sys.stdin.read()]"
    units = [{"name": "n", "source": body, "kind": "body"}]
    sent = message(t="load", id=1, units=units, types={})
    sent += message(t="call", id=2, target="n", style="node", data="x", context={})
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(sent)
    received: list[dict[str, Any]] = []
    while not received or received[-1].get("id") != 2:
        size = struct.unpack(">I", await asyncio.wait_for(child.stdout.readexactly(4), 60))[0]
        received.append(json.loads(await child.stdout.readexactly(size)))
    assert received[-1] == {"t": "ok", "id": 2, "value": ["x", ""]}
    child.stdin.close()  # the end of input ends the process
    _, err = await asyncio.wait_for(child.communicate(), 60)
    assert (child.returncode, err) == (0, b"raw\n")
