"""Pieces of Python source: literals, regions of user code, imports of sibling modules."""

from __future__ import annotations

import ast
import io
import json
import keyword
import re
import tokenize
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

INDENT = "    "
_WIDTH = 96
_LINE = 88
"""Imports are broken where common formatters break them."""


def identifier(text: str, fallback: str = "workflow") -> str:
    """A name as a lower-case Python identifier: for packages, modules, functions."""
    name = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")
    if not name or name[0].isdigit():
        name = f"{fallback}_{name}".strip("_")
    return f"{name}_" if keyword.iskeyword(name) else name


def class_name(node_id: str) -> str:
    """``carry_out`` -> ``CarryOut``."""
    return "".join(part[:1].upper() + part[1:] for part in node_id.split("_") if part) or "Node"


def one_line(text: str) -> str:
    """A text for a docstring or heading: one line, without what would end the docstring or cannot stand in source."""
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable() or ord(c) > 127)
    return shown.replace("\\", "").replace('"', "'")


def string(text: str) -> str:
    """A string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def long_string(text: str, depth: int = 0) -> str:
    """A string literal; a text of several lines becomes one literal a line, joined in parentheses."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2 and len(text) < _WIDTH:
        return string(text)
    pad, end = INDENT * (depth + 1), INDENT * depth
    pieces = [piece for line in lines for piece in _split(line)]
    return "(\n" + "".join(f"{pad}{string(piece)}\n" for piece in pieces) + f"{end})"


def _split(line: str) -> Iterable[str]:
    while len(line) > _WIDTH:
        cut = line.rfind(" ", 0, _WIDTH) + 1 or _WIDTH
        yield line[:cut]
        line = line[cut:]
    yield line


def literal(value: object, depth: int = 0) -> str:
    """A JSON value as a Python literal in double quotes, broken into lines below ``depth`` indents where it is long."""
    short = _flat(value)
    if len(short) + len(INDENT) * depth <= _WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return short
    pad, end = INDENT * (depth + 1), INDENT * depth
    if isinstance(value, dict):
        items = [f"{pad}{_flat(k)}: {literal(v, depth + 1)},\n" for k, v in value.items()]
        return "{\n" + "".join(items) + end + "}"
    items = [f"{pad}{literal(v, depth + 1)},\n" for v in value]
    opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
    return f"{opening}\n" + "".join(items) + end + closing


def _flat(value: object) -> str:
    match value:
        case str():
            return string(value)
        case dict():
            return "{" + ", ".join(f"{_flat(k)}: {_flat(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(_flat(v) for v in value) + "]"
        case tuple():
            return "(" + ", ".join(_flat(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def indented(text: str, depth: int) -> str:
    """Code moved to the right by ``depth`` indents; lines inside a string literal stay as they are."""
    inside = _lines_inside_strings(text)
    pad = INDENT * depth
    return "\n".join(
        line if number in inside or not line.strip() else pad + line
        for number, line in enumerate(text.splitlines(), start=1)
    )


def _lines_inside_strings(text: str) -> set[int]:
    found: set[int] = set()
    start = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "FSTRING_START":
                start = token.start[0]
            elif kind == "FSTRING_END":
                found.update(range(start + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING:
                found.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def region(owner: str, code: str, depth: int = 0) -> str:
    """User code between its markers. Copied as it is, but for its indent."""
    pad = INDENT * depth
    return f"{pad}# region user {owner}\n{indented(code.rstrip(), depth)}\n{pad}# endregion"


def with_relative_imports(code: str, modules: Collection[str]) -> str:
    """Imports of the document's modules as imports within one package: ``from . import tools``."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code
    lines = code.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in modules:
            at = node.lineno - 1
            lines[at] = lines[at].replace(f"from {node.module}", f"from .{node.module}", 1)
        elif isinstance(node, ast.Import) and len(node.names) == 1 and node.names[0].name in modules:
            at = node.lineno - 1
            lines[at] = lines[at].replace("import", "from . import", 1)
    return "\n".join(lines) + ("\n" if code.endswith("\n") else "")


def is_async(body: str) -> bool:
    """Whether statements use ``await`` outside of functions of their own."""
    try:
        tree = ast.parse(f"async def body():\n{indented(body, 1) or INDENT + 'pass'}")
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in ast.walk(tree))


@dataclass(slots=True)
class Module:
    """A module that is being written: docstring, imports, blocks."""

    doc: str
    blocks: list[str] = field(default_factory=list)
    _plain: set[str] = field(default_factory=set)
    _names: dict[str, set[str]] = field(default_factory=dict)

    def need(self, module: str, *names: str) -> None:
        """Imports a module, or names of it (``need("agent_framework", "Agent")``)."""
        if names:
            self._names.setdefault(module, set()).update(names)
        else:
            self._plain.add(module)

    def text(self, first_lines: str = "") -> str:
        """The source: imports sorted, blocks two lines apart."""
        parts = [f'{first_lines}"""{self.doc}"""']
        groups = [self._group(g) for g in ("standard", "installed", "own")]
        parts += [g for g in groups if g]
        head = "\n\n".join(parts)
        first = self.blocks[0] if self.blocks else ""
        between = "\n\n\n" if first.startswith(("#", "def ", "class ", "async ", "@")) else "\n\n"
        return head + between * bool(first) + "\n\n\n".join(self.blocks) + "\n"

    def _group(self, wanted: str) -> str:
        lines = [f"import {m}" for m in sorted(self._plain) if _origin(m) == wanted]
        for module in sorted(self._names, key=lambda m: (m != ".", m)):
            if _origin(module) == wanted:
                lines.append(_from_import(module, sorted(self._names[module], key=_import_order)))
        return "\n".join(lines)


def _origin(module: str) -> str:
    if module.startswith("."):
        return "own"
    root = module.split(".")[0]
    return "installed" if root in ("agent_framework", "typing_extensions") else "standard"


def _import_order(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def _from_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _LINE:
        return line
    return f"from {module} import (\n" + "".join(f"{INDENT}{name},\n" for name in names) + ")"
