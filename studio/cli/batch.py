"""``batch``: a workflow for every row of a table."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from studio.assembly import ServiceSource
from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, INTERRUPTED, usage
from studio.cli.interrupts import on_interrupt
from studio.debugger.batch import Batch, Row, RowResult, TableProblem, done_before, read_table
from studio.debugger.playing import play
from studio.debugger.preparation import prepare
from studio.document.model import Workflow
from studio.engine import Codec
from studio.settings import trust
from studio.settings.preferences import read_preferences
from studio.settings.profiles import read_profiles
from studio.settings.secrets import Secrets


def command(options: argparse.Namespace) -> int:
    """Runs the rows: 0 all completed, 1 some failed or were not run, 130 stopped with Ctrl+C."""
    workflow, path = read(options.file)
    if not options.trust and trust.trust_list().untrusted(workflow, path.absolute().parent):
        usage(f"{options.file} has code that nobody has accepted. Read it, then run it with --trust.")
    table = Path(options.inputs)
    try:
        rows = read_table(table, options.column)
    except TableProblem as problem:
        usage(str(problem))
    except OSError as error:
        usage(f"{options.inputs} cannot be read: {error.strerror or error}.")
    output = Path(options.output) if options.output else table.with_suffix(".results.jsonl")
    return asyncio.run(_run(options, workflow, path, rows, output))


async def _run(options: argparse.Namespace, workflow: Workflow, path: Path, rows: list[Row], output: Path) -> int:
    source = ServiceSource(
        lambda: read_profiles()[0],
        Secrets(),
        provider=options.provider,
        trusts=(lambda *_: True) if options.trust else trust.is_trusted,
        preferences=lambda: read_preferences()[0],
    )
    folder, codec = path.absolute().parent, Codec()
    try:
        done = {} if options.again else done_before(output, rows, workflow.id)
        with output.open("w" if options.again else "a", encoding="utf-8") as file:

            def told(result: RowResult) -> None:
                file.write(json.dumps(result.to_json(workflow.id), ensure_ascii=False) + "\n")
                file.flush()
                print(_line(result), file=sys.stderr)

            batch = Batch(
                rows,
                lambda row: play(workflow, row.input, lambda: prepare(workflow, source, folder), codec),
                told,
                parallel=options.parallel,
                max_cost=options.max_cost,
                done=done,
            )
            return await _drive(batch, output, len(done))
    except OSError as error:
        usage(f"{output} cannot be written: {error.strerror or error}.")
    finally:
        await source.close()


async def _drive(batch: Batch, output: Path, before: int) -> int:
    running = asyncio.create_task(batch.run(), name="batch")
    on_interrupt(running.cancel)
    try:
        await running
        stopped = False
    except asyncio.CancelledError:
        stopped = True
    results = batch.ordered()
    counts = {state: sum(r.state == state for r in results) for state in ("completed", "failed", "not run")}
    for result in results:
        if result.state == "failed":
            print(_line(result))
    print(f"{counts['completed']} completed, {counts['failed']} failed, {counts['not run']} not run; {output}")
    if before:
        print(f"{before} of them were done before.")
    if batch.capped and counts["not run"]:
        print(f"The cap on cost was reached: {batch.cost:g} spent.")
    return INTERRUPTED if stopped else DONE if counts["completed"] == len(results) else FAILED


def _line(result: RowResult) -> str:
    what = result.failure if result.state == "failed" else _short(result.output)
    name = f" {result.name}" if result.name else ""
    return f"row {result.number}{name}: {result.state}, {result.seconds:.1f} s, {result.tokens} tokens: {what}"


def _short(output: object) -> str:
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 120 else f"{text[:119]}…"
