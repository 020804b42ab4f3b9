"""The other sub-commands."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from studio import __main__ as program
from studio.cli import headless_hint
from studio.cli.exits import DONE, USAGE
from studio.cli.recorded import recorded_run
from studio.document.model import AgentNode
from studio.files import read_workflow, write_workflow
from studio.settings.places import resource

from tests.cli.conftest import Ran, lines

Cli = Callable[..., Ran]
ROOT = Path(__file__).parents[2]


def test_check_of_a_good_and_a_bad_document(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    assert cli("check", two_agents)[0] == 0
    bad = tmp_path / "bad.workflow.json"
    text = json.loads(two_agents.read_text(encoding="utf-8"))
    bad.write_text(json.dumps({"format": text["format"], "version": text["version"], "name": "Bad"}), encoding="utf-8")
    code, out, _ = cli("check", bad, "--json")
    assert code == 2
    found = lines(out)
    assert found[0]["severity"] == "error"
    assert set(found[0]) == {"severity", "code", "place", "field", "message"}


def test_a_file_that_cannot_be_opened_is_named_once(cli: Cli, tmp_path: Path) -> None:
    for name in ("nofile", tmp_path / "nofile"):
        code, _, err = cli("check", name)
        assert (code, err.count("nofile")) == (2, 1)
    code, _, err = cli("check", tmp_path)
    assert (code, err) == (2, f"{tmp_path.name} is a folder. Choose a workflow file in it.\n")
    (tmp_path / "broken.json").write_text("{\n 1", encoding="utf-8")
    code, _, err = cli("check", tmp_path / "broken.json")
    assert err.count("broken.json") == 1
    assert "line 2" in err


def test_export_writes_a_project(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    code, out, err = cli("export", two_agents, "--to", "agent-framework", "-o", tmp_path / "out")
    assert code == 0, err
    written = [Path(line) for line in out.splitlines()]
    assert tmp_path / "out" / "pyproject.toml" in written
    assert all(path.is_file() for path in written)
    other = ("--client", "responses", "--no-smoke-test")
    code, out, err = cli("export", two_agents, "--to", "agent-framework", "-o", tmp_path / "other", *other)
    assert code == 0, err
    assert "test_smoke.py" not in out
    assert "test_smoke" not in (tmp_path / "other" / "README.md").read_text(encoding="utf-8")
    example = (tmp_path / "other" / ".env.example").read_text(encoding="utf-8")
    assert example == "OPENAI_API_KEY=\nOPENAI_BASE_URL=\nOPENAI_CHAT_MODEL=\n"


def test_export_proves_what_it_writes(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    target = ("--to", "agent-framework", "-o", tmp_path / "out", "--prove")
    code, out, err = cli("export", two_agents, *target)
    assert code == 0, err
    assert "ok      Same result: same outputs and" in err
    assert "pyproject.toml" in out
    other = tmp_path / "other.json"
    given = {"writer": {"replies": ["another poem"]}, "critic": {"replies": [{"echo": "heard: "}]}}
    changed = json.loads(two_agents.read_text(encoding="utf-8")) | {"offline": {"nodes": given}}
    other.write_text(json.dumps(changed), encoding="utf-8")
    store = ("--store", tmp_path / "runs.db")
    assert cli("run", other, "--input", "Autumn", *store)[0] == 0
    more = ("--recorded", "last", *store, "--python", tmp_path / "none", "--force")
    code, out, err = cli("export", two_agents, *target, *more)
    assert code == 0, "a Python that is not there is passed over"
    assert err.startswith("With the replies of main of run 1.\nok      Compiles")
    assert f"{sys.executable}. {tmp_path / 'none'} could not run it." in err


def test_a_recorded_run_that_is_not_there_is_named(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    target = ("export", two_agents, "--to", "agent-framework", "-o", tmp_path / "out", "--recorded")
    for more, said in (
        (("last",), "add --prove"),
        (("last", "--prove", "--store", tmp_path / "none.db"), "No run of this workflow was kept"),
        ((tmp_path / "a.test.json", "--prove"), "a.test.json cannot be read"),
    ):
        code, _, err = cli(*target, *more)
        assert (code, said in err) == (2, True), err
    assert cli("run", two_agents, "--input", "Fall", "--store", tmp_path / "runs.db")[0] == 0
    found = recorded_run("main", read_workflow(two_agents), str(tmp_path / "runs.db"))
    assert (found.name, found.input) == ("main of run 1", "Fall")
    assert [reply["text"] for reply in found.replies["writer"]] == ["a small poem"]
    code, _, err = cli(*target, "no such", "--prove", "--store", tmp_path / "runs.db")
    assert (code, "There is no run no such." in err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_export_replaces_what_was_written_by_hand_only_with_force(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    arguments = ("export", two_agents, "--to", "agent-framework", "-o", tmp_path / "out")
    assert cli(*arguments)[0] == 0
    assert cli(*arguments)[0] == 0  # the same files are no conflict
    mine = tmp_path / "out" / "README.md"
    mine.write_text("mine", encoding="utf-8")
    code, out, err = cli(*arguments)
    assert (code, err) == (0, "Kept what was changed by hand in README.md.\n")
    assert str(mine) in out
    flow = read_workflow(two_agents)
    write_workflow(flow.model_copy(update={"description": "Other words."}), two_agents)
    code, out, err = cli(*arguments)
    assert (code, out) == (1, "")
    assert "-mine\n" in err
    assert "+Other words.\n" in err
    assert "would be written: README.md. " in err
    assert "--force" in err
    assert mine.read_text(encoding="utf-8") == "mine"
    assert cli(*arguments, "--force")[0] == 0
    assert "Other words." in mine.read_text(encoding="utf-8")


def test_code_in_a_user_region_survives_the_next_export(cli: Cli, tmp_path: Path) -> None:
    file, out = tmp_path / "flow.workflow.json", tmp_path / "out"
    shutil.copy(resource("templates", "approval-gate.workflow.json"), file)
    arguments = ("export", file, "--to", "agent-framework", "-o", out, "--package", "gate")
    assert cli(*arguments)[0] == 0
    functions, agents = out / "gate" / "functions.py", out / "gate" / "agents.py"
    code = functions.read_text(encoding="utf-8")
    functions.write_text(code.replace("Carried out after", "Done after"), encoding="utf-8")
    flow = read_workflow(file)
    proposer = flow.nodes[0].model_copy(update={"instructions": "Propose two steps."})
    put_aside = flow.nodes[-1].model_copy(update={"name": "Laid aside"})
    write_workflow(flow.model_copy(update={"nodes": (proposer, *flow.nodes[1:-1], put_aside)}), file)
    assert cli(*arguments)[0] == 0
    assert "Propose two steps." in agents.read_text(encoding="utf-8")
    code = functions.read_text(encoding="utf-8")
    assert "Done after your approval." in code
    assert "Laid aside" in code


def test_export_of_an_invalid_document_gives_2(cli: Cli, tmp_path: Path, two_agents: Path) -> None:
    text = json.loads(two_agents.read_text(encoding="utf-8"))
    bad = tmp_path / "bad.workflow.json"
    bad.write_text(json.dumps({"format": text["format"], "version": text["version"], "name": "Bad"}), encoding="utf-8")
    code, _, err = cli("export", bad, "--to", "agent-framework", "-o", tmp_path / "out")
    assert code == 2
    assert "cannot be exported" in err
    assert not (tmp_path / "out").exists()


def test_schemas_are_schemas(cli: Cli, two_agents: Path) -> None:
    code, out, _ = cli("schema")
    assert code == 0
    jsonschema.validate(json.loads(two_agents.read_text(encoding="utf-8")), json.loads(out))
    code, out, _ = cli("schema", "events")
    jsonschema.Draft202012Validator.check_schema(json.loads(out))
    assert code == 0


def test_templates_are_listed(cli: Cli) -> None:
    code, out, _ = cli("templates")
    assert code == 0
    assert "Write and critique" in out


def test_doctor_looks_at_everything(cli: Cli) -> None:
    code, out, _ = cli("doctor")
    assert code == 0, out
    assert "Worker for user code: starts in" in out
    code, _, err = cli("doctor", "--probe", "Nobody")
    assert (code, "There is no profile Nobody" in err) == (2, True)


async def test_the_offline_model_answers_until_ctrl_c(two_agents: Path) -> None:
    import httpx2

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "studio", "offline-model", str(two_agents), stdout=-1, stderr=-1, cwd=ROOT,
        env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(60):
        given = dict([(await process.stdout.readline()).decode().strip().split("=", 1) for _ in range(3)])
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.post(
                f"{given['OPENAI_BASE_URL']}/chat/completions",
                headers={"Authorization": f"Bearer {given['OPENAI_API_KEY']}"},
                json={
                    "model": given["OPENAI_CHAT_COMPLETION_MODEL"],
                    "messages": [{"role": "system", "content": "Write."}, {"role": "user", "content": "x"}],
                },
            )
        assert answer.json()["choices"][0]["message"]["content"] == "a small poem"
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 130
    assert err == b""


def test_no_argument_or_files_open_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[list[str]] = []

    class App:
        @staticmethod
        def main(arguments: list[str]) -> int:
            opened.append(arguments)
            return 0

    monkeypatch.setitem(sys.modules, "studio.ui.app", App)  # type: ignore[arg-type]
    assert program.main([]) == 0
    assert program.main(["x.workflow.json"]) == 0
    assert opened == [[], ["x.workflow.json"]]


def test_help_version_and_the_hint_without_a_display(cli: Cli) -> None:
    code, out, _ = cli("--help")
    assert code == 0
    assert "offline-model" in out
    assert cli("--version")[0] == 0
    assert "superstep-studio run FILE" in headless_hint()


_FLOW = """name: small
actions:
  - kind: SendActivity
    id: hello
    activity: Hello
