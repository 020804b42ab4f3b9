"""Runs in one file, to be looked at, replayed and gone on with elsewhere: workflow, runs, replies, checkpoints.

A bundle is a ZIP of JSON. Before it is written every text goes through the redactor; what it took out is counted in the
manifest. Reading one runs nothing, and takes nothing for granted.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from studio.agents.redaction import Redactor
from studio.checkpoints import (
    Checkpoint,
    CheckpointInfo,
    Codec,
    Mark,
    PendingRequest,
    QueuedMessage,
    RunRecord,
    RunStore,
    UnknownType,
)
from studio.debugger.branches import Stretch, next_number
from studio.debugger.event_codec import EventDecoder, EventEncoder, UnreadableLog
from studio.debugger.states import RunState
from studio.document.model import Workflow
from studio.files import FileProblem, dumps, loads

FORMAT = "superstep-runs"
VERSION = 1
SUFFIX = ".superstep-runs"
_LARGEST = 2_000_000_000
"""Bytes of unpacked content: more is no bundle but an attack or a mistake."""


class BundleProblem(Exception):
    """The file is no bundle, damaged, or of a newer version; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a file holds. ``events`` by run, encoded; ``redacted`` names what was taken out."""

    workflow: Workflow
    runs: tuple[RunRecord, ...]
    checkpoints: tuple[Checkpoint, ...]
    events: Mapping[str, Sequence[Any]]
    documents: Mapping[str, str]
    marks: Mapping[str, Mark]
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What goes into a bundle: the ways to it (runs with how far they count), and the checkpoints."""

    ways: tuple[Stretch, ...]
    checkpoints: tuple[str, ...]


def wanted_run(run: str, way: Sequence[Stretch], infos: Sequence[CheckpointInfo]) -> Wanted:
    """A whole branch, with what came before it."""
    parts = {stretch.run: stretch for stretch in way}
    parts[run] = Stretch(run, None)
    return Wanted(tuple(parts.values()), tuple(i.id for s in parts.values() for i in _up_to(infos, s)))


def wanted_checkpoint(way: Sequence[Stretch], checkpoint: str) -> Wanted:
    """One checkpoint, with the logs of what led to it."""
    return Wanted(tuple(way), (checkpoint,))


def _up_to(infos: Sequence[CheckpointInfo], stretch: Stretch) -> list[CheckpointInfo]:
    own = [i for i in infos if i.run == stretch.run]
    places = [at for at, info in enumerate(own) if info.id == stretch.until]
    return own[: places[0] + 1] if places else own


async def collect(store: RunStore, wanted: Wanted, drawing: Workflow) -> Bundle:
    """Reads what goes into a bundle. ``drawing`` is the workflow as it is now. Raises StoreError."""
    records = {r.id: r for r in await store.runs()}
    marks = await store.marks()
    checkpoints = [await store.load(id) for id in wanted.checkpoints]
    events: dict[str, Sequence[Any]] = {}
    for stretch in wanted.ways:
        log = await store.load_events(stretch.run)
        events[stretch.run] = part = log if stretch.until is None else _log_up_to(log, stretch.until)
        if stretch.run in records and any(event.get("type") == "CheckpointSaved" for event in log[len(part) :]):
            records[stretch.run] = await _standing_at(store, records[stretch.run], str(stretch.until))
    runs = tuple(records[s.run] for s in wanted.ways if s.run in records)
    documents: dict[str, str] = {}
    for run in runs:
        try:
            documents[run.document_fingerprint] = await store.load_document(run.document_fingerprint)
        except KeyError:
            continue
    kept = {c.id: marks[c.id] for c in checkpoints if c.id in marks}
    return Bundle(drawing, runs, tuple(checkpoints), events, documents, kept)


async def _standing_at(store: RunStore, record: RunRecord, checkpoint: str) -> RunRecord:
    """A branch that is taken along up to a checkpoint: where that stands, not how the branch ended later."""
    try:
        waits = bool((await store.load(checkpoint)).requests)
    except KeyError:
        waits = False
    return replace(record, state=RunState.WAITING if waits else RunState.PAUSED, ended=None, usage="")


