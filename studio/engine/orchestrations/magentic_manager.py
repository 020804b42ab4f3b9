"""The manager of a Magentic team: facts, plan and progress, each by a call of its own agent."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from studio.agents.messages import Message, assistant, user
from studio.engine.hosts.agent import RunnableAgent
from studio.engine.orchestrations import magentic_prompts as prompts
from studio.engine.values import LedgerItem, ProgressLedger

AUTHOR = "magentic_manager"
RETRY_WAIT = 0.25
"""Seconds before the second attempt at a progress ledger; the third waits twice as long."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the manager goes by: the task, the team with descriptions, what was said."""

    task: str
    team: Mapping[str, str]
    history: tuple[Message, ...]


class Manager(Protocol):
    """Plans, judges and answers. ``state`` and ``restore`` are for checkpoints."""

    async def plan(self, situation: Situation) -> Message: ...
    async def replan(self, situation: Situation) -> Message: ...
    async def progress(self, situation: Situation) -> ProgressLedger: ...
    async def final_answer(self, situation: Situation) -> Message: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: Mapping[str, Any]) -> None: ...


class AgentManager:
    """The standard manager. Every call has a session of its own, since it is given everything it should see."""

    def __init__(
        self,
        agent: RunnableAgent,
        *,
        retries: int = 3,
        wait: Callable[[float], Any] = asyncio.sleep,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self._agent = agent
        self._retries = retries
        self._wait = wait
        self._texts = dict(texts or {})
        """Prompts to use instead, by their names in ``magentic_prompts``."""
        self._facts: Message | None = None
        self._plan: Message | None = None

    def _prompt(self, name: str, **values: str) -> str:
        text = self._texts.get(name) or getattr(prompts, name)
        return str(text.format(**values))

    async def _ask(self, messages: Sequence[Message]) -> Message:
        reply = await self._agent.run(messages, session=self._agent.new_session())
        if not reply.messages:
            raise RuntimeError("The manager's agent gave no message")
        return reply.messages[-1]

    async def plan(self, situation: Situation) -> Message:
        """Facts, then the plan; gives both as one message for the team."""
        return await self._planned(
            situation, self._prompt("FACTS", task=situation.task), self._prompt("PLAN", team=block(situation.team))
        )

    async def replan(self, situation: Situation) -> Message:
        """The same with what was learned since."""
        if self._facts is None:
            raise RuntimeError("There is no plan yet that could be made anew")
        again = self._prompt("FACTS_AGAIN", task=situation.task, old_facts=self._facts.text)
        return await self._planned(situation, again, self._prompt("PLAN_AGAIN", team=block(situation.team)))

    async def _planned(self, situation: Situation, about_facts: str, about_plan: str) -> Message:
        asked = user(about_facts)
        facts = await self._ask([*situation.history, asked])
        plan = await self._ask([*situation.history, asked, facts, user(about_plan)])
        self._facts, self._plan = facts, plan
        text = self._prompt("LEDGER", task=situation.task, team=block(situation.team), facts=facts.text, plan=plan.text)
        return assistant(text, AUTHOR)

    async def progress(self, situation: Situation) -> ProgressLedger:
        """How far the team is and who is next. Raises if no attempt gave a readable answer."""
        names = ", ".join(situation.team)
        prompt = user(self._prompt("PROGRESS", task=situation.task, team=block(situation.team), names=names))
        unknown: ProgressLedger | None = None
        problem = ""
        for attempt in range(1, self._retries + 1):
            raw = await self._ask([*situation.history, prompt])
            try:
                ledger = parsed_ledger(extracted(raw.text))
            except ValueError as error:
                problem, unknown = str(error), None
            else:
                speaker = ledger.next_speaker.answer
                if ledger.is_request_satisfied.answer or not isinstance(speaker, str) or speaker in situation.team:
                    return ledger
                unknown = ledger
            if attempt < self._retries:
                await self._wait(RETRY_WAIT * attempt)
        if unknown is not None:
            return unknown
        raise RuntimeError(f"No readable progress ledger after {self._retries} attempts: {problem}")

    async def final_answer(self, situation: Situation) -> Message:
        """The answer for the user."""
        reply = await self._ask([*situation.history, user(self._prompt("FINAL", task=situation.task))])
        return assistant(reply.text, reply.author or AUTHOR)

    def state(self) -> dict[str, Any]:
        """Facts and plan."""
        return {} if self._facts is None else {"facts": self._facts, "plan": self._plan}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Facts and plan as they were."""
        self._facts, self._plan = state.get("facts"), state.get("plan")


def block(team: Mapping[str, str]) -> str:
    """The team as a list with descriptions."""
    return "\n".join(f"- {name}: {description}" for name, description in team.items())


def parsed_ledger(data: Mapping[str, Any]) -> ProgressLedger:
    """A ledger; what is missing or of a wrong type is an empty answer."""

    def item(name: str) -> LedgerItem:
        given = data.get(name, {})
        if not isinstance(given, dict):
            raise ValueError(f"{name} is no object")
        answer = given.get("answer")
        return LedgerItem(str(given.get("reason", "")), answer if isinstance(answer, str | bool) else "")

    return ProgressLedger(*(item(field.name) for field in fields(ProgressLedger)))


_FENCE = re.compile(r"(`{3,})[^\n`]*\n(.*?)\1`*[ \t\r]*(?:\n|$)", re.DOTALL)


def extracted(text: str) -> dict[str, Any]:
    """The first JSON object of an answer, fenced or not; Python spelling of constants is forgiven."""
    fenced = (match.group(2).strip() for match in _FENCE.finditer(text))
    candidate = next((body for body in fenced if body.startswith("{") and body.endswith("}")), None) or _balanced(text)
    for attempt in (
        candidate,
        candidate.replace("True", "true").replace("False", "false").replace("None", "null"),
    ):
        try:
            value = json.loads(attempt)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    try:
        value = ast.literal_eval(candidate)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise ValueError("The answer holds no readable JSON object")


def _balanced(text: str) -> str:
    """From the first brace to the one that closes it; braces in strings do not count."""
    start = text.find("{")
    depth, in_string, escaped = 0, False, False
    for at in range(max(start, 0), len(text) if start >= 0 else 0):
        sign = text[at]
        if in_string:
            in_string = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_string = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return text[start : at + 1]
    raise ValueError("The answer holds no JSON object")
