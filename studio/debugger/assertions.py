"""What a test expects of a run, as data, and whether a run was so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.assembly.texts import value_text
from studio.debugger.joining import join_updates
from studio.debugger.watching import told_cost
from studio.engine import events as ev
from studio.engine.values import plain


class ExpectationProblem(ValueError):
    """An expectation that nobody understands; ``str()`` is a sentence."""


@dataclass(slots=True)
class Outcome:
    """What happened in a run, as far as tests look at it. An event sink."""

    path: list[list[str]] = field(default_factory=list)
    """The nodes of each superstep, sorted by id: those that run side by side have no order."""
    calls: dict[str, int] = field(default_factory=dict)
    """How often each node ran; nodes inside sub-workflows by their path."""
    tools: list[tuple[str, str, Any]] = field(default_factory=list)
    """Node, tool and arguments of each tool call."""
    outputs: list[Any] = field(default_factory=list)
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    failure: str = ""

    def append(self, event: ev.Event) -> None:
        """Takes the next event."""
        self.seconds = max(self.seconds, event.t)
        match event:
            case ev.SuperstepStarted(inside=()):
                self.path.append([])
            case ev.NodeStarted():
                path = "/".join((*event.inside, event.node))
                self.calls[path] = self.calls.get(path, 0) + 1
                if not event.inside and self.path:
                    self.path[-1] = sorted([*self.path[-1], event.node])
            case ev.ToolStarted():
                self.tools.append((event.node, event.call.name, _arguments(event.call.arguments)))
            case ev.ModelCallFinished() if event.usage is not None:
                self.tokens += (event.usage.input or 0) + (event.usage.output or 0)
                self.cost += told_cost("", event.usage) or 0.0
            case ev.OutputYielded(intermediate=False):
                self.outputs.append(event.data)

    @property
    def results(self) -> list[Any]:
        """The outputs as plain values; an agent's reply is its text."""
        return [value_text(o) if hasattr(o, "text") else plain(o) for o in join_updates(self.outputs)]


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def check(expectation: Mapping[str, Any], outcome: Outcome) -> str:
    """Why a run was not as expected; "" if it was. Raises :class:`ExpectationProblem`."""
    kinds = [kind for kind in expectation if kind in _CHECKS]
    if len(kinds) != 1:
        known = ", ".join(_CHECKS)
        given = json.dumps(expectation, ensure_ascii=False)
        raise ExpectationProblem(f"An expectation is one of {known}, not {given}.")
    try:
        return _CHECKS[kinds[0]](expectation[kinds[0]], outcome)
    except (TypeError, AttributeError, KeyError, ValueError, re.error) as error:
        raise ExpectationProblem(f"The expectation “{kinds[0]}” cannot be understood: {error}.") from None


def _path(wanted: Any, outcome: Outcome) -> str:
    steps = [sorted(step) if isinstance(step, list) else [step] for step in wanted]
    ran = [step for step in outcome.path if step]  # a superstep in which nobody takes the messages has no nodes
    return "" if steps == ran else f"The path was {_way(ran)}, not {_way(steps)}."


def _way(path: list[list[str]]) -> str:
    return " → ".join(" + ".join(step) for step in path) or "empty"


def _called(wanted: Any, outcome: Outcome) -> str:
    times, found = int(wanted.get("times", 1)), outcome.calls.get(wanted["node"], 0)
    return "" if found == times else f"{wanted['node']} ran {_times(found)}, not {_times(times)}."


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _tool(wanted: Any, outcome: Outcome) -> str:
    arguments = wanted.get("with", {})
    calls = [c for c in outcome.tools if c[1] == wanted["name"] and wanted.get("node", c[0]) == c[0]]
    fitting = [c for c in calls if _holds_all(c[2], arguments)]
    if "times" in wanted:
        times, ran = int(wanted["times"]), len(fitting)
        return "" if ran == times else f"{wanted['name']} was called {_times(ran)}, not {_times(times)}."
    if fitting:
        return ""
    if not calls:
        return f"{wanted['name']} was never called."
    asked = "; ".join(json.dumps(c[2], ensure_ascii=False) for c in calls[:3])
    return f"{wanted['name']} was called with {asked}, never with {json.dumps(arguments, ensure_ascii=False)}."


def _holds_all(given: Any, wanted: Any) -> bool:
    """Whether an object has at least these fields, at any depth; other values must be equal."""
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        return all(key in given and _holds_all(given[key], value) for key, value in wanted.items())
    return bool(given == wanted)


def _output(wanted: Any, outcome: Outcome) -> str:
    results = outcome.results
    at = wanted.get("number")
    if at is not None and not 0 < int(at) <= len(results):
        return f"There are {len(results)} outputs, no number {at}."
    found = results[int(at) - 1] if at is not None else results[-1] if results else None
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    shown = text if len(text) <= 300 else f"{text[:300]}…"
    if not results:
        return "There is no output."
    if "equals" in wanted and found != wanted["equals"]:
        return f"The output is {shown!r}, not {wanted['equals']!r}."
    if "contains" in wanted and str(wanted["contains"]) not in text:
        return f"The output {shown!r} does not contain {wanted['contains']!r}."
    if "matches" in wanted and re.search(str(wanted["matches"]), text) is None:
        return f"The output {shown!r} does not match {wanted['matches']!r}."
    return _fits_schema(found, wanted["schema"]) if "schema" in wanted else ""


def _fits_schema(found: Any, schema: Any) -> str:
    import jsonschema  # loads slowly, and few tests use it

    value = found
    if isinstance(found, str) and schema.get("type") != "string":
        try:
            value = json.loads(found)
        except ValueError:
            return f"The output is no JSON: {found[:200]!r}."
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        place = ".".join(map(str, error.absolute_path))
        return f"The output does not fit the schema{f' at {place}' if place else ''}: {error.message}."
    return ""


def _below(what: str) -> Callable[[Any, Outcome], str]:
    def limited(wanted: Any, outcome: Outcome) -> str:
        found: float = getattr(outcome, what)
        return "" if found < float(wanted["below"]) else f"{found:g} {what} were used, not below {wanted['below']:g}."

    return limited


def _fails(wanted: Any, outcome: Outcome) -> str:
    if not outcome.failure:
        return "The run did not fail."
    text = str(wanted.get("contains", "") if isinstance(wanted, Mapping) else "")
    found = outcome.failure
    return "" if text in found else f"The run failed with {found!r}, which does not contain {text!r}."


_CHECKS: Mapping[str, Callable[[Any, Outcome], str]] = {
    "path": _path,
    "called": _called,
    "tool": _tool,
    "output": _output,
    "tokens": _below("tokens"),
    "cost": _below("cost"),
    "fails": _fails,
}


def expectations_of(outcome: Outcome) -> list[dict[str, Any]]:
    """What a run did, as expectations for the next one."""
    found: list[dict[str, Any]] = [{"path": [s[0] if len(s) == 1 else s for s in outcome.path if s]}]
    found += [{"called": {"node": node, "times": count}} for node, count in outcome.calls.items() if count > 1]
    seen: list[tuple[str, str, Any]] = []
    for call in outcome.tools:
        if call not in seen:
            seen.append(call)
            found.append({"tool": {"node": call[0], "name": call[1], "with": call[2]}})
    if outcome.results:
        found.append({"output": {"equals": outcome.results[-1]}})
    return found
