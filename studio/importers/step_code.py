"""The code that does what a step of another program does: sets shared state, yields a text, saves a reply."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from studio.importers import powerfx

TEXT_OF_DATA = 'text = getattr(getattr(data, "agent_response", data), "text", data)'
"""What came in as a text, be it one, a message, or the reply of an agent."""
_MAF_MARK = re.compile(r"\{([^{}]*\b(?:Local|Topic|Global|System)\.\w[^{}]*)\}")
_JINJA_MARK = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_DIFY_MARK = re.compile(r"\{\{#([\w-]+(?:\.[\w-]+)+)#\}\}")
_ANY_MARK = re.compile(r"\{\{|\}\}|\{[^{}\s][^{}]*\}|\$\{")
RESULTS = ("output_text", "output_parsed")
"""What Agent Builder keeps of an answer."""
_SUMS = {"+=": "+", "-=": "-", "*=": "*", "/=": "/"}


@dataclass(slots=True)
class Code:
    """Python that is written for one step; ``needs`` are the functions that stand above it."""

    agents: Collection[str] = ()
    """Ids of agents; Python of Agent Builder asks for ``<id>_result["output_text"]``."""
    needs: set[str] = field(default_factory=set)
    asks_text: bool = False
    asks_for: set[str] = field(default_factory=set)
    """The keys of results of agents that are asked for."""

    def body(self, lines: Sequence[str]) -> str:
        """The whole body: the functions, what came in as ``text`` if it is asked for, the lines."""
        wanted = self.needs | ({"joined"} if "contains" in self.needs else set())
        functions = [source for name, source in powerfx.VALUE_HELPERS.items() if name in wanted]
        return "\n\n".join([*functions, "\n".join([*([TEXT_OF_DATA] if self.asks_text else []), *lines])])

    # ---- values

    def value(self, given: Any, lang: str) -> str | None:
        """The Python for a value: of a formula, of an expression of state, of plain data; None if it is something
        else."""
        if lang == "python":
            return self._python(given) if isinstance(given, str) else None
        if lang == "powerfx":
            made = powerfx.value_code(given) if isinstance(given, str) else None
            return None if made is None else self._reading(made)
        if isinstance(given, str) and given.startswith("=") and len(given) > 1:
            return self.value(given[1:].strip(), "powerfx") if lang == "inside" else None
        if isinstance(given, dict) and lang in ("", "inside"):
            parts = [(repr(name), self.value(inner, "inside")) for name, inner in given.items()]
            known = [f"{name}: {value}" for name, value in parts if value is not None]
            return f"{{{', '.join(known)}}}" if len(known) == len(parts) else None
        return repr(given) if _is_plain(given) else None

    def _python(self, given: str) -> str | None:
        asked = _Asked(self.agents)
        found = asked.read(given)
        if found is not None:
            self.asks_for |= asked.results
            self.needs |= {"at"} & _called(ast.parse(found))
        return found

    def _reading(self, made: str) -> str:
        reads = _Reads()
        tree = reads.visit(ast.parse(made, mode="eval"))
        called = _called(tree)
        self.needs |= called & set(powerfx.VALUE_HELPERS)
        self.asks_text |= any(isinstance(n, ast.Name) and n.id == "text" for n in ast.walk(tree))
        return ast.unparse(tree)

    # ---- texts

    def text(self, given: str, refers: Mapping[str, str], known: Collection[str]) -> str | None:
        """The Python for a text with marks that name keys of state; None if it has other marks, or a key that no step
        sets. ``refers``: ids of the source -> ids here."""
        parts: list[str] = []
        at = 0
        for found in sorted((*_MAF_MARK.finditer(given), *_DIFY_MARK.finditer(given)), key=lambda m: m.start()):
            key = self._key(found, refers, known)
            if key is None:
                return None
            parts += [repr(before)] if (before := given[at : found.start()]) else []
            parts.append(key)
            at = found.end()
        rest = given[at:]
        parts += [repr(rest)] if rest else []
        if any(_ANY_MARK.search(ast.literal_eval(part)) for part in parts if part[:1] in "'\""):
            return None
        self.needs.add("joined")
        return f"joined({', '.join(parts)})"

    def filled(self, template: str, arguments: Mapping[str, str], known: Collection[str]) -> str | None:
        """The Python for a Jinja template of names alone; ``arguments``: name -> key of state."""
        if not all(arguments.get(name) in known for name in _JINJA_MARK.findall(template)):
            return None
        return self.text(_JINJA_MARK.sub(lambda m: f"{{{{#{arguments[m[1]]}#}}}}", template), {}, known)

    def _key(self, found: re.Match[str], refers: Mapping[str, str], known: Collection[str]) -> str | None:
        if found.re is _MAF_MARK:
            return self.value(found.group(1), "powerfx")
        root, _, rest = found.group(1).partition(".")
        key = f"{refers.get(root, root)}.{rest}"
        return f"ctx.get_state({key!r})" if key in known else None


def assigned(
    code: Code, extra: Mapping[str, Any], initial: Mapping[str, Any], known: Collection[str]
) -> list[str] | None:
    """The lines that do what a step that sets variables does; None if one of its values is in another language."""
    action, lang = str(extra.get("action") or ""), str(extra.get("lang") or "")
    if action == "clearallvariables":
        return [f"ctx.set_state({key!r}, None)" for key in initial if key.startswith("Local.")]
    given = [e for e in extra.get("assignments") or () if isinstance(e, dict)] or [dict(extra)]
    lines: list[str] = []
    for entry in given:
        target = entry.get("variable") or entry.get("path") or entry.get("property")
        key = target.get("path") if isinstance(target, dict) else target
        if not isinstance(key, str) or not key:
            return None
        written = entry.get("value")
        if action == "resetvariable":
            value: str | None = repr(initial.get(key))
        elif action == "createconversation":
            lines, value = [*lines, "from uuid import uuid4"], "uuid4().hex"
        elif action:
            value = _declarative(code, written, lang, action)
        elif "operation" in extra or "operation" in entry:
            value = _dify(code, entry, key, known)
        else:
            value = code.value(written, lang) if lang or isinstance(written, bool | int | float) else None
        if value is None:
            return None
        lines += _setting(key, value)
    return lines


def _declarative(code: Code, written: Any, lang: str, action: str) -> str | None:
    if not lang and isinstance(written, str) and written.startswith("=") and len(written) > 1:
        written, lang = written[1:].strip(), "powerfx"  # in a list of assignments
    if not lang and action == "settextvariable" and isinstance(written, str):
        return code.text(written, {}, ())
    return "None" if written is None else code.value(written, lang)


def _dify(code: Code, entry: Mapping[str, Any], key: str, known: Collection[str]) -> str | None:
    operation, written = str(entry.get("operation") or "over-write"), entry.get("value")
    old = f"ctx.get_state({key!r})"
    if operation == "clear":
        return "None"
    if entry.get("constant") or operation == "set":
        value = code.value(written, "")
    else:
        value = f"ctx.get_state({written!r})" if written in known else None
    if value is None:
        return None
    if operation in ("append", "extend"):
        return f"[*({old} or ()), {value if operation == 'append' else f'*({value} or ())'}]"
    if operation in _SUMS:
        code.needs.add("number")
        return f"number({old}) {_SUMS[operation]} number({value})"
    return value if operation in ("over-write", "overwrite", "set") else None


def _setting(key: str, value: str) -> list[str]:
    """Sets a key, or a field of the record that is kept under it (``Local.Record.Field``)."""
    root, *parts = key.split(".")
    if root not in ("Local", "Topic", "Global") or len(parts) != 2:
        return [f"ctx.set_state({key!r}, {value})"]
    whole = f"{root}.{parts[0]}"
    return [f"ctx.set_state({whole!r}, {{**(ctx.get_state({whole!r}) or {{}}), {parts[1]!r}: {value}}})"]


def _is_plain(value: Any) -> bool:
    """Data without a formula in it."""
    if isinstance(value, dict):
        return all(_is_plain(inner) for inner in value.values())
    if isinstance(value, list):
        return all(_is_plain(inner) for inner in value)
    return not isinstance(value, str) or not (value.startswith("=") or _ANY_MARK.search(value))


# ------------------------------------------------------------------------------------------- expressions


class _Reads(ast.NodeTransformer):
    """``state["key"]`` asks ``ctx``; a field of what is there is None if it is not."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "state":
            return ast.Call(ast.Attribute(ast.Name("ctx"), "get_state"), [node.slice], [])
        return ast.Call(ast.Name("at"), [self.visit(node.value), node.slice], [])


