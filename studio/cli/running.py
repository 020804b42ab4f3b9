"""``run``: a workflow without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from studio.agents.cassettes import Cassette, CassetteProblem
from studio.agents.hiding import Hider
from studio.assembly import PlanError, ServiceSource
from studio.assembly.cassette_run import CassetteRun
from studio.checkpoints import Checkpoint, RunRecord, RunStore, SqliteStore, StoreError
from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, INTERRUPTED, USAGE, WAITING, Stop, usage
from studio.cli.interrupts import on_interrupt
from studio.cli.report import Report
from studio.debugger.answers import ValueProblem, answer_value, input_value
from studio.debugger.branches import MAIN, fork_name, next_number
from studio.debugger.comparison import drift_of, old_document
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.preparation import fingerprint_of, prepare
from studio.debugger.session import Beginning, RunSession
from studio.debugger.states import Command, RunState
from studio.debugger.telemetry import Telemetry
from studio.document.lines import name_of
from studio.document.model import Workflow
from studio.document.turns import added_nodes
from studio.engine import Codec
from studio.settings import trust
from studio.settings.places import run_store
from studio.settings.preferences import read_preferences
from studio.settings.profiles import read_profiles
from studio.settings.secrets import Secrets

_CODES: Mapping[RunState, int] = {
    RunState.COMPLETED: DONE,
    RunState.FAILED: FAILED,
    RunState.WAITING: WAITING,
    RunState.CANCELLED: INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class _Given:
    """An answer of the command line: as it was typed, and what that is as JSON (the same if it is none)."""

    text: str
    value: Any


def command(options: argparse.Namespace) -> int:
    """Runs a file; see the exit codes in ``exits``."""
    workflow, path = read(options.file)
    if not options.trust:
        untrusted = trust.trust_list().untrusted(workflow, path.absolute().parent)
        if untrusted:
            usage(
                f"{options.file} has code that nobody has accepted: "
                + "; ".join(f"{part.kind} of {part.place or 'the workflow'}" for part in untrusted)
                + ". Read it, then run it with --trust."
            )
    answers = dict(_answer(text) for text in options.answer)
    if not options.resume:
        _check_answers(answers, {node.id for node in workflow.nodes}, options.file)
    data = None if options.resume else _input(options, workflow)
    return asyncio.run(_Run(options, workflow, path, answers).run(data))


def _input(options: argparse.Namespace, workflow: Workflow) -> Any:
    given: Any = options.input
    if options.input_json is not None:
        given = _json(options.input_json, "--input-json")
    elif options.input_file is not None:
        given = _text_of(options.input_file)
    elif given is None:
        given = workflow.sample_input
        if not given:
            usage("Say what the workflow is to work on: --input TEXT, --input-json JSON or --input-file F.")
    try:
        return input_value(given, workflow)
    except ValueProblem as problem:
        usage(f"The start node does not take this input. {problem}")


def _text_of(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        usage(f"{file} cannot be read: {error}.")


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        usage(f"{option} is no JSON: {error}.")


def _check_answers(answers: Collection[str], known: Collection[str], file: str) -> None:
    """Before anything runs: an answer for what the workflow does not have is a slip of the pen."""
    for key in answers:
        if key not in known:
            usage(f"--answer {key}: {file} has no node with this id, and no request with it waits.")


def _answer(text: str) -> tuple[str, _Given]:
    request, equals, value = text.partition("=")
    if not equals or not request:
        usage(f"--answer wants REQUEST=JSON, not {text!r}.")
    try:
        return request, _Given(value, json.loads(value))
    except ValueError:
        return request, _Given(value, value)


def _tape(options: argparse.Namespace) -> CassetteRun | None:
    """What the run is recorded on, or answered from."""
    if options.record is not None:
        folder = Path(options.record).absolute().parent
        if not folder.is_dir():
            usage(f"--record {options.record}: there is no folder {folder}.")
        return CassetteRun(Cassette(), replays=False)
    if options.replay is None:
        return None
    try:
        return CassetteRun(Cassette.load(options.replay), replays=True)
    except (OSError, UnicodeError) as error:
        usage(f"--replay {options.replay} cannot be read: {error}.")
    except CassetteProblem as problem:
        usage(f"--replay: {problem}.")


class _Run:
    """One call of the sub-command."""

    def __init__(self, options: argparse.Namespace, workflow: Workflow, path: Path, answers: dict[str, _Given]) -> None:
        self._options = options
        self._workflow = workflow
        self._folder = path.absolute().parent
        self._answers = answers
        self._asked: set[str] = set()
        self._refused: set[str] = set()
        self._secrets = Secrets()
        self._codec = Codec(hide=Hider(lambda: self._secrets.keys))
        self._changed = asyncio.Event()
        names = {node.id: node.name or node.id for node in workflow.nodes}
        names |= {added: name_of(workflow, added) for added in added_nodes(workflow)}
        kept = options.store != "memory" and (options.store != "default" or workflow.runs_on_disk)
        self._report = Report(sys.stdout, sys.stderr, names, json_lines=options.json, stream=options.stream, kept=kept)

    async def run(self, data: Any) -> int:
        """Gives the exit code."""
        secrets = self._secrets
        tape = _tape(self._options)
        source = ServiceSource(
            lambda: read_profiles()[0],
            secrets,
            provider=self._options.provider,
            trusts=(lambda *_: True) if self._options.trust else trust.is_trusted,
            preferences=lambda: read_preferences()[0],
            cassette=tape,
        )
        preferences = read_preferences()[0]
        telemetry = Telemetry(lambda: preferences, lambda: read_profiles()[0], secrets, self._report.problem)
        store = self._store()
        try:
            await telemetry.prepare()
            session = await self._session(store, source, data, telemetry)
            return await self._drive(session)
        except (StoreError, OSError) as error:
            raise Stop(FAILED, f"The run database cannot be used: {error}.") from None
        finally:
            await source.close()
            await store.close()
            await telemetry.close()
            if tape is not None:
                self._keep(tape, secrets)

    def _keep(self, tape: CassetteRun, secrets: Secrets) -> None:
        """Writes a recording, however the run ended, and says what is to be known about it."""
        if tape.replays:
            return
        cassette, file = tape.cassette, self._options.record
        try:
            cassette.save(file, secrets.known)
        except OSError as error:
            self._report.problem(f"The recording could not be written to {file}: {error.strerror or error}.")
            return
        calls, tools = len(cassette.calls), len(cassette.tools)
        taken = f" Taken out: {', '.join(cassette.redacted)}." if cassette.redacted else ""
        full = " It is full: later answers are missing." if cassette.full else ""
        self._report.problem(f"Recorded {calls} model calls and {tools} tool results in {file}.{taken}{full}")

    def _store(self) -> RunStore:
        where = self._options.store
        if where == "memory" or (where == "default" and not self._workflow.runs_on_disk):
            return MemoryRunStore(self._codec)
        try:
            file = run_store(self._workflow.id) if where == "default" else Path(where)
            store = SqliteStore(file, self._codec)
            store.program = "the command line"
            return store
        except (StoreError, OSError) as error:
            usage(f"The run database cannot be opened: {error}.")

    async def _session(self, store: RunStore, source: ServiceSource, data: Any, telemetry: Telemetry) -> RunSession:
        records = {r.id: r for r in await store.runs()}
        resumed = self._options.resume
        if resumed is None:
            text = data if isinstance(data, str) else self._options.input_json or ""
            record = RunRecord(uuid4().hex, next_number(records.values()), MAIN, input=text)
            beginning = Beginning(data)
        else:
            checkpoint = await self._checkpoint(store, resumed)
            waiting = {request.id for request in checkpoint.requests}
            known = waiting | {node.id for node in self._workflow.nodes}
            _check_answers(self._answers, known, self._options.file)
            origin = records.get(checkpoint.run)
            await self._say_changes(store, checkpoint, origin)
            number = origin.number if origin is not None else next_number(records.values())
            name = fork_name(r.name for r in records.values() if r.number == number)
            text = origin.input if origin is not None else ""
            note = f"resumed at {checkpoint.superstep}"
            record = RunRecord(uuid4().hex, number, name, parent_checkpoint=resumed, input=text, note=note)
            beginning = Beginning(None, checkpoint)
        self._report.run = record.id
        names = {node.id: node.name for node in self._workflow.nodes}
        return RunSession(
            record,
            beginning,
            lambda: prepare(self._workflow, source, self._folder),
            store,
            self._codec,
            sink=telemetry.sink(self._report, self._workflow, record.id),
            changed=self._changed.set,
            name_of=lambda node: names.get(node) or node,
            streaming=self._options.stream,
        )

    async def _say_changes(self, store: RunStore, checkpoint: Checkpoint, origin: RunRecord | None) -> None:
        """What differs from the drawing that the run had is never used silently."""
        old = await old_document(store, origin.document_fingerprint) if origin is not None else None
        if old is None or origin is None:
            return
        now = await fingerprint_of(self._workflow, self._folder)
        alike = now in ("", origin.document_fingerprint)
        found = drift_of(old, self._workflow, same_graph=True, same_run=alike).sentences()
        if found:
            self._report.problem(f"The workflow has changed since this run: {' '.join(found)}")

    @staticmethod
    async def _checkpoint(store: RunStore, id: str) -> Checkpoint:
        try:
            return await store.load(id)
        except StoreError:
            usage(f"There is no checkpoint {id} in this store.")

    async def _drive(self, session: RunSession) -> int:
        on_interrupt(lambda: session.stop() if session.can(Command.STOP) else None)
        if session.beginning.checkpoint is None:
            session.run()
        else:
            session.restore()
            self._give_answers(session)
            if session.state is RunState.PAUSED:
                session.continue_()
        while session.state not in _CODES:
            self._changed.clear()
            await self._changed.wait()
            if session.state is RunState.WAITING:
                self._give_answers(session)
        state = session.state
        await session.close()
        if state is RunState.FAILED and not session.recorded and isinstance(session.error, PlanError):
            raise Stop(USAGE, f"{self._options.file}: {session.failure}")
        for key in self._answers:
            if key not in self._asked:
                self._report.problem(f"The answer to {key} was not used: it never asked.")
        self._report.result(session, state)
        return _CODES[state]

    def _give_answers(self, session: RunSession) -> None:
        """Answers what was asked, by request or node; what is given for a node answers each of its requests."""
        found = {}
        for request in session.requests:
            key = next((k for k in (request.id, request.node) if k in self._answers), None)
            if key is None or request.id in self._refused:
                continue
            self._asked.add(key)
            given = self._answers[key]
            text_wanted = request.response_type == "str" and not isinstance(given.value, str)
            answer = given.text if text_wanted else given.value
            try:
                found[request.id] = answer_value(request.data, request.response_type, answer, self._workflow)
            except ValueProblem as problem:
                self._refused.add(request.id)
                self._report.problem(f"The answer to {key} does not fit. {problem}")
        if found:
            session.answer(found)
