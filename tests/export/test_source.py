"""Pieces of generated Python."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from studio.export.naming import class_name, identifier
from studio.export.pretty import Joined, flat, statement, text_block
from studio.export.source import indented, literal, region, with_relative_imports

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=150),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_literal_evaluates_to_the_value(value: object) -> None:
    assert ast.literal_eval(literal(value, 1)) == value


@example("'''\"\"\"")
@example("'''\\\"\"\"")
@example('\'\'\' """"')
@given(st.text(max_size=400) | st.text(alphabet="\"'\\ \na", max_size=40))
def test_text_block_evaluates_to_the_text(text: str) -> None:
    assert ast.literal_eval(text_block(text)) == text


def test_texts_with_line_breaks_are_not_moved_by_the_indent() -> None:
    body = 'x = """first\n  second\n"""\nresult = x'
    scope: dict[str, object] = {}
    exec("def body():\n" + indented(body, 1) + "\n    return result", scope)
    assert scope["body"]() == "first\n  second\n"  # type: ignore[operator]


def test_region_has_its_markers() -> None:
    assert region("a", "x = 1\n", 1) == "    # region user a\n    x = 1\n    # endregion"


def test_imports_of_sibling_modules_become_relative() -> None:
    code = "import json\nimport tools\nfrom tools import search\nimport tools as t\n"
    wanted = "import json\nfrom . import tools\nfrom .tools import search\nfrom . import tools as t\n"
    assert with_relative_imports(code, ["tools"]) == wanted


def test_names() -> None:
    assert identifier("Research brief") == "research_brief"
    assert identifier("2 fast") == "workflow_2_fast"
    assert identifier("class") == "class_"
    assert identifier("“你好”") == "workflow"
    assert class_name("carry_out") == "CarryOut"


@pytest.mark.parametrize(
    "body",
    [
        "def f():\n    return 1\n\nresult = f()",
        "result = 1\n\ndef f():\n    return 1",
        "def result():\n    return 1",
        "# what for\n@cache\nasync def result():\n    return 1",
        "for x in data:\n    print(x)\n\n    class Y:\n        a = x",
        "import json\n\nresult = json",
    ],
)
def test_definitions_in_a_body_are_kept_apart_as_a_formatter_does(body: str, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    for end in ("", "    return result\n"):
        file.write_text(f"def run(data):\n    result = None\n{region('n', body, 1)}\n{end}", encoding="utf-8")
        assert formatted(file) == ""


SHORT = "value_of(message) > 3333333333333333333333333333333333333"
CALL = 'equals(text_method(lowered(text_of(message)), "strip"), "approved")'
LONG = f'equals(text_method(lowered(text_of(message)), "strip"), "approved {"a" * 34}")'


def test_operands_are_broken_where_a_formatter_breaks_them(tmp_path: Path) -> None:
    pairs = [(SHORT, CALL), (CALL, SHORT), (SHORT, f"not {CALL}"), (LONG, CALL), (f"not {LONG}", CALL), (LONG, LONG)]
    written = [
        Joined("or", parts) for parts in (*pairs, (SHORT, CALL, CALL), (SHORT, f'"{"o" * 50}" in text_of(message)'))
    ]
    functions = [f"def f{i}() -> bool:\n{statement(code, 1, 'return ')}\n" for i, code in enumerate(written)]
    file = tmp_path / "code.py"
    file.write_text("\n\n".join(functions), encoding="utf-8")
    assert formatted(file, "--line-length", "100") == ""
    assert [ast.unparse(f.body[0]) for f in ast.parse(file.read_text()).body if isinstance(f, ast.FunctionDef)] == [
        ast.unparse(ast.parse(f"return {flat(code)}").body[0]) for code in written
    ]


def formatted(file: Path, *options: str) -> str:
    """What the formatter would change."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--diff", "--no-cache", *options, str(file)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout
