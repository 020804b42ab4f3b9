"""Magentic: a manager plans, watches the progress, and asks one participant after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, AgentUpdate, Message, assistant, user
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError, RunRejected
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.hosts.agent import AgentHost, RunnableAgent
from studio.engine.orchestrations.conversation import Intermediate, Outputs, designation, input_handlers
from studio.engine.orchestrations.magentic_manager import AUTHOR, Manager, Situation
from studio.engine.types import Type
from studio.engine.values import PlanReview, PlanReviewRequest, ProgressLedger, ResetNode
from studio.engine.workflow import Order, Workflow

ORCHESTRATOR = "magentic_orchestrator"
NO_DESCRIPTION = "<no description, use name to identify the purpose of this participant>"


class MagenticParticipant(AgentHost):
    """An agent that forgets everything when the manager plans anew."""

    def __init__(self, agent: RunnableAgent, id: str) -> None:
        super().__init__(agent, id)
        self.handlers = (*self.handlers, Handler(ResetNode, self._on_reset))

    async def _on_reset(self, _: ResetNode, ctx: Context) -> None:
        await self.restore({})


class MagenticOrchestrator(Executor):
    """The outer loop makes plans, the inner one asks participants until the manager is content or a limit is met."""

    def __init__(
        self,
        manager: Manager,
        team: Mapping[str, str],
        *,
        max_stalls: int = 3,
        max_resets: int | None = None,
        max_rounds: int | None = None,
        plan_review: bool = False,
        id: str = ORCHESTRATOR,
    ) -> None:
        self._manager = manager
        self._team = dict(team)
        self._max_stalls, self._max_resets, self._max_rounds = max_stalls, max_resets, max_rounds
        self._review = plan_review
        self._task = ""
        self._history: tuple[Message, ...] = ()
        self._plan: Message | None = None
        self._progress: ProgressLedger | None = None
        self._rounds = self._stalls = self._resets = 0
        self._over = False
        sends: tuple[Type, ...] = (AgentRequest, ResetNode)
        yields: tuple[Type, ...] = (AgentReply, AgentUpdate)
        super().__init__(
            id,
            [*input_handlers(self._on_input, sends, yields), Handler(AgentResponse, self._on_reply, sends, yields)],
            [ResponseHandler(PlanReviewRequest, PlanReview, self._on_review, sends, yields)],
        )

    # ------------------------------------------------------------------------------------------------- inputs

    async def _on_input(self, messages: tuple[Message, ...], ctx: Context) -> None:
        if self._over:
            raise RunRejected(
                "This Magentic workflow has come to its end; make another instance for another task", [self.id]
            )
        if len(messages) != 1:
            raise ValueError("A Magentic workflow needs exactly one message, its task")
        if not messages[0].text.strip():
            raise ValueError("The task of a Magentic workflow is empty")
        self._task, self._history = messages[0].text, messages
        self._stalls = self._resets = 0
        self._plan = await self._manager.plan(self._situation)
        self._tell(ctx, "plan_created", self._plan)
        if self._review:
            self._ask_for_review(ctx)
            return
        self._history += (self._plan,)
        await self._go_on(ctx)

    async def _on_reply(self, response: AgentResponse, ctx: Context) -> None:
        speaker = ctx.sources[0]
        ctx.emit_named("group_chat_response_received", {"round_index": self._rounds, "participant_name": speaker})
        messages = response.reply.messages
        self._history += messages
        for listener in self._team:
            if listener != speaker:
                ctx.send(AgentRequest(messages, should_respond=False), listener, purpose="forward")
        await self._go_on(ctx)

    async def _on_review(self, asked: PlanReviewRequest, answer: PlanReview, ctx: Context) -> None:
        if answer.review:
            self._history += answer.review
            self._plan = await self._manager.replan(self._situation)
            self._tell(ctx, "replanned", self._plan)
            self._ask_for_review(ctx, asked.is_stalled)
            return
        self._take_plan()
        await self._go_on(ctx)

    def _ask_for_review(self, ctx: Context, stalled: bool = False) -> None:
        assert self._plan is not None
        ctx.request(PlanReviewRequest(self._plan, self._progress, stalled), PlanReview)

    # -------------------------------------------------------------------------------------------------- loops

    async def _go_on(self, ctx: Context) -> None:
        """Rounds until somebody is asked, a person must look at a plan, or it is over."""
        while not self._at_a_limit(ctx):
            self._rounds += 1
            try:
                self._progress = await self._manager.progress(self._situation)
            except Exception:
                # An unreadable ledger or a failed call: the framework plans anew, and so do we.
                if await self._plan_anew(ctx):
                    continue
                return
            self._tell(ctx, "progress_ledger_updated", asdict(self._progress))
            if self._progress.is_request_satisfied.answer:
                await self._finish(ctx)
                return
            if self._stalled(self._progress):
                if await self._plan_anew(ctx):
                    continue
                return
            await self._ask_next(self._progress, ctx)
            return

    def _at_a_limit(self, ctx: Context) -> bool:
        rounds = self._max_rounds is not None and self._rounds >= self._max_rounds
        if not rounds and (self._max_resets is None or self._resets < self._max_resets):
            return False
        limit = "round" if rounds else "reset"
        self._end(assistant(f"Workflow terminated due to reaching maximum {limit} count.", AUTHOR), ctx)
        return True

    def _stalled(self, progress: ProgressLedger) -> bool:
        if not progress.is_progress_being_made.answer or progress.is_in_loop.answer:
            self._stalls += 1
        else:
            self._stalls = max(0, self._stalls - 1)
        return self._stalls > self._max_stalls

    async def _plan_anew(self, ctx: Context) -> bool:
        """Everybody forgets, a new plan is made; False if a person must look at it first."""
        self._history, self._stalls = (), 0
        self._resets += 1
        ctx.send(ResetNode(), purpose="reset")
        self._plan = await self._manager.replan(self._situation)
        self._tell(ctx, "replanned", self._plan)
        if self._review:
            self._ask_for_review(ctx, stalled=True)
            return False
        self._take_plan()
        return True

    def _take_plan(self) -> None:
        if self._plan is not None and (not self._history or self._history[-1] != self._plan):
            self._history += (self._plan,)

    async def _ask_next(self, progress: ProgressLedger, ctx: Context) -> None:
        speaker = progress.next_speaker.answer
        if not isinstance(speaker, str):
            speaker = next(iter(self._team))
        if speaker not in self._team:
            await self._finish(ctx)
            return
        instruction = str(progress.instruction_or_question.answer)
        self._history += (assistant(instruction, AUTHOR),)
        asked = (user(instruction),) if instruction else ()
        ctx.send(AgentRequest(asked), speaker, purpose="request")
        ctx.emit_named("group_chat_request_sent", {"round_index": self._rounds, "participant_name": speaker})

    async def _finish(self, ctx: Context) -> None:
        self._end(await self._manager.final_answer(self._situation), ctx)

    def _end(self, message: Message, ctx: Context) -> None:
        author = message.author
        ctx.yield_output(AgentUpdate(message.parts, message.role, author) if ctx.streaming else AgentReply((message,)))
        self._over = True

    @property
    def _situation(self) -> Situation:
        return Situation(self._task, self._team, self._history)

    @staticmethod
    def _tell(ctx: Context, kind: str, content: Any) -> None:
        ctx.emit_named("magentic_orchestrator", {"event_type": kind, "content": content})

    # -------------------------------------------------------------------------------------------- checkpoints

    async def save(self) -> dict[str, Any]:
        """Everything that changes."""
        return {
            "task": self._task,
            "history": self._history,
            "plan": self._plan,
            "progress": self._progress,
            "counts": [self._rounds, self._stalls, self._resets],
            "over": self._over,
            "manager": self._manager.state(),
        }

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Everything as it was; as new if nothing was saved."""
        self._task = state.get("task", "")
        self._history = tuple(state.get("history", ()))
        self._plan, self._progress = state.get("plan"), state.get("progress")
        self._rounds, self._stalls, self._resets = state.get("counts", (0, 0, 0))
        self._over = state.get("over", False)
        self._manager.restore(state.get("manager", {}))


def magentic(
    agents: Mapping[str, RunnableAgent],
    manager: Manager,
    *,
    name: str,
    max_stalls: int = 3,
    max_resets: int | None = None,
    max_rounds: int | None = None,
    plan_review: bool = False,
    outputs: Outputs = None,
    intermediate: Intermediate = None,
    max_supersteps: int = 100,
    order: Order = "delivery",
) -> Workflow:
    """``magentic_orchestrator`` with a direct edge to and from every agent (by node id); its answer is the output."""
    if not agents:
        raise BuildArgumentError("A Magentic workflow needs participants")
    participants = [MagenticParticipant(agent, id) for id, agent in agents.items()]
    team = {p.id: getattr(p.agent, "description", "") or NO_DESCRIPTION for p in participants}
    hub = MagenticOrchestrator(
        manager, team, max_stalls=max_stalls, max_resets=max_resets, max_rounds=max_rounds, plan_review=plan_review
    )
    out, between = designation(participants, outputs, intermediate, [])
    builder = WorkflowBuilder(
        hub, name=name, max_supersteps=max_supersteps, outputs=[hub.id, *out], intermediate=between, order=order
    )
    for participant in participants:
        builder.edge(hub, participant).edge(participant, hub)
    return builder.build()
