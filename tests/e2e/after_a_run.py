"""What people do after a run: ask what each node knew, follow a message, look along the time, keep it as a test."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.e2e.display import wait_until
from tests.e2e.studio import ROOT
from tests.e2e.test_whole_loop import WORKFLOW, Person

CONTEXT = "window.sides.context"
CHART = "window.sides.invocations.chart"
DETAIL = "window.sides.messages.detail"


def ask_what_a_node_knew(person: Person, node: str, name: str, fact: str) -> None:
    """A warning about another invocation than the shown one is found; its way out is an edit; who knows a fact."""
    studio = person.studio
    studio.click("Context", "QTabBar")
    studio.wait(f"{CONTEXT}.elsewhere.isVisible()")
    studio.click("1 warning elsewhere", "ContextPanel")
    studio.wait(f"{CONTEXT}.record.node == {node!r} and window.page.workspace.selection.items == ({node!r},)")
    studio.wait(f"{CONTEXT}.warnings.text.plain.startswith('W1 Duplicate in context. {name} sees')")
    person.shot("context-warning")
    studio.click("New session per turn", "WarningBar")
    studio.wait(f"[p.kind for p in {WORKFLOW}.node({node!r}).providers] == ['history']")
    person.display.key("ctrl+z")
    studio.wait(f"{WORKFLOW}.node({node!r}).providers == ()")
    studio.click("Who has this fact?", "ContextPanel")
    person.display.type(fact)
    studio.wait(f"{CONTEXT}.facts.isVisible() and {CONTEXT}.facts.model.rowCount() > 2")
    person.shot("context-fact")
    person.display.key("ctrl+a", "Delete")
    studio.wait(f"{CONTEXT}.columns.isVisible()")


def copy_a_call(person: Person) -> None:
    """The exact request as a command and as a script, both without a key."""
    studio = person.studio
    studio.click("Request…", "ContextPanel")
    for button, begins, key in (("Copy as cURL", "curl ", "$API_KEY"), ("Copy as Python", "import os", "'API_KEY'")):
        studio.click(button, "CallDialog")
        studio.wait(f"app.clipboard().text().startswith({begins!r})")
        assert key in studio.ask("app.clipboard().text()")
    studio.click("Close", "CallDialog")


def follow_a_message(person: Person) -> None:
    """From the first message forward to what it led to, and back."""
    studio = person.studio
    studio.click("Messages", "QTabBar")
    x, y, width, _height = studio.ask("rect(window.sides.messages.table.viewport())")
    person.display.click(x + width // 3, y + 10)
    person.display.key("ctrl+Home")
    first = studio.ask("[m.message for m in window.page.workspace.run.messages][0]")
    studio.wait(f"{DETAIL}.shown is not None and {DETAIL}.shown[0] == {first!r}")
    for title, is_first in (("Led to", False), ("Caused by", True)):
        studio.wait(f"find({title!r}, 'MessageDetail') is not None")
        x, y, _width, height = studio.ask(f"find({title!r}, 'MessageDetail')")
        person.display.click(x + 30, y + height + 16)  # the first link below the title
        studio.wait(f"({DETAIL}.shown[0] == {first!r}) == {is_first}")
    person.shot("messages")


def look_along_the_time(person: Person) -> None:
    """The wheel with Ctrl zooms, 0 shows all of the run again, the arrows walk over invocations."""
    studio = person.studio
    studio.click("Invocations", "QTabBar")
    studio.wait(f"len({CHART}.plan.rows) > 1")
    x, y, width, height = studio.ask(f"rect({CHART}.viewport())")
    person.display.click(x + width // 2, y + height // 2)
    person.display.xdotool("keydown", "ctrl", "click", "--repeat", 3, 4, "keyup", "ctrl")
    studio.wait(f"{CHART}.scale > 0")
    person.shot("invocations")
    person.display.key("0", "Right", "Down")
    studio.wait(f"{CHART}.scale == 0 and {CHART}.chosen is not None")


def make_a_test(person: Person, file: Path) -> None:
    """The shown run as a test, which passes headless, and says so to JUnit."""
    studio = person.studio
    person.display.key("alt+r")
    studio.click("Turn this run into a test…", "QMenu")
    person.name_the_file(file)
    report = file.with_suffix(".xml")
    command = [sys.executable, "-m", "studio", "test", str(file), "--trust", "--junit", str(report)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    suite = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")


def run_over_a_table(person: Person, table: Path, good: list[str], bad: str) -> None:
    """All rows of a table, the failure first; a second batch of the same table calls only what failed."""
    table.write_text("\n".join(["input", bad, *good]) + "\n", encoding="utf-8")
    studio = person.studio
    window = "next(w for w in app.topLevelWidgets() if type(w).__name__ == 'BatchWindow' and w.isVisible())"
    first = f"(lambda w: [w._model.running, w.start.isEnabled(), *[r.state for r in w._model.results[:1]]])({window})"
    kept = table.with_suffix(".results.jsonl")
    for lines in (len(good) + 1, len(good) + 2):
        person.display.key("alt+r")
        studio.click("Run over a table…", "QMenu")
        studio.click("Choose a table…", "BatchWindow")
        person.name_the_file(table)
        studio.wait(f"{first} == [False, True, 'not run']")  # the table is read: what failed is to be run
        studio.click("Run", "BatchWindow")
        studio.wait(f"{first} == [False, True, 'failed']")
        wait_until(lambda: len(kept.read_text(encoding="utf-8").splitlines()) == lines, f"{lines} rows were run")  # noqa: B023
        person.shot("batch")
        person.display.key("Escape")
        studio.wait("find('batch_window') is None")
