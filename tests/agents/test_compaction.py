"""Compaction: what strategies leave, that pairs stay together, when they are asked; compared with the framework."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import agent_framework as af
import pytest
from agent_framework import _compaction as theirs
from studio.agents import LayeredClient, Message, Reasoning, Text, ToolCall, ToolResult, assistant, user
from studio.agents.compaction.groups import (
    Compaction,
    Compactor,
    Group,
    Groups,
    estimated_tokens,
    grouped,
    shown,
    tokens,
)
from studio.agents.compaction.provider import CompactionProvider
from studio.agents.compaction.strategies import (
    ContextWindow,
    SelectiveToolCalls,
    SlidingWindow,
    TokenBudget,
    ToolResults,
    Truncation,
)
from studio.agents.compaction.summarizing import Summarizing
from tests.agents.pipeline import Log, LoggedClient, add_tool, agent, call
from tests.fakes.scripted_client import ScriptedClient


def system(text: str) -> Message:
    return Message("system", (Text(text),))


def calls(*ids: str, text: str = "") -> Message:
    said = (Text(text),) if text else ()
    return Message("assistant", (*said, *(ToolCall(id, f"tool_{id}", '{"q": 1}') for id in ids)))


def results(*ids: str) -> Message:
    return Message("tool", tuple(ToolResult(id, f"result of {id}") for id in ids))


def thought(text: str) -> Message:
    return Message("assistant", (Reasoning(text),))


TALK = [
    system("be kind"),
    user("one"),
    assistant("first"),
    user("two"),
    calls("a", "b"),
    results("a"),
    results("b"),
    assistant("second"),
    user("three"),
    calls("c"),
    results("c"),
    assistant("third"),
]


def kinds(messages: Sequence[Message]) -> list[tuple[str, int]]:
    return [(group.kind, len(group.messages)) for group in grouped(messages)]


def test_calls_and_their_results_are_one_group() -> None:
    assert kinds(TALK) == [
        ("system", 1),
        ("user", 1),
        ("assistant", 1),
        ("user", 1),
        ("tool_calls", 3),
        ("assistant", 1),
        ("user", 1),
        ("tool_calls", 2),
        ("assistant", 1),
    ]
    assert [m for group in grouped(TALK) for m in group.messages] == TALK


def test_reasoning_belongs_to_the_calls_it_leads_to() -> None:
    assert kinds([thought("hm"), thought("so"), calls("a"), thought("wait"), results("a")]) == [("tool_calls", 5)]
    assert kinds([thought("hm"), assistant("x")]) == [("assistant", 1), ("assistant", 1)]
    assert kinds([user("q"), thought("end")]) == [("user", 1), ("assistant", 1)]


def test_results_that_come_late_pull_what_lies_between_into_the_group() -> None:
    assert kinds([calls("a"), user("meanwhile"), results("a"), user("x")]) == [("tool_calls", 3), ("user", 1)]


# --------------------------------------------------------------------------------------- against the framework


def framework_messages(messages: Sequence[Message]) -> list[af.Message]:
    made: list[af.Message] = []
    for message in messages:
        contents: list[af.Content] = []
        for part in message.parts:
            if isinstance(part, Text):
                contents.append(af.Content.from_text(part.text))
            elif isinstance(part, ToolCall):
                contents.append(
                    af.Content.from_function_call(call_id=part.call_id, name=part.name, arguments=part.arguments)
                )
            elif isinstance(part, ToolResult):
                contents.append(af.Content.from_function_result(call_id=part.call_id, result=part.result))
        made.append(af.Message(role=message.role, contents=contents))
    return made


def told(message: Any) -> tuple[str, str]:
    """A message of either side in words."""
    if isinstance(message, Message):
        ids = [p.call_id for p in message.parts if isinstance(p, ToolCall | ToolResult)]
        return message.role, message.text or ",".join(ids)
    ids = [c.call_id for c in message.contents if c.type in ("function_call", "function_result")]
    return str(message.role), message.text or ",".join(ids)


def talk(seed: int) -> list[Message]:
    """A random conversation."""
    pick = random.Random(seed)
    messages: list[Message] = [system("rules")] if pick.random() < 0.7 else []
    for number in range(pick.randint(1, 12)):
        messages.append(user(f"u{number}"))
        for batch in range(pick.choice((0, 0, 1, 2))):
            ids = [f"{number}.{batch}.{n}" for n in range(pick.randint(1, 3))]
            messages += [calls(*ids), results(*ids)]
        if pick.random() < 0.8:
            messages.append(assistant(f"a{number}"))
    return messages


class Scripted:
    """The framework's side of a client that sums up."""

    async def get_response(self, messages: Any, **kwargs: Any) -> af.ChatResponse:
        return af.ChatResponse(messages=[af.Message(role="assistant", contents=["summary"])])


