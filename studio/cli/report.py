"""What a run prints: JSON lines, or outputs on stdout and the course of the run on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from studio.agents.cost import Cost
from studio.agents.messages import AgentUpdate, Usage
from studio.assembly import value_text
from studio.cli.lines import LineWriter
from studio.cli.values import shown, usage
from studio.debugger.joining import join_updates
from studio.debugger.session import RunSession
from studio.debugger.states import RunState
from studio.engine import events as ev


class Report:
    """An event sink. ``run`` is the id of the branch, ``kept`` says whether its checkpoints outlive the program."""

    def __init__(
        self, out: TextIO, err: TextIO, names: Mapping[str, str], *, json_lines: bool, stream: bool, kept: bool
    ) -> None:
        self.run = ""
        self._out = out
        self._err = err
        self._names = names
        self._lines = LineWriter(out) if json_lines else None
        self._stream = stream
        self._kept = kept
        self._usage: Usage | None = None
        self._outputs: list[Any] = []
        self._whole = 0
        """How many outputs are of supersteps that were done to the end."""
        self._speaking = ""
        self._told: set[tuple[tuple[str, ...], str]] = set()
        """Nodes that are named in this superstep: a turn is several messages, and a node takes one after the other."""

    def append(self, event: ev.Event) -> None:
        """The next event of the run."""
        if isinstance(event, ev.ModelCallFinished) and (event.usage is not None or not event.error):
            told = event.usage if event.usage is not None else Usage()  # nothing told is not nothing used
            self._usage = told if self._usage is None else self._usage + told
        if isinstance(event, ev.OutputYielded) and not event.intermediate:
            self._outputs.append(event.data)
        if isinstance(event, ev.SuperstepFinished) and not event.inside:
            self._whole = len(self._outputs)
        if self._lines is not None:
            self._lines.event(event, self.run)
        else:
            self._tell(event)

    def problem(self, sentence: str) -> None:
        """A sentence that belongs to nothing else."""
        print(sentence, file=self._err)

    def result(self, session: RunSession, state: RunState) -> None:
        """How it ended."""
        ended_well = state in (RunState.COMPLETED, RunState.WAITING)
        outputs = join_updates(session.outputs if ended_well else self._outputs[: self._whole])
        if session.failure:
            self.problem(session.failure)
        if self._lines is None:
            self._tell_result(session, state, outputs)
            return
        requests = [
            {"request": r.id, "node": r.node, "data": shown(r.data), "response_type": r.response_type}
            for r in session.requests
        ]
        self._lines.write(
            {
                "type": "result",
                "state": state.value,
                "outputs": shown(outputs),
                "requests": requests,
                "checkpoint": session.last_checkpoint,
                "usage": usage(self._usage) if self._usage is not None else None,
            }
        )

    # ----------------------------------------------------------------------------------------------- for people

    def _name(self, node: str) -> str:
        return self._names.get(node, node)

    def _tell(self, event: ev.Event) -> None:
        match event:
            case ev.SuperstepStarted(inside=()):
                self._told.clear()
                self._say(f"Superstep {event.superstep}")
            case ev.NodeStarted() if (event.inside, event.node) not in self._told:
                self._told.add((event.inside, event.node))
                self._say(f"  {self._name(event.node)}")
            case ev.TokensArrived(kind="text") if self._stream:
                if self._speaking != event.invocation:
                    self._say(f"  {self._name(event.node)} says:")
                    self._speaking = event.invocation
                print(event.text, end="", file=self._err, flush=True)
            case ev.LinePrinted():
                self._say(f"  {self._name(event.node)} printed: {event.text.rstrip()}")
            case ev.ModelCallRetried():
                reason = event.reason.rstrip().removesuffix(".")
                self._say(f"  {self._name(event.node)}: {reason}. Next try in {event.wait:.1f} s.")
            case ev.RunWarned() | ev.CheckpointFailed():
                self._say(event.message)

    def _say(self, line: str) -> None:
        if self._speaking:
            print(file=self._err)
            self._speaking = ""
        print(line, file=self._err)

    def _tell_result(self, session: RunSession, state: RunState, outputs: list[object]) -> None:
        self._say(f"The run is {state.value}.")
        for data in outputs:
            text = _text(data)
            if text or not isinstance(data, AgentUpdate):  # an update may carry calls alone
                print(text, file=self._out)
        if self._usage is not None and self._usage.cost is not None:
            self._say(f"Cost: {_money(self._usage.cost)}")
        if state in (RunState.FAILED, RunState.CANCELLED) and not self._stream:
            for data in join_updates(self._outputs[self._whole :]):
                self._say(f"Cut off, not an output: {_text(data)}")
        for request in session.requests:
            self._say(f"{self._name(request.node)} asks: {value_text(request.data)}")
            again = (
                f"--resume {session.last_checkpoint} --answer {request.id}"
                if self._kept
                else f"--answer {request.node}"
            )
            self._say(f"  Answer with {again}=JSON")
        self._out.flush()


def _money(cost: Cost) -> str:
    """The amounts, or that nobody knows them."""
    amounts = " + ".join(f"{amount:f} {currency}" for currency, amount in cost.amounts.items())
    unknown = f" ({cost.without_price} calls have no price)" if cost.without_price else ""
    return f"{'at least ' if cost.partial and amounts else ''}{amounts or 'not known'}{unknown}"


def _text(data: object) -> str:
    return data.text if isinstance(data, AgentUpdate) else value_text(data)
