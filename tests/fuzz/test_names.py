"""Nasty names through create, rename, save, load, copy, run and export."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.edits import Edit
from studio.document.ids import is_valid
from studio.document.model import OfflineScript, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems
from studio.export import export_project
from studio.files import dumps, loads, read_workflow, write_workflow

from tests.assembly.running import Bench
from tests.fuzz.invariants import check_document
from tests.fuzz.names import NASTY

assert len(NASTY) >= 40
_LABELS = [ascii(name)[:40] for name in NASTY]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.source.close()


class Drawn:
    """Draws with commands and checks the document after each."""

    def __init__(self) -> None:
        self.workflow = Workflow(id="w")

    def do(self, edit: Edit | Problem) -> None:
        assert not isinstance(edit, Problem), edit.message
        self.workflow = edit.apply(self.workflow).workflow
        check_document(self.workflow)

    def add(self, kind: str, name: str | None) -> str:
        edit, new_id = commands.new_node(self.workflow, kind, name)
        self.do(edit)
        assert is_valid(new_id)
        return new_id


def drawn_with(name: str) -> Workflow:
    """Every kind of thing that has a name has this one; created with it, or renamed to it."""
    drawn = Drawn()
    ids = {kind: drawn.add(kind, name) for kind in ("agent", "switch", "function", "template", "fan_out", "join")}
    second, last = drawn.add("agent", name.swapcase()), drawn.add("function", None)
    for function in (ids["function"], last):
        drawn.do(commands.set_fields(drawn.workflow, function, {"body": "result = data"}))
    drawn.do(commands.set_fields(drawn.workflow, last, {"yields": "text"}))
    drawn.do(commands.rename(drawn.workflow, last, name))
    drawn.do(commands.set_fields(drawn.workflow, ids["agent"], {"instructions": name}))
    for source, target in (
        (ids["agent"], ids["switch"]),
        (ids["switch"], ids["function"]),
        (ids["switch"], ids["template"]),
        (ids["function"], ids["fan_out"]),
        (ids["fan_out"], second),
        (ids["fan_out"], last),
        (second, ids["join"]),
        (last, ids["join"]),
    ):
        drawn.do(commands.connect(drawn.workflow, source, target))
    drawn.do(commands.new_frame(drawn.workflow, (second, last), name)[0])
    switch = drawn.workflow.edge(ids["switch"])
    case = getattr(switch, "cases")[0]  # noqa: B009
    drawn.do(commands.set_condition(drawn.workflow, case.id, Condition(rule=Rule(value="yes"))))
    drawn.do(commands.set_label(drawn.workflow, case.id, name))
    script = OfflineScript(nodes={ids["agent"]: {"replies": [{"text": "yes"}]}, second: {"replies": [{"text": "b"}]}})
    drawn.do(commands.set_workflow({"name": name, "description": name, "offline": script}))
    return drawn.workflow


@pytest.mark.parametrize("name", NASTY, ids=_LABELS)
async def test_a_nasty_name_everywhere(name: str, tmp_path: Path, bench: Bench) -> None:
    workflow = drawn_with(name)
    errors = [p for p in problems(workflow) if p.severity == "error"]
    assert not errors
    assert loads(dumps(workflow)) == workflow
    write_workflow(workflow, tmp_path / "w.workflow.json")
    assert read_workflow(tmp_path / "w.workflow.json") == workflow
    ids = [i.id for i in (*workflow.nodes, *workflow.edges, *workflow.groups)]
    text = commands.copy_items(workflow, ids)
    for into in (workflow, Workflow(id="other")):
        pasted = commands.paste_items(into, text)
        assert not isinstance(pasted, Problem)
        done = pasted.apply(into)
        check_document(done.workflow)
        assert len(done.workflow.nodes) == len(into.nodes) + len(workflow.nodes)
        assert dumps(done.inverse.apply(done.workflow).workflow) == dumps(into)
    ran = await bench.run(workflow, "hello")
    assert [text for _, text in ran.outputs if isinstance(text, str)] == ["yes"]
    for path, source in export_project(workflow).items():
        assert not Path(path).is_absolute()
        assert ".." not in Path(path).parts
        if path.endswith(".py"):
            compile(source, path, "exec", dont_inherit=True)
        elif path.endswith(".toml"):
            tomllib.loads(source)


def test_names_that_differ_only_in_case_or_width_get_ids_of_their_own() -> None:
    drawn = Drawn()
    ids = [drawn.add("agent", name) for name in ("Writer", "writer", "WRITER", "Ｗriter", "Writer", "wríter")]
    assert len({i.casefold() for i in ids}) == len(ids)
    assert len({n.name for n in drawn.workflow.nodes}) == len(ids)