def state_expression(code: str) -> str | None:
    """A Python expression of literals, operators and ``state["key"]``, asking ``ctx`` for the keys; None for more."""
    return _Asked(()).read(code)


class _Asked(ast.NodeTransformer):
    """``other``: whether there is something else than literals, operators, keys of ``state`` and results of agents."""

    def __init__(self, agents: Collection[str]) -> None:
        self._agents = agents
        self.other = False
        self.results: set[str] = set()

    def read(self, code: str) -> str | None:
        """The expression that asks ``ctx``; None for more."""
        try:
            tree = ast.parse(code, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        found = self.visit(tree)
        return None if self.other else ast.unparse(found)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and isinstance(key, str):
            agent = node.value.id.removesuffix("_result")
            if node.value.id == "state":
                return _asking(key)
            if agent in self._agents and agent != node.value.id and key in RESULTS:
                self.results.add(f"{agent}.{key}")
                return _asking(f"{agent}.{key}")
        elif isinstance(node.value, ast.Subscript) and isinstance(key, str | int):
            return ast.Call(ast.Name("at"), [self.visit(node.value), node.slice], [])
        self.other = True
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Constant, ast.operator)
        kept = (ast.unaryop, ast.boolop, ast.cmpop, ast.List, ast.Dict, ast.Tuple, ast.Load)
        if not isinstance(node, (*allowed, *kept, ast.JoinedStr, ast.FormattedValue)):
            self.other = True
        return super().generic_visit(node)


def _asking(key: str) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("ctx"), "get_state"), [ast.Constant(key)], [])


def _called(tree: ast.AST) -> set[str]:
    """The names of the functions that are called."""
    calls = (part.func for part in ast.walk(tree) if isinstance(part, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}
