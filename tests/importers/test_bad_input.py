"""Broken, foreign, huge and hostile input gives one clear problem, never anything else."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from studio.files import dumps, loads
from studio.importers import ImportProblem, read

from tests.importers.test_samples import CARRIED, errors_of

_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]" for i in range(9)
)
_DEEP = 1_000
BAD = {
    "empty": b"",
    "blank": b" \n\n",
    "zeros": b"\0\1\2\3",
    "not utf-8": b"name: \xff\xfe\xfa",
    "zip": b"PK\x03\x04\x14\x00\x00\xff\xff",
    "sign that no YAML has": b"name: a\x03",
    "picture": b"\x89PNG\r\n\x1a\n\0\0",
    "prose": b"Dear Sir,\nit rains.\n",
    "csv": b"a,b\n1,2\n",
    "truncated JSON": b'{"nodes": [{"id": "a", ',
    "truncated YAML": b'actions:\n  - kind: SetVariable\n    value: "x',
    "deep JSON": b"[" * _DEEP + b"]" * _DEEP,
    "deep JSON of a known form": b'{"nodes": ' + b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b', "edges": []}',
    "deep YAML": b"a: " + b"[" * _DEEP + b"]" * _DEEP,
    "deep YAML blocks": b"\n".join(b" " * i + b"a:" for i in range(_DEEP)),
    "deep Python": b"import agent_framework\nx = " + b"(" * _DEEP + b")" * _DEEP,
    "deep Python without brackets": b"import agent_framework\nx = " + b"-" * 100_000 + b"1",
    "bomb": _BOMB.encode(),
    "recursive alias": b"actions: &a\n  - kind: If\n    actions: *a\n",
    "foreign tag": b"actions: !!python/object/apply:os.system ['true']\n",
    "JSON of something else": b'{"hello": "world"}',
    "JSON constant": b'{"nodes": [NaN], "edges": []}',
    "Python that is none": b"from agent_framework import WorkflowBuilder\ndef (:\n",
    "Python without a workflow": b"import agent_framework\nprint('x')\n",
    "huge": b"kind: Workflow\n" + b"# filler\n" * 700_000,
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_problem_with_a_way_out(name: str, tmp_path: Path) -> None:
    file = tmp_path / "source"
    file.write_bytes(BAD[name])
    with pytest.raises(ImportProblem) as stopped:
        read(file)
    assert stopped.value.message.endswith(".")
    assert "\n" not in stopped.value.message
    assert stopped.value.way_out
    assert list(tmp_path.iterdir()) == [file]


def test_places_count_from_one() -> None:
    with pytest.raises(ImportProblem) as stopped:
        read('{"nodes": [],\n "edges": [}')
    assert stopped.value.place == "line 2, column 12"
    with pytest.raises(ImportProblem) as stopped:
        read("import agent_framework\n\nworkflow = = 1\n")
    assert stopped.value.line == 3


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="cannot be opened"):
        read(tmp_path / "missing.yaml")
    with pytest.raises(ImportProblem, match="folder"):
        read(tmp_path)


def test_more_steps_than_anybody_draws_are_refused() -> None:
    nodes = [{"id": f"n{i}", "type": "runnable"} for i in range(5_001)]
    with pytest.raises(ImportProblem, match="at most 5000"):
        read(json.dumps({"nodes": nodes, "edges": [{"source": "n0", "target": "n1"}]}))


def _program(steps: int, built: str) -> str:
    heads = "from agent_framework import WorkflowBuilder, executor\n"
    defined = "".join(f"@executor(id='s{i}')\nasync def s{i}(x: str, ctx): ...\n" for i in range(steps))
    return heads + defined + built


def test_a_long_chain_of_calls_is_read_to_its_end() -> None:
    edges = "".join(f".add_edge(s{i}, s{i + 1})" for i in range(89))
    found = read(_program(90, f"w = WorkflowBuilder(start_executor=s0){edges}.build()\n"))
    assert (len(found.workflow.nodes), len(found.workflow.edges)) == (90, 89)
    unknown = "x = table" + ".of()" * 200 + "\n"  # asked once each, not twice as often with each dot
    assert len(
        read(_program(2, unknown + "w = WorkflowBuilder(start_executor=s0).add_edge(s0, s1).build()")).workflow.edges
    )


def test_a_program_that_is_too_long_is_refused_and_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.importers.py_reading._MAX_CALLS", 50)
    calls = "b = WorkflowBuilder(start_executor=s0)\n" + "b.add_edge(s0, s1)\n" * 50
    with pytest.raises(ImportProblem, match="more than 50 calls"):
        read(_program(2, calls + "w = b.build()\n"))


def test_static_reading_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    source = tmp_path / "program.py"
    source.write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
        + (CARRIED / "maf-python" / "01_two_functions.py").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    (tmp_path / "typing_extensions.py").write_text(f"open({str(mark)!r}, 'w')", encoding="utf-8")
    read(source)
    assert not mark.exists()


# ------------------------------------------------------------------------------------------- random damage

_VALUES: list[Any] = [None, [], {}, 0, -1, 1.5, True, "", "x", ["a"], {"a": 1}, "{{#a.b#}}", "=ForAll(x)"]


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, part in inner for path in _paths(part, (*here, key)))]


def _damaged(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        paths = [path for path in _paths(value) if path]
        if not paths:
            return value
        path = chance.choice(paths)
        owner = value
        for key in path[:-1]:
            owner = owner[key]
        what = chance.random()
        if what < 0.3:
            del owner[path[-1]]
        elif what < 0.8 or not isinstance(owner, list):
            owner[path[-1]] = copy.deepcopy(chance.choice(_VALUES))
        else:
            owner.append(copy.deepcopy(owner[path[-1]]))
    return value


def _damaged_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        at, what = chance.randrange(len(lines)), chance.random()
        if what < 0.4:
            del lines[at]
        elif what < 0.7:
            lines.insert(at, chance.choice(lines))
        else:
            lines[at] = lines[at].replace(chance.choice(['"', "(", "=", ":"]), "", 1)
        lines = lines or [""]
    return "\n".join(lines)


def _sources() -> list[Path]:
    found = [f for f in sorted(CARRIED.rglob("*")) if f.suffix in (".json", ".yaml", ".yml", ".py")]
    return [f for f in found if not f.name.endswith((".expected.json", ".layout.json"))]


@pytest.mark.parametrize("source", _sources(), ids=lambda f: f"{f.parent.name}/{f.name}")
def test_damaged_samples_give_a_document_or_a_problem(source: Path, request: pytest.FixtureRequest) -> None:
    text = source.read_text(encoding="utf-8")
    chance = random.Random(source.name)
    for _ in range(300 if request.config.getoption("--long") else 12):
        if source.suffix == ".json":
            changed = json.dumps(_damaged(json.loads(text), chance))
        elif source.suffix == ".py":
            changed = _damaged_lines(text, chance)
        else:
            changed = yaml.safe_dump(_damaged(yaml.load(text, Loader=yaml.BaseLoader), chance))
        try:
            found = read(changed)
        except ImportProblem:
            continue
        assert found.report.counts.balanced, changed
        assert loads(dumps(found.workflow)) == found.workflow
        assert [p for p in errors_of(found.workflow) if p.code != "syntax"] == [], changed