"""


def test_import_writes_a_workflow_file(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "small.yaml"
    source.write_text(_FLOW, encoding="utf-8")
    code, out, err = cli("import", source, "-o", tmp_path / "small.workflow.json")
    assert code == 0, err
    assert out.splitlines() == [str(tmp_path / "small.workflow.json")]
    assert "1 of 1 item imported" in err
    assert [n.kind for n in read_workflow(tmp_path / "small.workflow.json").nodes] == ["function"]


def test_import_with_losses_gives_4_and_the_report(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "bell.yaml"
    source.write_text(_FLOW + "  - kind: RingTheBell\n    id: bell\n", encoding="utf-8")
    code, out, _ = cli("import", source, "-o", tmp_path / "bell.workflow.json", "--json")
    assert code == 4
    entry = lines(out)[0]["entries"][0]
    assert (entry["code"], entry["item"], entry["line"]) == ("unknown_item", "bell", 6)


_AGENT = """kind: Prompt
name: A
model:
  id: gpt-x
instructions: Say it.
tools:
  - kind: function
    name: look
"""


def test_import_maps_what_the_source_names(cli: Cli, tmp_path: Path) -> None:
    source, target = tmp_path / "agent.yaml", tmp_path / "agent.workflow.json"
    source.write_text(_AGENT, encoding="utf-8")
    _, _, err = cli("import", source, "-o", target)
    assert "to map: model gpt-x" in err
    assert "to map: tool look" in err
    for wrong, told in (("--model", "gpt-x=Nobody"), ("--model", "gpt-y=,a"), ("--tool", "look=a:b")):
        code, _, err = cli("import", source, "-o", target, wrong, told)
        assert (code, told.partition("=")[2].partition(",")[0] in err) == (2, True)
    chosen = ("--model", "gpt-x=Offline model,gpt-z", "--tool", "look=written")
    code, _, err = cli("import", source, "-o", target, *chosen)
    assert (code, "to map" in err) == (0, False)
    workflow = read_workflow(target)
    (agent,) = workflow.nodes
    assert isinstance(agent, AgentNode)
    assert (agent.profile, agent.model, [t.approval for t in workflow.tools]) == ("Offline model", "gpt-z", ["never"])


def test_import_of_something_foreign_gives_2(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "letter.txt"
    source.write_text("Dear Sir,\nit rains.\n", encoding="utf-8")
    code, _, err = cli("import", source, "-o", tmp_path / "letter.workflow.json")
    assert code == 2
    assert "not known" in err
    assert not (tmp_path / "letter.workflow.json").exists()


def test_an_export_with_layout_comes_back(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    code, out, err = cli("export", two_agents, "--to", "agent-framework", "-o", tmp_path / "out", "--layout")
    assert code == 0, err
    source = next(line for line in out.splitlines() if line.endswith("workflow.py"))
    code, _, err = cli("import", source, "-o", tmp_path / "back.workflow.json")
    assert code == 0, err
    assert (tmp_path / "back.workflow.json").read_bytes() == two_agents.read_bytes()


@pytest.mark.parametrize("target", ["mermaid", "dot", "svg", "png"])
def test_a_drawing_is_written_by_the_program(target: str, two_agents: Path, tmp_path: Path) -> None:
    """In a process of its own: pictures need Qt, which sub-commands do not import."""
    out = tmp_path / f"out.{target}"
    command = [sys.executable, "-m", "studio", "export", str(two_agents), "--to", target, "--embed", "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(out), "")
    begins = {"mermaid": b"---\ntitle", "dot": b"digraph", "svg": b"<?xml", "png": b"\x89PNG"}
    assert out.read_bytes().startswith(begins[target])
    if target in ("svg", "png"):
        assert read_workflow(out) == read_workflow(two_agents)
    out.write_bytes(b"mine")
    again = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert out.read_bytes() == b"mine"


def test_export_for_workers(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    code, out, err = cli("export", two_agents, "--to", "durabletask", "-o", tmp_path / "out")
    assert (code, err) == (DONE, "")
    assert {Path(line).name for line in out.splitlines()} >= {"worker.py", "client.py", "hosted_agent.py"}


def test_the_proof_of_an_export_for_workers_says_what_was_run(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    code, _, err = cli("export", two_agents, "--to", "durabletask", "-o", tmp_path / "out", "--prove")
    assert code == DONE
    assert err.splitlines()[-1].startswith("Proven in one process; tests/test_scale_out.py")


def test_export_for_workers_says_what_cannot_be(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    text = two_agents.read_text().replace('"id": "writer"', '"id": "writer", "session": "desk"')
    two_agents.write_text(text)
    code, out, err = cli("export", two_agents, "--to", "durabletask", "-o", tmp_path / "out")
    assert (code, out) == (USAGE, "")
    assert "Writer shares the session desk with other agents." in err
    assert not (tmp_path / "out").exists()


def test_export_for_workers_tells_what_differs(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    document = json.loads(two_agents.read_text())
    document["max_supersteps"] = 500
    document["edges"].append({"id": "back", "kind": "direct", "source": "critic", "target": "writer"})
    two_agents.write_text(json.dumps(document))
    code, _, err = cli("export", two_agents, "--to", "durabletask", "-o", tmp_path / "out")
    assert code == DONE
    assert err.startswith("The loops may take 500 supersteps.")