def _log_up_to(log: Sequence[Any], checkpoint: str) -> Sequence[Any]:
    """The encoded events up to a checkpoint and the end of its superstep."""
    for at, event in enumerate(log):
        if event.get("type") == "CheckpointSaved" and event.get("checkpoint") == checkpoint:
            end = at + 1
            while end < len(log) and log[end].get("type") == "SuperstepFinished":
                end += 1
            return log[:end]
    return log


# ------------------------------------------------------------------------------------------------------- writing


def write(bundle: Bundle, file: Path, codec: Codec, secrets: Sequence[str] = ()) -> tuple[str, ...]:
    """Writes the file, whole or not at all; gives what the redactor took out. For a thread. Raises OSError."""
    redactor = Redactor(secrets)
    encoder = EventEncoder(codec)
    parts: dict[str, str] = {
        "workflow.json": _clean_text(redactor, dumps(bundle.workflow)),
        "runs.json": _json(redactor.value([asdict(run) for run in bundle.runs])),
        "documents.json": _json({f: _clean_text(redactor, text) for f, text in bundle.documents.items()}),
        "marks.json": _json(redactor.value({c: asdict(mark) for c, mark in bundle.marks.items()})),
        "checkpoints.jsonl": "\n".join(_json(_clean_checkpoint(redactor, encoder, c)) for c in bundle.checkpoints),
    }
    for at, (run, events) in enumerate(bundle.events.items()):
        lines = [_json(run), *(_json(redactor.value(event)) for event in events)]
        parts[f"events/{at}.jsonl"] = "\n".join(lines)
    found = tuple(sorted(redactor.found))
    head = {"format": FORMAT, "version": VERSION, "workflow": bundle.workflow.id, "redacted": list(found)}
    temporary = file.with_name(f".{file.name}.part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in {"manifest.json": _json(head), **parts}.items():
                archive.writestr(name, text)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    return found


def _clean_checkpoint(redactor: Redactor, encoder: EventEncoder, checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint without secrets. Its signature is that of the graph, not what the redactor takes the word for."""
    data = encoder.encode_value(_fields(checkpoint))
    signature = data.pop("signature")
    return {**redactor.value(data), "signature": signature}


def _clean_text(redactor: Redactor, text: str) -> str:
    """A document as text: secrets by pattern; it holds none by its format."""
    return redactor.text(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _fields(value: Checkpoint | QueuedMessage | PendingRequest) -> dict[str, Any]:
    """A checkpoint as dicts of its fields; what its values are the codec knows."""
    found: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if isinstance(item, PendingRequest):
            item = _fields(item)
        elif field.name in ("messages", "requests"):
            item = [_fields(part) for part in item]
        elif field.name == "fan_in":
            item = {key: [_fields(part) for part in parts] for key, parts in item.items()}
        elif isinstance(item, Mapping):
            item = _plain(item)
        found[field.name] = item
    return found


def _plain(value: Any) -> Any:
    """Frozen mappings as dicts, which the encoder knows."""
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


# ------------------------------------------------------------------------------------------------------- reading


def read(file: Path, codec: Codec) -> Bundle:
    """Reads a file; runs nothing of it. For a thread. Raises :class:`BundleProblem` and OSError."""
    with _opened(file) as (archive, head):
        return _bundle(archive, codec, tuple(map(str, head.get("redacted", ()))))


def read_workflow(file: Path) -> Workflow:
    """The workflow that the runs of a file belong to; of the runs nothing is read. Raises as :func:`read` does."""
    with _opened(file) as (archive, _):
        return loads(archive.read("workflow.json").decode())


@contextmanager
def _opened(file: Path) -> Iterator[tuple[zipfile.ZipFile, Mapping[str, Any]]]:
    """The archive and its manifest; what goes wrong inside becomes a sentence about the file."""
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(part.file_size for part in archive.infolist()) > _LARGEST:
                raise BundleProblem(f"{file.name} is too large to be a bundle of runs.")
            head = json.loads(archive.read("manifest.json"))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise BundleProblem(f"{file.name} is no bundle of runs.")
            version = head.get("version")
            if version != VERSION:
                raise BundleProblem(
                    f"{file.name} has version {version} of the format; this program reads version {VERSION}. "
                    "Update the program to import it."
                )
            yield archive, head
    except zipfile.BadZipFile:
        raise BundleProblem(f"{file.name} is no bundle of runs, or it is damaged.") from None
    except (KeyError, TypeError, ValueError, AttributeError, FileProblem, UnknownType, UnreadableLog) as error:
        raise BundleProblem(f"{file.name} cannot be read: {error}.") from error


def _bundle(archive: zipfile.ZipFile, codec: Codec, redacted: tuple[str, ...]) -> Bundle:
    decoder = EventDecoder(codec)
    names = {f.name for f in fields(RunRecord)}
    runs = [RunRecord(**{k: v for k, v in row.items() if k in names}) for row in json.loads(archive.read("runs.json"))]
    lines = archive.read("checkpoints.jsonl").decode().split("\n")
    checkpoints = [_checkpoint(decoder.decode_value(json.loads(line))) for line in lines if line]
    events: dict[str, Sequence[Any]] = {}
    for name in archive.namelist():
        if name.startswith("events/"):
            run, *rest = (json.loads(line) for line in archive.read(name).decode().split("\n") if line)
            events[str(run)] = rest
    marks = {
        str(c): Mark(m["name"], m["note"], bool(m["pinned"]), tuple(map(str, m.get("tags", ()))))
        for c, m in json.loads(archive.read("marks.json")).items()
    }
    documents = {str(f): str(text) for f, text in json.loads(archive.read("documents.json")).items()}
    workflow = loads(archive.read("workflow.json").decode())
    return Bundle(workflow, tuple(runs), tuple(checkpoints), events, documents, marks, redacted)


def _checkpoint(data: Mapping[str, Any]) -> Checkpoint:
    values = dict(data)
    values["messages"] = tuple(map(_message, data["messages"]))
    values["requests"] = tuple(PendingRequest(**request) for request in data["requests"])
    values["fan_in"] = {key: tuple(map(_message, parts)) for key, parts in data["fan_in"].items()}
    return Checkpoint(**values)


def _message(data: Mapping[str, Any]) -> QueuedMessage:
    request = data.get("request")
    return QueuedMessage(**{**data, "request": PendingRequest(**request) if request is not None else None})


# ----------------------------------------------------------------------------------------------------- importing


async def put_into(store: RunStore, bundle: Bundle) -> tuple[RunRecord, ...]:
    """Adds what is not there yet; gives the runs that were added or went further, with their numbers here. Nothing is
    overwritten: a run that is there up to an earlier moment of the same log gets the rest of it.

    Raises StoreError.
    """
    there = {r.id: r for r in await store.runs()}
    known = {i.id for i in await store.infos()}
    number = next_number(there.values())
    numbers: dict[int, int] = {}
    added: list[RunRecord] = []
    for record in bundle.runs:
        if record.id in there:
            numbers[record.number] = there[record.id].number
    for record in bundle.runs:
        if record.id in there:
            if await _goes_on(store, there[record.id], record, bundle.events.get(record.id, ())):
                added.append(replace(there[record.id], state=record.state))
            continue
        if record.number not in numbers:
            numbers[record.number], number = number, number + 1
        made = replace(record, number=numbers[record.number])
        await store.start_run(made)
        await store.append_events(record.id, bundle.events.get(record.id, ()))
        added.append(made)
    for fingerprint, text in bundle.documents.items():
        await store.save_document(fingerprint, text)
    for checkpoint in bundle.checkpoints:
        if checkpoint.id not in known:
            await store.save(checkpoint)
    for id, mark in bundle.marks.items():
        if id not in known:
            await store.set_mark(id, mark)
    return tuple(added)


async def _goes_on(store: RunStore, here: RunRecord, record: RunRecord, log: Sequence[Any]) -> bool:
    """Adds the rest of the log of a run that came with an earlier part of it; whether there was one. One that has gone
    on by itself since stays as it is."""
    known = await store.load_events(here.id)
    if len(log) <= len(known) or list(map(_moment, log[: len(known)])) != list(map(_moment, known)):
        return False
    await store.append_events(here.id, log[len(known) :])
    await store.update_run(here.id, state=record.state, ended=record.ended, usage=record.usage)
    return True


def _moment(event: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an event is known by, whatever the redactor took out of it."""
    return tuple(event.get(name) for name in ("type", "t", "checkpoint"))
