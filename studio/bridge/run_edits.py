"""Changing what a paused run goes on with. Nothing changes in place: the run goes on as a fork, the original stays."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.agents.messages import Message, Text
from studio.agents.tools import result_text
from studio.assembly.texts import part_text
from studio.bridge.queued_views import queued_views
from studio.bridge.run_replays import RunReplays
from studio.bridge.run_services import RunServices
from studio.debugger.branches import replay
from studio.debugger.forks import EditProblem, QueueEdits, Reset, edited, remembered, with_text
from studio.debugger.overrides import Overrides
from studio.debugger.recording import RecordedTool, Recorder, Tape
from studio.engine.events import Event
from studio.engine.values import plain

if TYPE_CHECKING:
    from studio.bridge.batch_model import BatchModel
    from studio.debugger.run_tests import RunTest

_DRAFTS_AFTER_MS = 400
"""Milliseconds after which an answer that was begun is written: what a crash may lose."""

Edit = Callable[[QueueEdits], QueueEdits]


class RunEdits(RunReplays):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    test_written = Signal(str)
    """A sentence: the shown run was written as a test."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        self._changed_drafts: set[str] = set()
        self._batch: BatchModel | None = None
        super().__init__(services, parent)
        self._drafts_timer = QTimer(self)
        self._drafts_timer.setSingleShot(True)
        self._drafts_timer.setInterval(_DRAFTS_AFTER_MS)
        self._drafts_timer.timeout.connect(self._on_drafts_timer_timeout)

    # ---------------------------------------------------------------------------------------------- queued messages

    def edit_queued(self, message: str, text: str) -> None:
        """Changes the text of a queued message; the run goes on as a fork."""
        view = next((q for q in self.queued if q.message == message), None)
        if view is None:
            return
        try:
            with_text(view.data, text)
        except EditProblem as problem:
            if self._may("edit"):
                self.failed_to_start.emit(str(problem))
            return
        self._edit(lambda edits: edits.with_text(message, text))

    def drop_queued(self, message: str) -> None:
        """Takes a queued message away; the run goes on as a fork."""
        self._edit(lambda edits: edits.without(message))

    def duplicate_queued(self, message: str) -> None:
        """Queues a message once more."""
        session = self._session
        queue = edited(session.queued, self._edits.within(session.queued)) if session is not None else ()
        found = next((m for m in queue if m.id == message), None)
        if found is not None:
            self._edit(lambda edits: edits.copy_of(found))

    def inject(self, source: str, target: str | None, data: Any) -> None:
        """Queues a new message of a node, over all its edges or only towards ``target``."""
        self._edit(lambda edits: edits.injected(source, target, data))

    def _edit(self, change: Edit) -> None:
        session = self._session
        if session is None or not self._may("edit"):
            return
        self._edits = change(self._edits)
        self.queued = queued_views(session.queued, self._pinned, self._edits)
        self.updated.emit(self._views.take_update(queued=True))

    # ----------------------------------------------------------------------------------------- state, conversations

    @property
    def editable_state(self) -> dict[str, Any]:
        """Shared state as the run would go on with it."""
        state = self._edits.state if self._edits.state is not None else self.shared_state
        return {key: plain(value) for key, value in state.items()}

    def change_state(self, values: Mapping[str, Any]) -> None:
        """Another shared state; the run goes on as a fork."""
        if self._session is None or not self._may("edit"):
            return
        self._edits = changed(self._edits, state=dict(values))
        self._views.replace_state(values)
        self.shared_state = self._views.shared_state
        self.updated.emit(self._views.take_update(queued=True))

    def ask_conversation(self, node: str, given: Callable[[Sequence[Message]], None]) -> None:
        """Gives what an agent remembers at this moment; a sentence instead if it remembers nothing."""
        session = self._session
        if session is None or session.last_checkpoint is None or not self._may("edit"):
            return
        known, checkpoint = self._edits.conversations.get(node), session.last_checkpoint
        if known is not None:
            given(known)
        else:
            self._tasks.turn(lambda: self._ask_conversation(node, checkpoint, given))

    async def _ask_conversation(self, node: str, checkpoint: str, given: Callable[[Sequence[Message]], None]) -> None:
        found = remembered(await (await self._opened_store()).load(checkpoint), node)
        if found is None:
            self.failed_to_start.emit("This node remembers no conversation yet.")
        else:
            given(found)

    def change_conversation(self, node: str, messages: Sequence[Message]) -> None:
        """Another memory of an agent; the run goes on as a fork."""
        self._edit(lambda edits: edits.with_conversation(node, messages))

    @property
    def resets(self) -> Mapping[str, Reset]:
        """Which nodes begin anew when the run goes on."""
        return self._edits.resets

    def reset(self, node: str, what: Reset | None) -> None:
        """A node begins anew when the run goes on, as a fork; None takes that back."""
        self._edit(lambda edits: edits.with_reset(node, what))

    # ------------------------------------------------------------------------------------------ pending tool results

    @property
    def pending_tool(self) -> tuple[str, str, Any] | None:
        """The tool call at which a breakpoint holds the run: node, tool, arguments."""
        held = self._session.held if self._session is not None else ()
        found = next((h for h in held if h.at == "tool"), None)
        return (found.node, found.detail, found.data) if found is not None else None

    def give_tool_result(self, value: Any) -> None:
        """The held tool is not run and gives this. The run goes on as a fork; models are not asked again."""
        session, pending = self._session, self.pending_tool
        if session is None or pending is None or not self._may("edit"):
            return
        checkpoint = session.last_checkpoint
        if checkpoint is not None:
            self._move(lambda: self._give_tool_result(session.record.id, checkpoint, pending, value))

    async def _give_tool_result(self, branch: str, checkpoint: str, pending: tuple[str, str, Any], value: Any) -> None:
        node, tool, arguments = pending
        edits = self._edits
        passed = self._session.stands_at if self._session is not None else frozenset()
        await self._leave()
        recording = await self._recording_after(branch, checkpoint)
        given = RecordedTool(
            tool, arguments if isinstance(arguments, str) else json.dumps(arguments), result_text(value)
        )
        recording.tools.setdefault(node, []).append(given)
        tape = Tape(recording, whole=False, by_value=True, name_of=self._name_of_node)
        await self._go_to(checkpoint, edits, f"result of {tool} given", run=True, tape=tape, passed=passed)

    # ----------------------------------------------------------------------------------------------- answers begun

    def keep_draft(self, request: str, value: object) -> None:
        """Keeps an answer that was begun; None takes it away. Written soon, however fast somebody types."""
        if self.answer_drafts.get(request) == value:
            return
        self.answer_drafts[request] = value
        self._changed_drafts.add(request)
        if self._services is not None and not self._drafts_timer.isActive():
            self._drafts_timer.start()

    def _on_drafts_timer_timeout(self) -> None:
        if self._changed_drafts:
            drafts = {request: self.answer_drafts.get(request) for request in self._changed_drafts}
            self._changed_drafts.clear()
            self.answer_drafts = {r: v for r, v in self.answer_drafts.items() if v is not None}
            self._unwritten.append(lambda store: store.set_drafts(drafts))
            self._tasks.turn(self._write_kept)

    # ------------------------------------------------------------------------------------------- tests and batches

    def batch(self) -> BatchModel | None:
        """The batch of this workflow, made when it is first asked for; None in a panel alone."""
        if self._batch is None and self._services is not None:
            from studio.bridge.batch_model import BatchModel  # few people run one

            self._batch = BatchModel(self._services, self)
        return self._batch

    def make_test(self, path: Path, workflow_file: Path) -> None:
        """Writes the shown run as a test: its replies pinned, its path and output expected."""
        branch = self.branch
        if branch is not None and self._may("replay"):
            self._tasks.turn(lambda: self._make_test(branch, path, workflow_file))

    async def _make_test(self, branch: str, path: Path, workflow_file: Path) -> None:
        from studio.debugger.assertions import Outcome, expectations_of  # the start of the window needs none of it
        from studio.debugger.run_tests import SUFFIX, made_from, write_test

        recorder, outcome, overrides = Recorder(), Outcome(), Overrides()

        def fold(event: Event) -> None:
            recorder.fold(event)
            overrides.take_told(event)
            outcome.append(event)

        given = await self._told(branch, fold)
        given = plain(recorder.recording.input) if given is None else given
        name = path.name.removesuffix(SUFFIX)
        where = os.path.relpath(workflow_file, path.parent)
        expected = expectations_of(outcome)
        test = made_from(recorder.recording, name, Path(where).as_posix(), given, expected, overrides)
        try:
            await asyncio.to_thread(write_test, test, path)
        except OSError as error:
            self._fail(f"The test cannot be written: {error.strerror or error}.")
        else:
            self.test_written.emit(f"The test was written. Run it with: superstep-studio test {path.name}")

    async def shown_run(self) -> RunTest | None:
        """The shown run with its input, the replies of its models and its answers; None if none is shown or none of
        its models answered."""
        from studio.debugger.run_tests import made_from

        branch = self.branch
        view = self._tree.branch(branch) if branch is not None else None
        if branch is None or view is None or self._services is None:
            return None
        recorder = Recorder()
        given = await self._told(branch, recorder.fold)
        recording = recorder.recording
        if not recording.calls:
            return None
        name = f"{view.name} of run {view.number}"
        return made_from(recording, name, "", plain(recording.input) if given is None else given, [])

    async def _told(self, branch: str, fold: Callable[[Event], None]) -> str | None:
        """Gives all events of a branch; returns the input as a person typed it, None if nobody did."""
        assert self._services is not None
        await replay(self._tree.way_to(branch, None), await self._opened_store(), self._services.codec, fold)
        record = self._tree.record(branch)
        return record.input if record is not None and record.input else None


