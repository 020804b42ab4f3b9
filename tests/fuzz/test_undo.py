"""Never broken: random commands with undo and redo mixed in; all undone gives the same bytes as at the start."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.model import Workflow
from studio.document.validate import problems
from studio.files.format import dumps, loads
from studio.ui.canvas import CanvasView
from studio.ui.theme import Theme, fonts

from tests.fuzz.invariants import check_canvas, check_document, check_order
from tests.fuzz.steps import OFTEN, STEPS, Chance, NothingThere
from tests.ui.canvas.drawings import research_brief
from tests.ui.canvas.fake_run import FakeRun

_QUICK = (Phase.explicit, Phase.generate, Phase.shrink)


def _settings(runs: int, steps: int) -> settings:
    health = list(HealthCheck)
    return settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=False,
        phases=_QUICK,
        suppress_health_check=health,
    )


class Editing(RuleBasedStateMachine):
    """A document with its undo stack; commands, undo and redo in any order."""

    done = 0
    """Commands carried out by all runs of this class."""

    def __init__(self) -> None:
        super().__init__()
        self.document: DocumentModel | None = None

    @initialize(empty=st.booleans())
    def open(self, empty: bool) -> None:
        start = Workflow(id="w") if empty else research_brief()
        self.first = dumps(start)
        self.document = DocumentModel(loads(self.first))

    @rule(name=st.sampled_from([*STEPS, *OFTEN]), seed=st.integers(0, 2**32 - 1))
    def command(self, name: str, seed: int) -> None:
        assert self.document is not None
        before = self.document.workflow
        try:
            edit = STEPS[name](before, Chance(Random(seed)))
        except NothingThere:
            return
        if edit is None:
            return
        self.document.execute(edit, name)
        type(self).done += 1
        check_order(before, self.document.workflow, name)
        self.check()

    @precondition(lambda self: self.document.undo_stack.canUndo())
    @rule(count=st.integers(1, 4))
    def undo(self, count: int) -> None:
        assert self.document is not None
        for _ in range(count):
            self.document.undo_stack.undo()
        self.check()

    @precondition(lambda self: self.document.undo_stack.canRedo())
    @rule(count=st.integers(1, 4))
    def redo(self, count: int) -> None:
        assert self.document is not None
        for _ in range(count):
            self.document.undo_stack.redo()
        self.check()

    def check(self) -> None:
        assert self.document is not None
        check_document(self.document.workflow)

    def teardown(self) -> None:
        if self.document is None:
            return
        document, stack = self.document, self.document.undo_stack
        problems(document.workflow)
        last = dumps(document.workflow)
        assert dumps(loads(last)) == last
        reached = stack.index()
        stack.setIndex(0)
        assert dumps(document.workflow) == self.first
        stack.setIndex(reached)
        assert dumps(document.workflow) == last
        self.close()

    def close(self) -> None:
        assert self.document is not None
        self.document.deleteLater()


class OnCanvas(Editing):
    """The same with a canvas that shows the document, selecting at random."""

    theme: Theme

    @initialize(empty=st.booleans())
    def open(self, empty: bool) -> None:
        super().open(empty)
        assert self.document is not None
        self.workspace = Workspace(self.document, FakeRun())
        self.view = CanvasView(self.theme)
        self.view.motion = False
        self.view.resize(800, 600)
        self.view.set_workspace(self.workspace)

    @rule(zoom=st.sampled_from([0.2, 0.4, 0.5, 1.0]))
    def zoom(self, zoom: float) -> None:
        self.view.set_zoom(zoom)

    @rule(seed=st.integers(0, 2**32 - 1))
    def select(self, seed: int) -> None:
        scene = self.view.canvas_scene
        self.view.select(Chance(Random(seed)).some([*scene.items_by_id, *scene.line_layer.items]))

    def check(self) -> None:
        super().check()
        check_canvas(self.view)

    def close(self) -> None:
        check_canvas(self.view)
        self.view.set_workspace(None)
        self.view.deleteLater()
        self.workspace.deleteLater()


def test_every_command_has_a_step() -> None:
    no_edits = {"DEFAULT", "NEW_NAMES", "copy_items", "pasted_ids"}
    assert set(commands.__all__) - no_edits <= set(STEPS)


def _run(machine: type[Editing], runs: int, steps: int, wanted: int) -> None:
    machine.done = 0
    while machine.done < wanted:
        run_state_machine_as_test(machine, settings=_settings(runs, steps))


def test_2000_random_commands_are_undone(qapp: object) -> None:
    _run(Editing, 60, 60, 2_000)


@pytest.mark.long
def test_100000_random_commands_are_undone(qapp: object) -> None:
    _run(Editing, 500, 100, 100_000)


@pytest.fixture
def light(qapp: object) -> Theme:
    fonts.register()
    fonts.load()
    return Theme("light")


def test_the_canvas_follows_200_random_commands(light: Theme) -> None:
    OnCanvas.theme = light
    _run(OnCanvas, 10, 40, 200)


@pytest.mark.long
def test_the_canvas_follows_10000_random_commands(light: Theme) -> None:
    OnCanvas.theme = light
    _run(OnCanvas, 200, 60, 10_000)
