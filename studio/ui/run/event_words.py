"""Events in words, for the list of events."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from studio.assembly.texts import type_name, value_text
from studio.bridge.node_event_words import node_event_words
from studio.engine import events as ev
from studio.engine.values import FROM_OUTSIDE
from studio.ui.paint.numbers import size_text
from studio.ui.text import tr
from studio.ui.widgets.costs import cost_words
from studio.ui.widgets.sources import counted, usage_words

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST = 600
_QUIET = ("t", "node", "superstep", "inside", "invocation")


def kind_of(event: object) -> str:
    """``NodeStarted`` -> "Node started"."""
    return _HUMP.sub(" ", type(event).__name__).capitalize()


def node_of(event: object) -> str:
    """The node of an event, or ""."""
    return str(getattr(event, "node", None) or getattr(event, "source", None) or "")


def detail_of(event: object, name: Callable[[str], str] = str) -> str:
    """What happened, in one line; ``name`` gives what people call a node."""
    match event:
        case ev.TokensArrived():
            return event.text
        case ev.MessageRouted():
            word = tr("delivered to") if event.delivered else tr("not delivered to")
            reason = f" ({event.reason.replace('_', ' ')})" if event.reason else ""
            return f"{word} {name(event.target)}{reason}"
        case ev.StateWritten():
            return f"{event.key} = {_said(event.value)}"
        case ev.ToolStarted():
            return f"{event.call.name}({event.call.arguments})"
        case ev.ModelCallStarted():
            count = counted(len(event.messages), tr("1 message"), tr("{count} messages"))
            return tr("{count} to {model}").format(count=count, model=event.model or tr("the model"))
        case ev.HistoryWritten():
            count = counted(len(event.messages), tr("1 message"), tr("{count} messages"))
            return tr("{count} to {history}").format(count=count, history=event.source)
        case ev.LinePrinted():
            return event.text
        case ev.ModelCallFinished(error=""):
            words = (usage_words(event.usage) or tr("tokens not told"), cost_words(event.usage), event.finish_reason)
            return " · ".join(word for word in words if word)
        case ev.NodeEvent() if told := node_event_words(event):
            return told
        case ev.StatusChanged():
            return event.state.replace("_", " ").lower()
    said = _with_value(event, name)
    return _fields(event) if said is None else " · ".join(word for word in said if word)


def _with_value(event: object, name: Callable[[str], str]) -> tuple[str, ...] | None:
    """The words of an event that carries a value, or says a number; None for another one."""
    match event:
        case ev.NodeStarted():
            names = ", ".join(name(source) for source in event.sources if not source.startswith(FROM_OUTSIDE))
            return (tr("from {names}").format(names=names) if names else "", _said(event.data))
        case ev.NodeFinished():
            return tuple(map(_said, event.data))
        case ev.MessageQueued():
            to = tr("to {name}").format(name=name(event.target)) if event.target else ""
            return (event.purpose, to, _said(event.data))
        case ev.OutputYielded():
            return (tr("intermediate") if event.intermediate else "", _said(event.data))
        case ev.RunStarted():
            return (tr(event.kind), _said(event.data))
        case ev.RequestRaised():
            return (_said(event.data),)
        case ev.RequestAnswered():
            return (_said(event.value),)
        case ev.SuperstepStarted() | ev.SuperstepFinished():
            return (str(event.superstep),)
        case ev.CheckpointSaved():
            return (tr(event.kind), size_text(event.bytes))
    return None


def _fields(event: object) -> str:
    parts = []
    for field in dataclasses.fields(event) if dataclasses.is_dataclass(event) else ():
        value = getattr(event, field.name)
        if field.name not in _QUIET and value not in (None, "", ()):
            parts.append(f"{field.name} {str(value)[:160]}")
    return " · ".join(parts)


def _said(value: object) -> str:
    """A value as the message list shows it; what has no text by the name of its type."""
    return value_text(value)[:_LONGEST] or type_name(value)
