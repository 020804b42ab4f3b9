"""``checkpoints``: the runs of a workflow that are kept, without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from studio.agents.redaction import redact
from studio.assembly.texts import value_text
from studio.checkpoints import CheckpointInfo, Mark, RunRecord, SqliteStore, StoreError
from studio.checkpoints.retention import Kept, plan_retention
from studio.checkpoints.upkeep import Stop as StopWork
from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, Stop, usage
from studio.debugger import bundles
from studio.debugger.branches import ancestry, shown_state
from studio.debugger.states import HALTED, INTERRUPTED
from studio.document.model import Workflow
from studio.engine import Codec
from studio.files import FileProblem, write_workflow
from studio.settings.places import run_store

_CODEC = Codec()


def command(options: argparse.Namespace) -> int:
    """Does one action; see the exit codes in ``exits``."""
    if options.action == "import":
        return asyncio.run(_import(options))
    workflow, _ = read(options.file)
    path = run_store(workflow.id) if options.store == "default" else Path(options.store)
    if not path.exists():
        usage(f"Nothing was kept of {options.file} yet: {path.name} does not exist.")
    return asyncio.run(_in_store(options, workflow, path))


async def _in_store(options: argparse.Namespace, workflow: Workflow, path: Path) -> int:
    try:
        store = SqliteStore(path, _CODEC)
    except (StoreError, OSError) as error:
        raise Stop(FAILED, f"The run database cannot be opened: {error}.") from None
    store.program = "the command line"
    try:
        kept = await _Kept.read(store, workflow)
        return int(await _ACTIONS[options.action](kept, options))
    except (StoreError, OSError, bundles.BundleProblem) as error:
        raise Stop(FAILED, str(error)) from None
    finally:
        await store.close()


class _Kept:
    """What is in a store, without what was taken away."""

    def __init__(
        self, store: SqliteStore, workflow: Workflow, runs: Sequence[RunRecord], infos: Sequence[CheckpointInfo]
    ) -> None:
        self.store, self.workflow = store, workflow
        self.records = {run.id: run for run in runs}
        self.infos = {info.id: info for info in infos}
        self.marks: dict[str, Mark] = {}
        self.elsewhere: dict[str, str] = {}

    @staticmethod
    async def read(store: SqliteStore, workflow: Workflow) -> _Kept:
        """Everything that is listed."""
        batches = await store.discarded()
        runs = {run for batch in batches for run in batch.runs}
        gone = {c for batch in batches for c in batch.checkpoints}
        infos = [i for i in await store.infos() if i.id not in gone and i.run not in runs]
        kept = _Kept(store, workflow, [r for r in await store.runs() if r.id not in runs], infos)
        kept.marks, kept.elsewhere = await store.marks(), await store.owners()
        return kept

    def state(self, run: RunRecord) -> str:
        """The state of a branch, as the window says it."""
        return shown_state(run, self.elsewhere)

    def find(self, key: str) -> tuple[RunRecord, str | None]:
        """A branch and a checkpoint of it, by id, or by the name of a branch of the newest run that has it."""
        if key in self.infos:
            return self.records[self.infos[key].run], key
        named = [r for r in self.records.values() if key in (r.id, r.name)]
        if not named:
            usage(f"There is no checkpoint or branch {key}. “checkpoints list” shows what there is.")
        run = max(named, key=lambda r: r.number)
        own = [i.id for i in self.infos.values() if i.run == run.id]
        return run, own[-1] if own else run.parent_checkpoint


async def _list(kept: _Kept, options: argparse.Namespace) -> int:
    for run in sorted(kept.records.values(), key=lambda r: r.number):
        own = [i for i in kept.infos.values() if i.run == run.id]
        if not options.json:
            where = f" in {kept.elsewhere[run.id]}" if run.id in kept.elsewhere else ""
            note = f", {run.note}" if run.note else ""
            print(f"run {run.number} {run.name}: {kept.state(run)}{where}{note}  {run.id}")
        for info in own:
            mark = kept.marks.get(info.id, Mark())
            if options.json:
                row = {**info._asdict(), "branch": run.name, "number": run.number, **asdict(mark)}
                print(json.dumps(row, ensure_ascii=False))
                continue
            when = f"{datetime.fromtimestamp(info.created):%Y-%m-%d %H:%M:%S}"
            label = {"input": "input", "answers": "answer"}.get(info.kind, f"after superstep {info.superstep}")
            extra = " ".join((mark.name, *(f"#{tag}" for tag in mark.tags), "pinned" if mark.pinned else "")).strip()
            print(f"  {info.id}  {when}  {label}  {info.bytes} B  {extra}".rstrip())
    return DONE


async def _show(kept: _Kept, options: argparse.Namespace) -> int:
    from studio.debugger.event_codec import EventEncoder

    checkpoint = await kept.store.load(options.checkpoint)
    weight = await kept.store.weight(options.checkpoint)
    encoder = EventEncoder(_CODEC)
    print(json.dumps(redact({
        "id": checkpoint.id, "parent": checkpoint.parent, "run": checkpoint.run, "kind": checkpoint.kind,
        "superstep": checkpoint.superstep, "signature": checkpoint.signature,
        "bytes": {"own": weight.own, "shared": weight.shared},
        "queued": [{"id": m.id, "source": m.source, "target": m.target, "text": value_text(m.data)}
                   for m in checkpoint.messages],
        "requests": [{"id": r.id, "node": r.node, "text": value_text(r.data)} for r in checkpoint.requests],
        "state": encoder.encode_value(dict(checkpoint.state)),
        "nodes": sorted(checkpoint.executors),
    }), ensure_ascii=False, indent=2))  # fmt: skip
    return DONE


async def _compare(kept: _Kept, options: argparse.Namespace) -> int:
    from studio.debugger.comparing import Comparing, Moment

    sides = []
    for key in (options.a, options.b):
        run, checkpoint = kept.find(key)
        end = checkpoint is None or key not in kept.infos
        way = ancestry(run.id, None if end else checkpoint, kept.records, kept.infos)
        sides.append(Moment(run, checkpoint, way))
    names = {c: mark.name for c, mark in kept.marks.items() if mark.name}
    found = await Comparing(kept.store, _CODEC, kept.workflow, names).compare(*sides)
    if options.json:
        print(json.dumps(redact(asdict(found)), ensure_ascii=False))
        return DONE
    signs = {"shared": "=", "same": "=", "different": "≠", "only_a": "<", "only_b": ">", "route": "⑂"}
    for side in (found.a, found.b):
        print(f"{side.title} ({side.subtitle}): {side.supersteps} supersteps, {side.tokens} tokens")
    for row in found.path:
        cells = [f"{c.number} {c.name} {c.note}".strip() if c is not None else "–" for c in (row.a, row.b)]
        print(f"{signs[row.kind]} {cells[0]}  |  {cells[1]}")
        for detail in row.details if row.kind == "different" else ():
            print(f"    {detail.label}:\n      - {redact(detail.a)}\n      + {redact(detail.b)}")
    return DONE


async def _prune(kept: _Kept, options: argparse.Namespace) -> int:
    rules = await kept.store.retention()
    given = {name: getattr(options, name) for name in ("last", "days", "megabytes")}
    if any(value is not None for value in given.values()):
        rules = replace(rules, **given)
    waiting = {r.id for r in kept.records.values() if kept.state(r) in {*HALTED, INTERRUPTED}}
    forked = {r.parent_checkpoint for r in kept.records.values() if r.parent_checkpoint}
    facts = Kept(kept.marks, waiting, set(kept.elsewhere), forked)
    size = (await kept.store.sizes()).file
    found = plan_retention(list(kept.infos.values()), facts, rules, time.time(), file_bytes=size)
    freed = await kept.store.freed_by(found.ids)
    done = "would be taken" if options.dry_run else "were taken"
    if found.ids and not options.dry_run:
        await kept.store.discard(f"{len(found.ids)} checkpoints by the command line", time.time(), found.ids)
    print(f"{len(found.ids)} checkpoints {done} away, {found.kept} are kept; compacting frees about {freed} bytes.")
    return DONE


async def _compact(kept: _Kept, _options: argparse.Namespace) -> int:
    if kept.elsewhere:
        raise Stop(FAILED, f"{next(iter(kept.elsewhere.values()))} works on these runs. Wait until it has ended.")
    done = await kept.store.compact(lambda text: print(f"{text}…", file=sys.stderr), StopWork())
    print(f"{done.checkpoints} checkpoints and {done.runs} branches removed; {done.before} → {done.after} bytes.")
    return DONE


async def _export(kept: _Kept, options: argparse.Namespace) -> int:
    run, checkpoint = kept.find(options.what)
    infos = list(kept.infos.values())
    if options.what in kept.infos and checkpoint is not None:
        way = ancestry(run.id, checkpoint, kept.records, kept.infos)
        wanted = bundles.wanted_checkpoint(way, checkpoint)
    else:
        wanted = bundles.wanted_run(run.id, ancestry(run.id, None, kept.records, kept.infos), infos)
    bundle = await bundles.collect(kept.store, wanted, kept.workflow)
    output = Path(options.output)
    if not output.name.endswith(bundles.SUFFIX):
        output = output.with_name(output.name + bundles.SUFFIX)
    found = bundles.write(bundle, output, _CODEC)
    print(f"{output}: {len(bundle.runs)} branches, {len(bundle.checkpoints)} checkpoints")
    if found:
        print(f"Taken out as secrets: {', '.join(found)}.", file=sys.stderr)
    return DONE


async def _import(options: argparse.Namespace) -> int:
    try:
        bundle = bundles.read(Path(options.bundle), _CODEC)
        path = run_store(bundle.workflow.id) if options.store == "default" else Path(options.store)
        if options.workflow:
            write_workflow(bundle.workflow, Path(options.workflow))
        store = SqliteStore(path, _CODEC)
        try:
            added = await bundles.put_into(store, bundle)
        finally:
            await store.close()
    except bundles.BundleProblem as problem:
        usage(str(problem))
    except (StoreError, OSError, FileProblem) as error:
        raise Stop(FAILED, f"The bundle was not imported: {error}.") from None
    names = ", ".join(f"{run.name} of run {run.number}" for run in added) or "nothing that was not there already"
    print(f"Imported {names} into the runs of {bundle.workflow.name}.")
    return DONE


_ACTIONS: dict[str, Any] = {
    "list": _list, "show": _show, "compare": _compare, "prune": _prune, "compact": _compact, "export": _export,
}  # fmt: skip
