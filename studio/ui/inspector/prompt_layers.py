"""What context providers and compaction put around the input of an agent: as recorded, and as they are set now."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from studio.agents.context_providers import attribution
from studio.agents.messages import AgentReply, Message, Text, user
from studio.document.agent_options import Compaction, ContextProvider
from studio.document.checks_agents import provider_id
from studio.document.model import AgentNode
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.agents.client import ChatRequest, ChunkSink, RunHooks

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ran:
    """The last run of an agent: how it was set, what its first model call was sent, and with which instructions."""

    node: AgentNode
    sent: tuple[Message, ...]
    told: str | None

    def of_source(self, source: str) -> tuple[Message, ...]:
        """What a provider added."""
        return tuple(m for m in self.sent if (by := attribution(m)) is not None and by.get("source_id") == source)

    @property
    def unsigned(self) -> tuple[Message, ...]:
        """The conversation: what no provider added."""
        return tuple(m for m in self.sent if attribution(m) is None)

    def provider(self, source: str) -> ContextProvider | None:
        """The provider of this id, as it was."""
        every = enumerate(self.node.providers, 1)
        return next((p for number, p in every if provider_id(p, number) == source), None)

    def code_instructions(self) -> dict[str, str] | None:
        """What each code provider added to the instructions, by its id; None where that cannot be told apart."""
        if self.told is None:
            return None
        left, found = self.told, dict[str, str]()
        waiting: list[str] = []
        for known, source in [*_known_lines(self.node), ("", "")]:
            if source and not known:
                waiting.append(source)
                continue
            at = left.find(known) if known else len(left)
            between = left[:at].strip("\n") if at >= 0 else "?"
            if at < 0 or (between and len(waiting) != 1):
                return None  # something else, or several pieces that nobody can tell apart
            found.update(dict.fromkeys(waiting, between))
            waiting = []
            left = left[at + len(known) :].removeprefix("\n")
        return found


def _known_lines(node: AgentNode) -> list[tuple[str, str]]:
    """(text, id) of what makes the instructions, in order; without a text where code gives it."""
    lines = [(node.instructions, "")] if node.instructions else []
    for number, given in enumerate(node.providers, 1):
        if given.kind == "text" and given.adds == "instructions" and given.text.strip():
            lines.append((given.text, provider_id(given, number)))
        elif given.kind == "code":
            lines.append(("", provider_id(given, number)))
    return lines


@dataclass(slots=True)
class Provided:
    """``instructions`` line by line, ``messages`` of providers, and the ``rest``: the conversation."""

    instructions: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    rest: tuple[Message, ...] = ()
    notes: list[str] = field(default_factory=list)


def provided(node: AgentNode, ran: Ran) -> Provided:
    """What the providers of a node add now: fixed texts as they are set, histories and unchanged code as in the run."""
    found = Provided(rest=ran.unsigned)
    if node.instructions:
        found.instructions.append(node.instructions)
    for number, given in enumerate(node.providers, 1):
        source = provider_id(given, number)
        match given.kind:
            case "text":
                _add_text(found, given.text, given.adds)
            case "history" if given.load:
                found.messages += ran.of_source(source)
                if ran.provider(source) is None:
                    found.notes.append(tr("What the history {name} holds is only known in a run.").format(name=source))
            case "code":
                _add_code(found, given, source, ran)
            case "compaction" if given.when == "before":
                left, note = _shortened(given.compaction, found.messages)
                found.messages = list(left)
                found.notes += [note] if note else []
    return found


def _add_text(found: Provided, text: str, adds: str) -> None:
    if not text.strip():
        return
    if adds == "instructions":
        found.instructions.append(text)
    else:
        found.messages.append(user(text) if adds == "user" else Message("system", (Text(text),)))


def _add_code(found: Provided, given: ContextProvider, source: str, ran: Ran) -> None:
    """What the same code gave in the run; of other code nothing is known."""
    then = ran.provider(source)
    same = then is not None and (then.body, then.call, then.adds) == (given.body, given.call, given.adds)
    if not same:
        found.notes.append(tr("What the code of {name} adds now is only known in a run.").format(name=source))
        return
    lines = ran.code_instructions()
    if lines is not None and lines.get(source):
        found.instructions.append(lines[source])
    found.messages += ran.of_source(source)
    text = tr("What the code of {name} adds is taken from the last run.")
    if lines is None:
        text = tr("What the code of {name} adds to the instructions is only known in a run.")
    found.notes.append(text.format(name=source))


def compacted(node: AgentNode, messages: Sequence[Message], ran: Ran) -> tuple[tuple[Message, ...], str]:
    """The messages after the compaction that is set now, and what cannot be known about it."""
    then, now = ran.node.compaction, node.compaction
    if then == now and tuple(messages) == ran.sent:
        return tuple(messages), ""  # what was sent is what it left
    left, note = _shortened(now, messages)
    lost = tr("What compaction left out in the last run is not here.") if then.strategy != "none" else ""
    return left, " ".join(text for text in (lost, note) if text)


def _shortened(given: Compaction, messages: Sequence[Message]) -> tuple[tuple[Message, ...], str]:
    if given.strategy == "none":
        return tuple(messages), ""
    if given.strategy == "summarizing" or (given.strategy == "token_budget" and "summarizing" in given.steps):
        return tuple(messages), tr("A model writes the summary: what it says is only known in a run.")
    # With what makes agents run: both are loaded when a run was made, and else not needed.
    from studio.agents.compaction.groups import grouped, shown
    from studio.assembly.pipeline import compaction

    try:
        strategy = compaction(given, _NoModel())
        assert strategy is not None
        return tuple(shown(at_once(strategy(grouped(messages))))), ""
    except ValueError as error:
        return tuple(messages), tr("Compaction cannot run: {reason}.").format(reason=str(error))


class _NoModel:
    """Stands where a strategy that asks no model wants one."""

    model = ""

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        raise RuntimeError("No model is asked here")

    async def close(self) -> None:
        """Nothing is open."""


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing. Raises ``RuntimeError`` if it does."""
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    work.close()
    raise RuntimeError("This waits for something")
