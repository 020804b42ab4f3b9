"""Code of an imported program that nodes, tools and conditions need: kept as text, with the definitions it uses."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Sequence

from studio.document.conditions import Condition
from studio.importers.draft import Draft, Rule
from studio.importers.py_values import Function, Imported, Instance, Scope, Unknown, Value
from studio.importers.python_source import PythonSource
from studio.importers.tidy import tidied

MODULE = "imported"
Def = ast.FunctionDef | ast.AsyncFunctionDef


class KeptCode:
    """Collects definitions of one module in source order into the module ``imported`` of the document."""

    def __init__(self, source: PythonSource, scope: Scope, draft: Draft, others: Sequence[PythonSource] = ()) -> None:
        self._source = source
        self._scope = scope
        self._draft = draft
        self._definitions: dict[str, list[ast.stmt]] = {}
        self._imports: dict[str, ast.Import | ast.ImportFrom] = {}
        self._wanted: set[str] = set()
        self._sources = [source, *others]
        for module in self._sources:
            for statement in module.tree.body:
                self._collect(statement)

    def _collect(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    self._imports[alias.asname or alias.name.partition(".")[0]] = statement
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._definitions.setdefault(name, []).append(statement)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for target in targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            self._definitions.setdefault(part.id, []).append(statement)
            case ast.Try() | ast.If():
                for inner in statement.body:
                    self._collect(inner)

    # --------------------------------------------------------------------------------------------- what is used

    def prelude(self, names: Iterable[str]) -> str:
        """Import lines that give these names to a body; what they need is kept."""
        lines: list[str] = []
        own: list[str] = []
        for name in sorted(set(names)):
            if name in self._imports and (line := self._import_line(name)):
                lines.append(line)
            elif self._is_kept(name):
                self._want(name)
                own.append(name)
        if own:
            lines.append(f"from {MODULE} import {', '.join(own)}")
        return "".join(f"{line}\n" for line in dict.fromkeys(filter(None, lines))) + ("\n" if any(lines) else "")

    def _import_line(self, name: str) -> str:
        statement = self._imports[name]
        if isinstance(statement, ast.ImportFrom) and self._is_sibling(statement):
            return ""
        alias = next(a for a in statement.names if (a.asname or a.name.partition(".")[0]) == name)
        written = alias.name + (f" as {alias.asname}" if alias.asname else "")
        if isinstance(statement, ast.Import):
            return f"import {written}"
        return f"from {'.' * statement.level}{statement.module or ''} import {written}"

    def _is_sibling(self, statement: ast.ImportFrom) -> bool:
        """Whether an import is about a module whose definitions are kept here."""
        return (statement.module or "").rpartition(".")[2] in {s.name for s in self._sources[1:]}

    def _is_kept(self, name: str) -> bool:
        if name not in self._definitions or name in self._draft.types:
            return False
        return not isinstance(self._scope.names.get(name), Instance | Unknown)

    def _want(self, name: str) -> None:
        if name in self._wanted:
            return
        self._wanted.add(name)
        for statement in self._definitions.get(name, ()):
            for used in free_names(statement):
                if used != name and (used in self._imports or self._is_kept(used)):
                    self._want(used)

    def finish(self) -> None:
        """Puts what is used into the document."""
        imports = sorted(line for name in self._wanted if name in self._imports and (line := self._import_line(name)))
        wanted = {id(s): s for name in self._wanted for s in self._definitions.get(name, ())}
        found = [s for module in self._sources[::-1] for s in module.tree.body if id(s) in wanted]
        if found:
            parts = [_import_block(imports)] if imports else []
            parts += [self._definition(s) for s in found]
            self._draft.modules[MODULE] = "\n\n\n".join(parts) + "\n"

    def _definition(self, statement: ast.stmt) -> str:
        """A definition with its decorators, those of the framework left out."""
        code = self._source.code(statement)
        kept = [d for d in getattr(statement, "decorator_list", []) if not _is_framework(d)]
        return "".join(f"@{self._source.segment(d)}\n" for d in kept) + code

    # ------------------------------------------------------------------------------------------------- bodies

    def body(self, function: Def, first: str = "") -> str:
        """The statements of a handler as the body of a node: ``data`` and ``ctx`` under the names they had, if it asks
        for them."""
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
        named = {part.id for s in function.body for part in ast.walk(s) if isinstance(part, ast.Name)}
        renames = [
            f"{there} = {here}\n"
            for there, here in zip(parameters, ("data", "ctx"), strict=False)
            if there != here and there in named
        ]
        used = set().union(*(free_names(s) for s in function.body)) - set(parameters)
        return f"{self.prelude(used)}{first}{''.join(renames)}{self._source.body(function)}"

    def tool(self, function: Function) -> str:
        """Keeps a function as a tool; ``module:function``."""
        name = getattr(function.node, "name", "")
        self._want(name)
        return f"{MODULE}:{name}"

    def rule(self, value: Value | None) -> Rule:
        """The rule of an edge from a function of the program, an expression, or something from elsewhere."""
        match value:
            case Function(node=ast.FunctionDef() | ast.AsyncFunctionDef() as node):
                call = f"{'await ' if isinstance(node, ast.AsyncFunctionDef) else ''}{node.name}(data)"
                return self._translated(node.name, call, {node.name})
            case Function(node=ast.Lambda() as written):
                text = self._source.segment(written)
                return self._translated(text, f"({ast.unparse(written)})(data)", free_names(written))
            case None:
                return Rule(None, None, "unknown")
        where = value.node
        text = value.path if isinstance(value, Imported) else self._source.segment(where) if where else value.name
        return Rule(text or value.name, "python", "kept")

    def _translated(self, text: str, call: str, names: Iterable[str]) -> Rule:
        body = f"{self.prelude(names)}result = {call}"
        return Rule(text, "python", "translated", Condition(kind="python", body=body))

    def selection(self, value: Value | None, targets: list[str]) -> Rule:
        """The rule of a selection: each target is asked whether it is among those that the function names."""
        found = self.rule(value)
        if found.condition is None:
            return found
        last = found.condition.body.rpartition("result = ")
        call = last[2].removesuffix("(data)") + tidied(f"(data, {targets!r})")
        return Rule(
            found.text,
            found.lang,
            found.state,
            Condition(kind="python", body=f"{last[0]}result = {{target}} in {call}"),
        )


_FRAMEWORK = ("tool", "ai_function", "function_tool", "executor", "handler", "input_guardrail", "output_guardrail")


def _import_block(lines: Iterable[str]) -> str:
    """Imports in the usual order: the standard library first, ``import`` before ``from``, one line a module."""
    blocks: list[dict[str, list[str]]] = [{}, {}]
    for line in sorted(lines, key=lambda line: (line.startswith("from "), line)):
        head, _, name = line.rpartition(" import ") if line.startswith("from ") else (line, "", "")
        module = line.split()[1].partition(".")[0]
        blocks[module not in sys.stdlib_module_names].setdefault(head, []).append(name)
    written = [[f"{head} import {', '.join(n)}" if n[0] else head for head, n in block.items()] for block in blocks]
    return "\n\n".join("\n".join(block) for block in written if block)


def _is_framework(decorator: ast.expr) -> bool:
    """Whether a decorator only tells the framework of the program about a function."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) in _FRAMEWORK


def free_names(node: ast.AST) -> set[str]:
    """The names that a piece of code reads and does not define itself."""
    read: set[str] = set()
    made: set[str] = set()
    left_out = {
        id(inner)
        for decorator in getattr(node, "decorator_list", [])
        if _is_framework(decorator)
        for inner in ast.walk(decorator)
    }
    for part in ast.walk(node):
        if id(part) in left_out:
            continue
        if isinstance(part, ast.Name):
            (made if isinstance(part.ctx, ast.Store) else read).add(part.id)
        elif isinstance(part, ast.arg):
            made.add(part.arg)
        elif isinstance(part, Def | ast.ClassDef) and part is not node:
            made.add(part.name)
    return {name for name in read - made if not hasattr(builtins, name)}
