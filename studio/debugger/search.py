"""Finding checkpoints: a query of a person, and what each checkpoint is found by.

``writer draft`` finds both words anywhere; ``node:writer``, ``key:score``, ``text:"iron air"``, ``name:``, ``tag:``,
``branch:``, ``error:`` look in one place; ``cost>0.01``, ``tokens>=1000``, ``date:2026-11-30``, ``after:2026-11-30``,
``before:``, ``is:pinned``, ``is:named``, ``is:failed``, ``is:waiting`` are what they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from studio.agents.messages import Usage
from studio.assembly.texts import value_text
from studio.debugger.traces import CostOf, told_cost
from studio.engine import events as ev

_TERM = re.compile(r"""(?:(?P<key>[A-Za-z]+)(?P<op>:|>=|<=|>|<))?(?:"(?P<quoted>[^"]*)"?|(?P<word>[^\s"]+))""")
_PLACES = ("node", "key", "text", "name", "tag", "branch", "error", "note")
_NUMBERS = ("cost", "tokens", "superstep")
_DATES = ("date", "after", "before")
_STATES = ("pinned", "named", "failed", "waiting")


@dataclass(slots=True)
class Happened:
    """What happened in the superstep before a checkpoint; ``error``: what failed after it, before the next one."""

    nodes: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    tokens: int = 0
    cost: float | None = 0.0
    error: str = ""

    @property
    def text(self) -> str:
        """Everything that was said, in lower case."""
        return "\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class Findable:
    """One checkpoint as the search sees it. ``created``: unix seconds; ``state``: of its branch, if it is its last."""

    happened: Happened
    created: float
    superstep: int
    names: tuple[str, ...] = ()
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    branch: str = ""
    state: str = ""
    pinned: bool = False


class QueryProblem(ValueError):
    """The query cannot be understood; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class Query:
    """All terms must hold."""

    terms: tuple[Callable[[Findable], bool], ...] = ()
    needs_logs: bool = False
    """Whether it asks for what only the logs of the branches tell."""

    def matches(self, what: Findable) -> bool:
        """Whether a checkpoint is found."""
        return all(term(what) for term in self.terms)


def parse(text: str) -> Query:
    """The query that a person typed. Raises :class:`QueryProblem`."""
    terms: list[Callable[[Findable], bool]] = []
    needs_logs = False
    for match in _TERM.finditer(text):
        key, op = (match["key"] or "").lower(), match["op"] or ""
        value = (match["quoted"] if match["quoted"] is not None else match["word"]).lower()
        if key and (op != ":" or key in (*_PLACES, *_DATES, "is")):
            terms.append(_term(key, op, value))
        else:
            whole = f"{key}{op}{value}" if key else value
            terms.append(lambda what, word=whole: _anywhere(what, word))  # type: ignore[misc]
        needs_logs |= key not in ("name", "tag", "branch", "note", "is", "superstep", *_DATES) or value == "failed"
    return Query(tuple(terms), needs_logs)


def _term(key: str, op: str, value: str) -> Callable[[Findable], bool]:
    if key in _NUMBERS:
        return _number(key, op, value)
    if key in _DATES and op == ":":
        return _date(key, value)
    if key == "is" and op == ":":
        if value not in _STATES:
            raise QueryProblem(f"“is:” knows {', '.join(_STATES)}, not “{value}”.")
        return lambda what: _is(what, value)
    if key in _PLACES and op == ":":
        return lambda what: any(value in text for text in _place(what, key))
    known = ", ".join(f"{name}:" for name in (*_PLACES, *_DATES, "is")) + ", " + ", ".join(f"{n}>" for n in _NUMBERS)
    raise QueryProblem(f"“{key}{op}” is not known; there are {known}.")


def _number(key: str, op: str, value: str) -> Callable[[Findable], bool]:
    try:
        wanted = float(value.removeprefix("$"))
    except ValueError:
        raise QueryProblem(f"“{key}{op}” wants a number, not “{value}”.") from None
    holds: Mapping[str, Callable[[float], bool]] = {
        ">": lambda n: n > wanted, "<": lambda n: n < wanted, ">=": lambda n: n >= wanted, "<=": lambda n: n <= wanted,
    }  # fmt: skip

    def term(what: Findable) -> bool:
        numbers = {"cost": what.happened.cost, "tokens": what.happened.tokens, "superstep": what.superstep}
        number = numbers[key]
        return number is not None and holds[op](number)

    return term


def _date(key: str, value: str) -> Callable[[Findable], bool]:
    day = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if value == "yesterday":
        day -= timedelta(days=1)
    elif value != "today":
        try:
            day = datetime.fromisoformat(value).astimezone()
        except ValueError:
            raise QueryProblem(f"“{key}:” wants a date like 2026-11-30, today or yesterday, not “{value}”.") from None
    start, end = day.timestamp(), (day + timedelta(days=1)).timestamp()
    if key == "date":
        return lambda what: start <= what.created < end
    return (lambda what: what.created >= start) if key == "after" else (lambda what: what.created < start)


def _is(what: Findable, value: str) -> bool:
    if value == "pinned":
        return what.pinned
    if value == "named":
        return bool(what.name or what.tags)
    return bool(what.happened.error) if value == "failed" else what.state == "waiting"


def _place(what: Findable, key: str) -> tuple[str, ...]:
    found: Mapping[str, tuple[str, ...]] = {
        "node": (*what.happened.nodes, *what.names),
        "key": tuple(what.happened.keys),
        "text": (what.happened.text,),
        "name": (what.name,),
        "note": (what.note,),
        "tag": what.tags,
        "branch": (what.branch,),
        "error": (what.happened.error,),
    }
    return tuple(text.lower() for text in found[key])


def _anywhere(what: Findable, word: str) -> bool:
    return any(word in text for key in _PLACES for text in _place(what, key))


class HappenedFolder:
    """Collects by checkpoint what happened before it; a sink for :func:`studio.debugger.branches.replay`."""

    def __init__(self, cost_of: CostOf = told_cost) -> None:
        self.by_checkpoint: dict[str, Happened] = {}
        self._cost_of = cost_of
        self._now = Happened()
        self._last: Happened | None = None
        self._models: dict[str, str] = {}

    def fold(self, event: ev.Event) -> None:
        """Takes the next event."""
        now = self._now
        match event:
            case ev.NodeStarted():
                now.nodes.add(event.inside[0] if event.inside else event.node)
            case ev.MessageQueued() | ev.OutputYielded():
                self._say(value_text(event.data))
            case ev.StateWritten(inside=()):
                now.keys.add(event.key)
                self._say(value_text(event.value))
            case ev.RequestAnswered():
                self._say(value_text(event.value))
            case ev.ToolStarted():
                self._say(f"{event.call.name} {event.call.arguments}")
            case ev.ModelCallStarted():
                self._models[event.call] = event.model
            case ev.ModelCallFinished(usage=Usage() as usage):
                now.tokens += (usage.input or 0) + (usage.output or 0)
                cost = self._cost_of(event.node, self._models.get(event.call, ""), usage)
                now.cost = None if cost is None or now.cost is None else now.cost + cost
            case ev.NodeFailed() | ev.RunFailed():
                if self._last is not None:
                    self._last.error = event.message or event.error
            case ev.CheckpointSaved():
                self.by_checkpoint[event.checkpoint] = self._last = now
                self._now = Happened()

    def _say(self, text: Any) -> None:
        if text:
            self._now.texts.append(str(text).lower())
