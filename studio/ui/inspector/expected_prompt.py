"""The messages that the model would get at an agent now: those of its last run, after what was changed since."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from studio.agents.messages import AgentResponse, Message, Text, user
from studio.bridge.workspace import Workspace
from studio.document.model import AgentNode
from studio.engine.events import ModelCallStarted
from studio.ui.inspector.prompt_layers import Ran, compacted, provided
from studio.ui.text import tr

CONTINUE = "please continue."
"""What the host adds for one call where a conversation must end on a user turn."""
_DECIDES = ("instructions", "providers", "compaction", "context", "context_filter", "host", "trailing_user_turn")
"""The fields of an agent that decide what it is sent."""


@dataclass(frozen=True, slots=True)
class Expected:
    """``messages`` with the instructions first. ``changed``: something that decides was changed since, and is
    followed; ``note`` says what cannot be known without a run."""

    messages: tuple[Message, ...]
    changed: bool = False
    note: str = ""


def first_call(workspace: Workspace, node: str) -> ModelCallStarted | None:
    """The first model call of the newest invocation of a node: later ones of its tool loop begin with the same."""
    found: ModelCallStarted | None = None
    if node not in workspace.run.nodes:
        return None
    for event in reversed(workspace.run.events):
        if isinstance(event, ModelCallStarted) and event.node == node and not event.inside:
            if found is not None and event.invocation != found.invocation:
                break
            found = event
    return found


def incoming(workspace: Workspace, call: ModelCallStarted) -> AgentResponse | None:
    """The one reply of another agent that the invocation took; None if it took something else, or several."""
    view = workspace.run.invocations.get(call.invocation)
    if view is None:
        return None
    came = [
        message.data
        for message in workspace.run.messages
        if message.superstep == view.superstep - 1
        and any(target == call.node and delivered for _, target, delivered, _ in message.routes)
    ]
    only = came[0] if len(came) == 1 else None
    return only if isinstance(only, AgentResponse) else None


def told_instructions(call: ModelCallStarted) -> str | None:
    """The instructions that a call was made with, those of providers included; None in logs without them."""
    try:
        told = json.loads(call.settings)
    except ValueError:
        return None
    found = told.get("instructions") if isinstance(told, dict) else None
    return found if isinstance(found, str) else None


def sent(call: ModelCallStarted) -> tuple[Message, ...]:
    """All that the model was told in a call, the instructions first."""
    return (*_system(told_instructions(call) or ""), *call.messages)


def expected(
    node: AgentNode,
    recorded: Sequence[Message],
    came: AgentResponse | None,
    then: AgentNode | None = None,
    told: str | None = None,
) -> Expected:
    """What was sent then, with everything that was changed since followed as far as it can be known.

    ``then``: the node as it was in the run (None: not known, taken as it is now); ``told``: the instructions of the
    call. What code adds is taken from the run as long as the code is the same.
    """
    got = tuple(recorded)
    if then is not None and told is not None and _decides(then) == _decides(node):
        notes = [tr("What code adds is taken from the last run.")] if _asks_code(node) else []
        return Expected((*_system(told), *got), False, " ".join((*notes, *_middleware_note(node))))
    ran = Ran(then if then is not None else node, got, told)
    found = provided(node, ran)
    plain = found.rest
    now = _with_context(node, plain, came)
    notes = [*found.notes, *_middleware_note(node)]
    if now is None:
        now = plain
        if node.context == "custom" and (then is None or _filter(then) != _filter(node)):
            notes.append(tr("The filter is code: what it leaves now is only known in a run."))
    shown, note = compacted(node, (*found.messages, *now), ran)
    notes += [note] if note else []
    changed = shown != got or (told is not None and "\n".join(found.instructions) != told)
    return Expected((*_system("\n".join(found.instructions)), *shown), changed, " ".join(notes))


def expected_now(workspace: Workspace, node: AgentNode, call: ModelCallStarted) -> Expected:
    """The same for a call of the run that is shown."""
    then = workspace.run.as_run(node.id)
    ran = then if isinstance(then, AgentNode) else None
    return expected(node, call.messages, incoming(workspace, call), ran, told_instructions(call))


def _decides(node: AgentNode) -> tuple[object, ...]:
    return tuple(getattr(node, name) for name in _DECIDES)


def _filter(node: AgentNode) -> tuple[object, ...]:
    return node.context, node.context_filter


def _system(instructions: str) -> tuple[Message, ...]:
    return (Message("system", (Text(instructions),)),) if instructions else ()


def _asks_code(node: AgentNode) -> bool:
    return any(p.kind == "code" for p in node.providers)


def _middleware_note(node: AgentNode) -> list[str]:
    return [tr("Middleware is code: what it changes is only known in a run.")] if node.middleware else []


def _with_context(node: AgentNode, sent: tuple[Message, ...], came: AgentResponse | None) -> tuple[Message, ...] | None:
    """The same messages with what the context option takes now; None where that cannot be told."""
    if came is None or node.host != "python" or node.context == "custom":
        return None
    plain = sent[:-1] if sent and _is_continue(sent[-1]) else sent
    for then in (came.conversation, came.reply.messages):
        taken = tuple(then)
        if taken and plain[-len(taken) :] == taken:
            before = plain[: -len(taken)]
            break
    else:
        return None
    now = (*before, *(came.conversation if node.context == "full" else came.reply.messages))
    ends_on_assistant = bool(now) and now[-1].role == "assistant"
    return (*now, user(CONTINUE)) if node.trailing_user_turn and ends_on_assistant else now


def _is_continue(message: Message) -> bool:
    return message.role == "user" and message.text == CONTINUE
