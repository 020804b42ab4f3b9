"""Code that imports write passes the formatter of an exported project."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from studio.importers import read
from studio.importers.opening import opened
from studio.importers.tidy import tidied

from tests.importers.test_samples import CARRIED

LONG, MORE = "b" * 50, "c" * 30


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("a = 'x'\n\n\nb = 'say \"hi\"'", 'a = "x"\n\nb = \'say "hi"\''),
        (f"raise NotImplementedError('{LONG} {MORE}')", f'raise NotImplementedError(\n    "{LONG} {MORE}"\n)'),
        (f"x = f({LONG}1, {LONG}2)", f"x = f(\n    {LONG}1,\n    {LONG}2,\n)"),
        (f"x = {LONG} + {LONG}[0]", f"x = {LONG} + {LONG}[0]"),
        ("text = '''a\n\n\nb'''", "text = '''a\n\n\nb'''"),
        ("this is no Python(", "this is no Python("),
    ],
)  # fmt: skip
def test_code_is_laid_out(written: str, wanted: str) -> None:
    assert tidied(written) == wanted
    if "no Python" not in written:
        assert ast.dump(ast.parse(wanted)) == ast.dump(ast.parse(written))


def test_bodies_of_imported_steps_are_formatted(tmp_path: Path) -> None:
    """Every body that was written here, in the function that it becomes."""
    formats = ("dify", "flowise", "maf-yaml", "n8n", "langflow", "langgraph")
    for file in [f for name in formats for f in (CARRIED / name).glob("[0-9]*") if ".expected" not in f.name]:
        for node in opened(read(file), file.name).workflow.nodes:
            lines = getattr(node, "body", "").split("\n")
            if lines != [""] and "main(" not in lines[-4:][0]:
                body = "\n".join(f"    {line}" if line else "" for line in lines)
                (tmp_path / f"{file.stem.replace('.', '_')}_{node.id}.py").write_text(f"async def step():\n{body}\n")
    assert len(list(tmp_path.iterdir())) > 30
    command = [sys.executable, "-m", "ruff", "format", "--diff", "--no-cache", "--line-length", "100", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