def messages_json(messages: Sequence[Message]) -> list[dict[str, str]]:
    """A conversation as JSON that a person can change. A message without text says in ``holds`` what it is."""
    return [{"role": m.role, "text": m.text} | ({} if m.text else {"holds": _holds(m)}) for m in messages]


def _holds(message: Message) -> str:
    return ", ".join(filter(None, map(part_text, message.parts)))


def changed_messages(old: Sequence[Message], new: object) -> list[Message]:
    """The messages of a changed conversation; those that stay keep what is not text in them. Raises ``ValueError``."""
    if not isinstance(new, list):
        raise ValueError("A conversation is a JSON list of objects with role and text.")
    left = list(old)
    made: list[Message] = []
    for item in new:
        role, text = (item.get("role"), item.get("text")) if isinstance(item, dict) else (None, None)
        if role not in ("system", "user", "assistant", "tool") or not isinstance(text, str):
            raise ValueError("Each message has a role (system, user, assistant, tool) and a text.")
        holds = item.get("holds")
        same = [m for m in left if m.role == role and m.text == text]
        kept = next((m for m in same if holds is None or _holds(m) == holds), None)
        if kept is not None:
            del left[: left.index(kept) + 1]
        made.append(kept if kept is not None else Message(role, (Text(text),)))
    return made
