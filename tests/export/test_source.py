"""Pieces of generated Python."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st
from studio.export.naming import class_name, identifier
from studio.export.pretty import text_block
from studio.export.source import indented, literal, region, with_relative_imports

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=150),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_literal_evaluates_to_the_value(value: object) -> None:
    assert ast.literal_eval(literal(value, 1)) == value


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