PAIRS: dict[str, tuple[Any, Any]] = {
    "truncation": (Truncation(8, 5), theirs.TruncationStrategy(max_n=8, compact_to=5)),
    "truncation of everything": (
        Truncation(3, 1, keep_system=False),
        theirs.TruncationStrategy(max_n=3, compact_to=1, preserve_system=False),
    ),
    "truncation but the first": (
        Truncation(4, 2, keep_first_user=True),
        theirs.TruncationStrategy(max_n=4, compact_to=2, preserve_first_user_group=True),
    ),
    "window": (SlidingWindow(3), theirs.SlidingWindowStrategy(keep_last_groups=3)),
    "window of all": (
        SlidingWindow(2, keep_system=False),
        theirs.SlidingWindowStrategy(keep_last_groups=2, preserve_system=False),
    ),
    "tool calls": (SelectiveToolCalls(1), theirs.SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=1)),
    "no tool calls": (SelectiveToolCalls(0), theirs.SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=0)),
    "tool results": (ToolResults(1), theirs.ToolResultCompactionStrategy(keep_last_tool_call_groups=1)),
    "summary": (
        Summarizing(ScriptedClient(["summary"], then="repeat_last"), 3, 1),
        theirs.SummarizationStrategy(client=Scripted(), target_count=3, threshold=1),  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
async def test_leaves_what_the_framework_leaves(name: str) -> None:
    mine, other = PAIRS[name]
    for seed in range(40):
        messages = talk(seed)
        left = [told(m) for m in shown(await mine(grouped(messages)))]
        expected = await af.apply_compaction(framework_messages(messages), strategy=other)
        assert left == [told(m) for m in expected], f"seed {seed}"


# ----------------------------------------------------------------------------------------------------- each alone


async def test_tool_results_become_one_line() -> None:
    left = shown(await ToolResults(1)(grouped(TALK)))
    assert left[4].text == "[Tool results: tool_a: result of a; tool_b: result of b]"
    assert [m.role for m in left[5:]] == ["assistant", "user", "assistant", "tool", "assistant"]
    long = [calls("x"), Message("tool", (ToolResult("x", "y" * 9000),)), user("q")]
    line = shown(await ToolResults(0)(grouped(long)))[0].text
    assert len(line) == 4096
    assert line.endswith("... [truncated]]")


def test_tokens_are_estimated_as_the_framework_does() -> None:
    call = af.Content.from_function_call(call_id="c1", name="look", arguments='{"a": 1}')
    pairs = [
        (af.Message("user", ["über " * 20]), user("über " * 20)),
        (af.Message("assistant", [call]), Message("assistant", (ToolCall("c1", "look", '{"a": 1}'),))),
        (
            af.Message("tool", [af.Content.from_function_result(call_id="c1", result="found")]),
            Message("tool", (ToolResult("c1", "found"),)),
        ),
    ]
    for framework, ours in pairs:
        counted = af.CharacterEstimatorTokenizer().count_tokens(theirs._serialize_message(framework))
        assert tokens(grouped([ours])) == counted


async def test_truncation_by_tokens() -> None:
    messages = [user("x" * 400), user("y" * 400), user("z")]
    left = shown(await Truncation(220, 160, estimated_tokens)(grouped(messages)))
    assert [m.text[0] for m in left] == ["y", "z"]


async def test_budget_tries_strategies_then_drops_the_oldest_and_system_last() -> None:
    messages = [system("s" * 40), user("a" * 400), calls("t"), results("t"), user("b" * 40), user("c")]
    all_of_it = tokens(grouped(messages))
    budget = TokenBudget(all_of_it - 1, (SelectiveToolCalls(0),))
    assert [m.role for m in shown(await budget(grouped(messages)))] == ["system", "user", "user", "user"]
    tight = await TokenBudget(70, (SelectiveToolCalls(0),))(grouped(messages))
    assert [m.text[0] for m in shown(tight)] == ["s", "c"]
    assert [m.text for m in shown(await TokenBudget(1)(grouped(messages)))] == ["c"]
    assert [g.excluded for g in tight if g.kind == "tool_calls"] == ["tool_calls"]


async def test_context_window_sums_tool_results_up_before_it_leaves_anything_out() -> None:
    messages = [user("q"), calls("a"), Message("tool", (ToolResult("a", "r" * 2000),)), assistant("x"), user("y")]
    window = ContextWindow(1000, 200, keep_last_tools=0)
    assert window.budget == 800
    half = await window(grouped(messages))
    assert [(g.kind, g.excluded) for g in half] == [
        ("user", ""),
        ("summary", ""),
        ("tool_calls", "tool_results"),
        ("assistant", ""),
        ("user", ""),
    ]
    full = await window(grouped([user("o" * 2800), *messages]))
    assert [g.excluded for g in full] == ["truncation", "truncation", "truncation", "tool_results", "", ""]
    small = await window(grouped([user("q"), calls("a"), results("a")]))
    assert [g.excluded for g in small] == ["", ""]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Truncation(0, 1),
        lambda: Truncation(1, 2),
        lambda: SlidingWindow(0),
        lambda: ToolResults(-1),
        lambda: SelectiveToolCalls(-1),
        lambda: TokenBudget(0),
        lambda: ContextWindow(10, 10),
        lambda: ContextWindow(10, 1, tools_at=0.9, truncate_at=0.5),
        lambda: Summarizing(ScriptedClient([]), 0),
    ],
)
def test_impossible_settings_are_refused(make: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        make()


async def test_summary_that_fails_leaves_the_conversation_and_is_counted() -> None:
    client = ScriptedClient([{"error": "down"}, "", "short"])
    strategy = Summarizing(client, 1, 0)
    groups = grouped([user("1"), user("2"), user("3")])
    for failures in (1, 2):
        assert await strategy(groups) == groups
        assert strategy.failures == failures
    left = shown(await strategy(groups))
    assert ([m.text for m in left], strategy.failures) == (["short", "3"], 0)
    assert client.requests[2].messages[0].text == "user: 1\nuser: 2"


async def test_summary_takes_what_fits_into_one_request() -> None:
    client = ScriptedClient(["short"])
    strategy = Summarizing(client, 1, 0, prompt="p", input_tokens=60, count=len)
    messages = [user("x" * 100), user("a" * 20), user("b" * 20), user("c" * 20), user("end")]
    left = shown(await strategy(grouped(messages)))
    assert [m.text[:1] for m in left] == ["x", "s", "c", "e"]


# ---------------------------------------------------------------------------------------------- inside an agent


class Counting:
    """Notes with how many messages it was asked, and leaves everything."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def __call__(self, groups: Sequence[Group], /) -> Groups:
        self.asked.append(sum(len(g.messages) for g in groups))
        return list(groups)


async def test_is_asked_before_each_model_call() -> None:
    log: Log = []
    counting = Counting()
    bot = agent(LoggedClient([call(1), "done"], log), tools=(add_tool(log),), compaction=counting)
    await bot.run([user("q")])
    assert counting.asked == [1, 3]


async def test_run_before_agent_before_client() -> None:
    run, own, client = Counting(), Counting(), Counting()
    model = LayeredClient(ScriptedClient(["a", "b", "c"]), compaction=client)
    await agent(model).run([user("q")])
    await agent(model, compaction=own).run([user("q")])
    await agent(model, compaction=own).run([user("q")], compaction=run)
    assert [len(c.asked) for c in (client, own, run)] == [1, 1, 1]


async def test_summary_of_one_run_is_made_once_and_kept() -> None:
    log: Log = []
    writer = ScriptedClient(["short"])
    client = LoggedClient([call(1), call(2), "done"], log)
    bot = agent(client, tools=(add_tool(log),), compaction=Summarizing(writer, 4, 6))
    session = bot.new_session()
    session.add([user(f"{n}") for n in range(12)])
    await bot.run([user("q")], session=session)
    assert len(writer.requests) == 1
    assert [m.text for m in client.requests[0].messages] == ["short", "9", "10", "11", "q"]
    assert [m.text for m in client.requests[2].messages][:5] == ["short", "9", "10", "11", "q"]
    assert len(session.messages) == 12 + 6


async def test_what_is_left_out_stays_out_and_new_results_join_their_calls() -> None:
    class OnlyFirstTime:
        def __init__(self) -> None:
            self.times = 0

        async def __call__(self, groups: Sequence[Group], /) -> Groups:
            self.times += 1
            return [g.without("x") for g in groups[:1]] + list(groups[1:]) if self.times == 1 else list(groups)

    compactor = Compactor(OnlyFirstTime())
    first = [user("1"), user("2"), calls("a", "b"), results("a")]
    assert [m.text for m in await compactor.compacted(first)][:1] == ["2"]
    longer = [*first, results("b"), user("3")]
    assert (await compactor.compacted(longer))[0].text == "2"
    assert [g.kind for g in compactor._groups] == ["user", "user", "tool_calls", "user"]
    assert [m.text for m in await compactor.compacted([user("other")])] == ["other"]


async def test_provider_shortens_what_was_loaded_and_what_is_kept() -> None:
    client = ScriptedClient(["a", "b"])
    provider = CompactionProvider(before=SlidingWindow(1), after=SlidingWindow(2))
    from studio.agents import InMemoryHistory

    bot = agent(client, providers=(InMemoryHistory(), provider))
    session = bot.new_session()
    session.add([user("1"), assistant("x"), user("2"), assistant("y")])
    await bot.run([user("q")], session=session)
    assert [m.text for m in client.requests[0].messages] == ["y", "q"]
    assert [m.text for m in session.messages] == ["q", "a"] or [m.text for m in session.messages] == [
        "2",
        "y",
        "q",
        "a",
    ]


def test_strategies_are_compactions() -> None:
    strategies: list[Compaction] = [Truncation(2, 1), SlidingWindow(1), ToolResults(), Counting()]
    assert len(strategies) == 4
