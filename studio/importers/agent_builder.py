"""Python that OpenAI Agent Builder exported. Always read, never run: the files do not run as they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from studio.importers.detection import Detected
from studio.importers.draft import Draft
from studio.importers.problems import ImportProblem
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading
from studio.importers.python_source import PythonSource, parse
from studio.importers.sdk_agents import SdkAgents
from studio.importers.sdk_steps import Steps

_BLOCK = re.compile(r"^(\s*)(?:if|elif|else|while|for|try|except|finally|with|def|class|async)\b.*:\s*$")
_NULLABLE = re.compile(r"(?P<name>\w+)\s*:\s*(?P<type>\w+)\s*,\s*null\b")
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def read(detected: Detected, path: Path | None) -> Draft:
    """The steps of ``run_workflow``."""
    draft = Draft("openai-agent-builder")
    source = _parsed(detected.text, draft)
    reading = Reading(source, None, lambda node, scope, reading: None)
    reading.run()
    function = next(
        (
            s
            for s in source.tree.body
            if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef) and s.name == "run_workflow"
        ),
        None,
    )
    if function is None:
        raise ImportProblem("There is no run_workflow in this file.", "Export the workflow as Python again.")
    draft.name = _trace_name(function)
    kept = KeptCode(source, reading.module, draft)
    Steps(reading, draft, SdkAgents(draft, kept, source), reading.module).run(function)
    kept.finish()
    return draft


def _trace_name(function: ast.AST) -> str:
    for part in ast.walk(function):
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "trace" and part.args:
            given = part.args[0]
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                return given.value
    return ""


def _parsed(text: str, draft: Draft) -> PythonSource:
    """The module, with the faults of the exporter repaired; each repair is reported."""
    try:
        return parse(_with_types(text, draft))
    except ImportProblem as problem:
        repaired = _repaired(text, draft)
        if repaired == text:
            raise
        try:
            return parse(_with_types(repaired, draft))
        except ImportProblem:
            raise problem from None


def _repaired(text: str, draft: Draft) -> str:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        nullable = _NULLABLE.sub(lambda m: f"{m['name']}: {_TYPES.get(m['type'], m['type'])} | None = None", line)
        if nullable != line:
            name = re.search(r"def\s+(\w+)", line)
            lines[number] = line = nullable
            item = name.group(1) if name else f"line {number + 1}"
            draft.note("invalid_source", item, "A parameter was written as “type,null”.", line=number + 1)
        found = _BLOCK.match(line)
        if found and _has_no_body(lines, number, len(found.group(1))):
            lines[number] = f"{line.rstrip()} pass"
            draft.note(
                "invalid_source",
                f"line {number + 1}",
                "A block without a body was given an empty one.",
                line=number + 1,
            )
    return "\n".join(lines)


def _has_no_body(lines: list[str], number: int, indent: int) -> bool:
    for line in lines[number + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            return len(line) - len(line.lstrip()) <= indent
    return True


def _with_types(text: str, draft: Draft) -> str:
    """``string``, ``integer`` … as annotations are kept: they are names that nothing evaluates here."""
    found = sorted(set(re.findall(r"^\s+\w+\s*:\s*(string|integer|number|boolean)\s*$", text, re.MULTILINE)))
    for name in found:
        if not any(e.code == "invalid_source" and e.item == name for e in draft.entries):
            draft.note("invalid_source", name, f"The type {name} does not exist in Python; {_TYPES[name]} is meant.")
    return text
