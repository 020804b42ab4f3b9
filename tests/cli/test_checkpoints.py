"""``checkpoints``: list, show, compare, prune, compact, export, import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studio.cli.main import main
from studio.document.model import AgentNode, DirectEdge, OfflineScript, Workflow
from studio.files import write_workflow


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    names = ("writer", "critic")
    path = tmp_path / "x.workflow.json"
    write_workflow(
        Workflow(
            id="cli-checkpoints", name="Brief", start="writer",
            nodes=tuple(AgentNode(id=n, name=n.title(), instructions=f"You are {n}.") for n in names),
            edges=(DirectEdge(id="e", source="writer", target="critic"),),
            offline=OfflineScript.model_validate({"nodes": {n: {"replies": [f"{n} says {n}"]} for n in names}}),
        ),
        path,
    )  # fmt: skip
    assert main(["run", str(path), "--input", "first"]) == 0
    assert main(["run", str(path), "--input", "second"]) == 0
    return str(path)


def rows(file: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["checkpoints", "list", file, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_list_show_compare(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(file, capsys)
    assert [(r["number"], r["branch"], r["kind"], r["superstep"]) for r in found] == [
        (n, "main", kind, step) for n in (1, 2) for kind, step in (("input", 0), *(("superstep", s) for s in (1, 2, 3)))
    ]
    assert main(["checkpoints", "list", file]) == 0
    assert "run 2 main: completed" in capsys.readouterr().out
    assert main(["checkpoints", "show", str(found[1]["id"]), file]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(m["source"], m["text"]) for m in shown["queued"]] == [("writer", "writer says writer")]
    assert shown["bytes"]["own"] > 0
    assert main(["checkpoints", "compare", str(found[3]["id"]), str(found[7]["id"]), file]) == 0
    text = capsys.readouterr().out
    assert "≠ 1 Writer  |  1 Writer" in text
    assert "- first" in text
    assert "+ second" in text
    assert main(["checkpoints", "compare", str(found[3]["id"]), "main", file, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["path"]) == 2
    assert main(["checkpoints", "compare", "nobody", "main", file]) == 2


def test_prune_and_compact(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoints", "prune", file, "--last", "1", "--dry-run"]) == 0
    assert "6 checkpoints would be taken away, 2 are kept" in capsys.readouterr().out
    assert len(rows(file, capsys)) == 8
    assert main(["checkpoints", "prune", file, "--last", "1"]) == 0
    assert len(rows(file, capsys)) == 2
    assert main(["checkpoints", "compact", file]) == 0
    assert "6 checkpoints and 0 branches removed" in capsys.readouterr().out
    assert len(rows(file, capsys)) == 2


def test_export_and_import(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    assert main(["checkpoints", "export", "main", file, "-o", str(out)]) == 0
    assert "1 branches, 4 checkpoints" in capsys.readouterr().out
    bundle = f"{out}.superstep-runs"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    drawing = str(tmp_path / "taken.workflow.json")
    assert main(["checkpoints", "import", bundle, "--workflow", drawing]) == 0
    assert "Imported main of run 1 into the runs of Brief." in capsys.readouterr().out
    found = rows(drawing, capsys)
    assert [r["superstep"] for r in found] == [0, 1, 2, 3]
    assert main(["run", drawing, "--resume", str(found[1]["id"])]) == 0
    assert "critic says critic" in capsys.readouterr().out
    assert main(["checkpoints", "import", str(Path(file))]) == 2


def test_nothing_was_kept_yet(tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "y.workflow.json"
    write_workflow(Workflow(id="other"), other)
    assert main(["checkpoints", "list", str(other)]) == 2
    assert "Nothing was kept" in capsys.readouterr().err
