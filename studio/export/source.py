"""Pieces of Python source: literals, regions of user code, imports of sibling modules."""

from __future__ import annotations

import ast
import io
import re
import sys
import textwrap
import tokenize
from collections.abc import Collection
from dataclasses import dataclass, field

from studio.export import pretty
from studio.export.pretty import INDENT

FRAMEWORK = "agent_framework"
SUPPORT = ".support"
TURNS = ".turn_token_host"
AGENT_SUPPORT = ".agent_support"
RUNNER = ".runner"
SHARED = (RUNNER, AGENT_SUPPORT, SUPPORT, TURNS, ".hosted_agent")
"""Modules that only the outermost package has; one may use those behind it."""


def one_line(text: str) -> str:
    """A text for a docstring or heading: one line, without what would end the docstring or cannot stand in source."""
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable() or ord(c) > 127)
    return shown.replace("\\", "").replace('"', "'")


def sentence(text: str) -> str:
    """A text as a docstring: it ends with a full stop."""
    stripped = text.strip()
    return stripped if not stripped or stripped[-1] in ".!?:…" else f"{stripped}."


def literal(value: object, depth: int = 0, before: str = "", after: str = "") -> str:
    """A JSON value as a Python literal, broken into lines below ``depth`` indents where it is long."""
    return pretty.laid_out(pretty.value(value), depth, before, after)


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
    """User code between its markers. Copied as it is, but for its indent. With ``depth`` it stands in a function, below
    a line of ours; a definition at its begin or end is kept apart from what is around it, as a formatter does."""
    pad = INDENT * depth
    begins, ends = _definitions(code, nested=depth > 0)
    before = "\n" if depth and begins else ""
    apart = ("\n" if depth else "\n\n") if ends else ""
    return f"{before}{pad}# region user {owner}\n{indented(code.rstrip(), depth)}\n{apart}{pad}# endregion"


def _definitions(code: str, nested: bool) -> tuple[bool, bool]:
    """Whether code begins and ends with a function or class; ``nested``: the end may be inside of a statement."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return False, False
    if not tree.body:
        return False, False
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    inside = ast.walk(tree) if nested else tree.body
    ends = any(isinstance(node, kinds) and node.end_lineno == tree.body[-1].end_lineno for node in inside)
    return isinstance(tree.body[0], kinds), ends


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
    """A module that is being written: docstring, imports, blocks. ``depth``: of its package below the outer one, which
    has the modules :data:`SHARED` for all."""

    doc: str
    depth: int = 0
    blocks: list[str] = field(default_factory=list)
    _plain: set[str] = field(default_factory=set)
    _names: dict[str, set[str]] = field(default_factory=dict)

    def need(self, module: str, *names: str) -> None:
        """Imports a module, or names of it (``need("agent_framework", "Agent")``)."""
        if names:
            self._names.setdefault(module, set()).update(names)
        else:
            self._plain.add(module)

    def taken_from(self, module: str) -> frozenset[str]:
        """The names that are imported from a module."""
        return frozenset(self._names.get(module, ()))

    @property
    def sources(self) -> frozenset[str]:
        """The modules that names are imported from."""
        return frozenset(self._names)

    def constant(self, name: str, text: str, room: int = 0) -> tuple[str, str]:
        """A text as an expression, and the definition in front of the block that uses it ("" for a short text).
        ``room``: columns beside the expression, indents too."""
        short = pretty.readable_text(text, 0, room)
        return (short, "") if short is not None else (name, f"{name} = {pretty.text_block(text)}\n\n\n")

    def text(self, first_lines: str = "") -> str:
        """The source: imports sorted, blocks two lines apart."""
        parts = [f"{first_lines}{docstring(self.doc)}"] if self.doc or first_lines else []
        groups = [self._group(g) for g in ("standard", "installed", "own")]
        parts += [g for g in groups if g]
        head = "\n\n".join(parts)
        first = self.blocks[0] if self.blocks else ""
        code = next((line for line in first.split("\n") if not line.startswith("#")), "")
        definition = code.startswith(("def ", "class ", "async ", "@"))
        between = "\n\n\n" if definition else "\n\n"
        return head + between * bool(first) + "\n\n\n".join(self.blocks) + "\n"

    def _group(self, wanted: str) -> str:
        lines = [f"import {m}" for m in sorted(self._plain) if _origin(m) == wanted]
        written: dict[str, set[str]] = {}
        for module, names in self._names.items():
            shared = self.depth and module in SHARED
            written.setdefault("." * self.depth + module if shared else module, set()).update(names)
        for module in sorted(written, key=_module_order):
            if _origin(module) == wanted and written[module]:
                lines.append(_from_import(module, sorted(written[module], key=_import_order)))
        return "\n".join(lines)


def docstring(text: str, depth: int = 0) -> str:
    """A docstring: the first sentence on the first line, what follows wrapped below it."""
    pad = pretty.INDENT * depth
    first, *rest = [line for part in text.strip().split("\n") for line in _wrapped(part, depth)] or [""]
    if not rest:
        closing = " " if first.endswith(("\\",)) else ""
        return f'{pad}"""{first}{closing}"""'
    body = "\n".join(pad + line if line else "" for line in rest)
    return f'{pad}"""{first}\n{body}\n{pad}"""'


def _wrapped(line: str, depth: int) -> list[str]:
    shown = one_line(line)
    room = pretty.WIDTH - len(pretty.INDENT) * depth - 6
    return textwrap.wrap(shown, room, break_long_words=False, break_on_hyphens=False) or [""]


def _origin(module: str) -> str:
    if module.startswith("."):
        return "own"
    root = module.split(".")[0]
    return "installed" if root not in sys.stdlib_module_names else "standard"


def _module_order(module: str) -> tuple[int, list[str | int] | str]:
    """Relative imports from the furthest package to the own one."""
    level = len(module) - len(module.lstrip("."))
    return (-level, module.lstrip(".").lower())


def _import_order(name: str) -> tuple[int, list[tuple[int, int, str]], str]:
    """Constants, classes, then the rest; numbers by their value."""
    member = name.partition(" as ")[0]
    kind = 0 if len(member) > 1 and member.isupper() else 1 if member[:1].isupper() else 2
    parts = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", member.lower()) if p]
    return (kind, parts, member)


def _from_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= pretty.WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"{pretty.INDENT}{name},\n" for name in names) + ")"
