"""The messages that the model would get at an agent now: those of its last run, after what was changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from studio.agents.messages import AgentResponse, Message, Text, user
from studio.bridge.workspace import Workspace
from studio.document.model import AgentNode
from studio.engine.events import ModelCallStarted
from studio.ui.text import tr

CONTINUE = "please continue."
"""What the host adds for one call where a conversation must end on a user turn."""


@dataclass(frozen=True, slots=True)
class Expected:
    """``messages`` with the instructions first. ``changed``: the context option was changed since, and is followed;
    ``note`` says what cannot be known without a run."""

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


def expected(node: AgentNode, recorded: Sequence[Message], came: AgentResponse | None) -> Expected:
    """Puts instructions and context as they are set now into what was sent then."""
    texts = [node.instructions]
    texts += [p.text for p in node.providers if p.kind == "text" and p.adds == "instructions"]
    instructions = "\n".join(text for text in texts if text)
    system = (Message("system", (Text(instructions),)),) if instructions else ()
    notes = [tr("A provider runs code: what it adds is only known in a run.")] if _runs_code(node) else []
    sent = tuple(recorded)
    now = _with_context(node, sent, came)
    if now is None:
        now = sent
        if node.context == "custom":
            notes.append(tr("The filter is code: what it leaves now is only known in a run."))
    return Expected((*system, *now), now != sent, " ".join(notes))


def _runs_code(node: AgentNode) -> bool:
    return bool(node.middleware) or any(p.kind == "code" for p in node.providers)


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
