"""The steps of a program with agents: runs, decisions, loops, state -> nodes and edges."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable

from studio.importers.conditions import NEXT_ITEM, answer_is
from studio.importers.draft import Case, Draft, DraftEdge, DraftNode, Rule
from studio.importers.flow import End, Flow
from studio.importers.py_reading import Reading
from studio.importers.py_values import Instance, Scope
from studio.importers.sdk_agents import SdkAgents
from studio.importers.sdk_rules import Names, literal, literals
from studio.importers.tails import merge

_RUNS = ("run", "run_streamed", "run_sync")
Def = ast.FunctionDef | ast.AsyncFunctionDef


class Steps:
    """One walk over the statements of a function."""

    def __init__(self, reading: Reading, draft: Draft, agents: SdkAgents, scope: Scope) -> None:
        self._source = reading.source
        self._reading = reading
        self._draft = draft
        self._agents = agents
        self._scope = scope
        self._flow = Flow(draft)
        self._names = Names()
        self._numbers: Counter[str] = Counter()
        self._made: dict[str, str] = {}
        """Variable -> the node whose result it is and that was made last on this way."""
        self._last = ""
        self._breaks: list[list[End]] = []
        self._heads: list[str] = []
        self._history = True
        self._input: set[str] = set()

    def run(self, function: Def) -> None:
        """All statements of the function."""
        self._input = {a.arg for a in function.args.args}
        self._sequence(function.body)
        merge(self._draft)
        for key in self._names.used:
            node, _, _ = key.partition(".")
            self._draft.variable(key)
            if node in self._draft.nodes and self._draft.nodes[node].kind == "agent":
                self._draft.nodes[node].data.setdefault("save_output", key)
        self._flow.finish()

    def _number(self, name: str) -> str:
        self._numbers[name] += 1
        return f"{name}_{self._numbers[name]}"

    def _node(self, node_id: str, kind: str, label: str, statement: ast.AST, **data: object) -> DraftNode:
        kept = {k: v for k, v in data.items() if v is not None}
        node = DraftNode(self._draft.free(node_id), kind, label, kept, line=getattr(statement, "lineno", None))
        self._draft.items_in += 1
        return node

    # -------------------------------------------------------------------------------------------- statements

    def _sequence(self, body: Iterable[ast.stmt]) -> None:
        statements = list(body)
        for number, statement in enumerate(statements):
            following = statements[number + 1] if number + 1 < len(statements) else None
            self._statement(statement, following)

    def _statement(self, statement: ast.stmt, following: ast.stmt | None) -> None:
        match statement:
            case ast.With() | ast.AsyncWith():
                self._sequence(statement.body)
            case ast.Try():
                self._sequence([*statement.body, *statement.orelse, *statement.finalbody])
            case ast.Assign(targets=[target]):
                self._assign(target, statement.value, statement, following)
            case ast.AnnAssign(value=ast.expr() as value):
                self._assign(statement.target, value, statement, following)
            case ast.AugAssign(target=ast.Subscript() as target):
                combined = ast.BinOp(target, statement.op, statement.value)
                self._assign(target, ast.copy_location(combined, statement.value), statement, following)
            case ast.Expr(value=value):
                self._expression(value, statement)
            case ast.If():
                self._if(statement)
            case ast.While():
                self._while(statement)
            case ast.For() | ast.AsyncFor():
                self._for(statement)
            case ast.Return():
                self._return(statement)
            case ast.Break() if self._breaks:
                self._breaks[-1] += self._flow.ends
                self._flow.ends = []
            case ast.Continue() if self._heads:
                self._flow.jump(self._heads[-1])
            case ast.Raise():
                self._flow.ends = []

    def _assign(self, target: ast.expr, value: ast.expr, statement: ast.stmt, following: ast.stmt | None) -> None:
        inner = value.value if isinstance(value, ast.Await) else value
        names = [target] if isinstance(target, ast.Name) else getattr(target, "elts", [])
        name = target.id if isinstance(target, ast.Name) else ""
        if self._is_gather(inner):
            self._gather(inner, names, statement)
        elif self._is_run(inner):
            self._run(inner, name, statement)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == "state":
            self._set(target, value, statement)
        elif name == "state":
            for key, initial in literals(value).items():
                self._draft.variable(key, initial)
        elif name:
            self._plain(name, value, statement, following)

    def _plain(self, name: str, value: ast.expr, statement: ast.stmt, following: ast.stmt | None) -> None:
        """An assignment of something that is no run."""
        text = self._source.segment(value)
        if name == "end_result":
            self._end(value, statement, following)
        elif "run_and_apply_guardrails(" in text or "run_guardrails(" in text:
            self._guardrail(name, value, statement)
        elif "vector_stores.search" in text or "vectorStores.search" in text:
            self._unsupported(name, statement, "File search in a hosted store")
        elif self._belongs_to_run(name, value):
            self._names.results[name] = self._made[self._last_key(value)]
            self._made[name] = self._names.results[name]
        elif name.endswith("_result") and isinstance(value, ast.Dict):
            base = name.removesuffix("_result")
            node = self._node(base, "transform", base, statement, value=text, expression_lang="python")
            self._flow.step(node)
            self._names.results[name] = self._made[name] = self._last = node.id
        else:
            self._names.aliases[name] = value

    def _last_key(self, value: ast.expr) -> str:
        return next((n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in self._made), "")

    def _belongs_to_run(self, name: str, value: ast.expr) -> bool:
        """``x_result = {"output_text": x_result_temp…}`` behind the run: the result under another name."""
        key = self._last_key(value)
        return bool(key) and key.endswith("_temp") and name == key.removesuffix("_temp")

    def _expression(self, value: ast.expr, statement: ast.stmt) -> None:
        inner = value.value if isinstance(value, ast.Await) else value
        if self._is_gather(inner):
            self._gather(inner, [], statement)
        elif self._is_run(inner):
            self._run(inner, "", statement)

    # -------------------------------------------------------------------------------------------------- runs

    def _is_run(self, value: ast.expr) -> bool:
        return (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in _RUNS
            and isinstance(value.func.value, ast.Name)
            and value.func.value.id in ("Runner", "runner")
        )

    def _is_gather(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call):
            return False
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return called == "gather" and bool(value.args) and all(self._is_run(a) for a in value.args)

    def _agent_node(self, call: ast.expr, statement: ast.stmt) -> DraftNode:
        assert isinstance(call, ast.Call)
        given = {k.arg: k.value for k in call.keywords}
        which = call.args[0] if call.args else given.get("starting_agent")
        agent = self._reading.value(which, self._scope) if which is not None else None
        base = which.id if isinstance(which, ast.Name) else agent.name if agent and agent.name else "agent"
        node = self._node(base, "agent", base, statement)
        shown = call.args[1] if len(call.args) > 1 else given.get("input")
        whole = shown is not None and "history" in ast.unparse(shown)
        if isinstance(agent, Instance):
            node.label = self._agents.name(agent)
            node.data.update({k: v for k, v in self._agents.data(agent, node.id).items() if v is not None})
            if isinstance(agent.owner, Instance):
                node.data.setdefault("agent", self._agents.name(agent))
        else:
            text = f"The agent {self._source.segment(which) if which is not None else base} is not defined in the file."
            self._draft.note("agent_reference", node.id, text, line=node.line)
        node.data["context"] = "full" if whole else "last_agent"
        if shown is not None:
            node.data["input_messages"] = self._source.segment(shown)
        if not whole and not (isinstance(shown, ast.Name) and shown.id in self._input):
            text = "The program gives this agent a text of its own; here it sees the last reply."
            self._draft.note("semantics_differ", node.id, text, line=node.line)
        return node

    def _run(self, call: ast.expr, name: str, statement: ast.stmt) -> None:
        node = self._flow.step(self._agent_node(call, statement))
        self._last = node.id
        if name:
            self._made[name] = self._names.results[name] = node.id
            self._made[name.removesuffix("_temp")] = node.id

    def _gather(self, call: ast.expr, names: list[ast.expr], statement: ast.stmt) -> None:
        assert isinstance(call, ast.Call)
        source = self._single_source(statement)
        runs = [self._draft.add(self._agent_node(part, statement)) for part in call.args]
        for target, node in zip(names, runs, strict=False):
            if isinstance(target, ast.Name):
                self._names.results[target.id] = node.id
        self._draft.edges.append(DraftEdge("fan_out", [source], [n.id for n in runs]))
        join = self._draft.add(self._node(self._number("gather"), "transform", "gather", statement, template="{text}"))
        self._draft.edges.append(DraftEdge("fan_in", [n.id for n in runs], [join.id]))
        self._flow.ends = [End(join.id)]
        self._last = join.id

    def _single_source(self, statement: ast.stmt) -> str:
        """The node that a fan-out leaves; a branch gets a node that passes its input on."""
        ends = self._flow.ends
        if len(ends) == 1 and ends[0].node is not None and ends[0].case is None:
            return ends[0].node
        case = ends[0].case.id if len(ends) == 1 and ends[0].case else self._number("fork")
        name = f"{case}__pass"
        self._flow.step(DraftNode(self._draft.free(name), "pass", name, added=True, line=statement.lineno))
        return self._flow.ends[0].node or name

    # ------------------------------------------------------------------------------------------ other steps

    def _set(self, target: ast.Subscript, value: ast.expr, statement: ast.stmt) -> None:
        key = literal(target.slice)
        name = key if isinstance(key, str) else "state"
        self._draft.variable(name)
        written = self._source.segment(statement.value) if isinstance(statement, ast.Assign) else ast.unparse(value)
        wanted = self._number(f"set_{re.sub(r'[^A-Za-z0-9_]', '_', name)}")
        self._flow.step(
            self._node(wanted, "set_variable", wanted, statement, variable=name, value=written, lang="python")
        )

    def _end(self, value: ast.expr, statement: ast.stmt, following: ast.stmt | None) -> None:
        wanted = self._number("end")
        texts = [v for v in literals(value).values() if isinstance(v, str)]
        label = texts[0] if len(texts) == 1 else wanted
        self._flow.step(self._node(wanted, "output", label, statement, value=self._source.segment(value)))
        self._add_output(self._flow.ends[0].node or wanted)
        if isinstance(following, ast.Return):
            self._made["end_result"] = self._last = self._flow.ends[0].node or wanted

    def _add_output(self, node_id: str) -> None:
        known = self._draft.outputs if isinstance(self._draft.outputs, tuple) else ()
        self._draft.outputs = tuple(dict.fromkeys((*known, node_id)))

    def _return(self, statement: ast.Return) -> None:
        wanted = self._number("return")
        value = statement.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None) and self._flow.ends:
            root = value.value if isinstance(value, ast.Attribute) else value
            name = root.id if isinstance(root, ast.Name) else ""
            if name and self._made.get(name) == self._last and self._last and self._at(self._last):
                self._add_output(self._last)
            else:
                self._return_value(wanted, value, statement)
        self._flow.ends = []

    def _at(self, node_id: str) -> bool:
        """Whether what is open now is only the way out of this node."""
        return all(end.node == node_id and end.case is None for end in self._flow.ends)

    def _return_value(self, wanted: str, value: ast.expr, statement: ast.stmt) -> None:
        text = self._source.segment(value)
        known = literal(value)
        label = known if isinstance(known, str) and known else text
        node = self._flow.step(self._node(wanted, "output", label, statement, value=text))
        if not isinstance(value, ast.Name | ast.Constant):
            self._draft.note(
                "code_kept", node.id, "The value is calculated by code, which is kept as text.", line=node.line
            )
        self._add_output(node.id)

    def _unsupported(self, name: str, statement: ast.stmt, what: str) -> None:
        base = name.removesuffix("_result")
        node = self._node(base, "placeholder", f"{what}: {base}", statement)
        node.source, node.lang = self._source.segment(statement), "python"
        self._flow.step(node)
        self._names.results[name] = self._made[name] = self._last = node.id
        self._draft.note("unsupported_item", node.id, f"{what} has no counterpart here.", line=node.line)

    def _guardrail(self, name: str, value: ast.expr, statement: ast.stmt) -> None:
        base = name.removesuffix("_result")
        call = value.value if isinstance(value, ast.Await) else value
        config = ""
        kinds: list[str] = []
        for argument in call.args if isinstance(call, ast.Call) else ():
            if isinstance(argument, ast.Name) and argument.id in self._scope.names:
                found = self._scope.names[argument.id]
                if found.node is not None and "guardrails" in (text := self._source.segment(found.node)):
                    config = f"{argument.id} = {text}"
                    kinds = re.findall(r"""["']name["']\s*:\s*["']([^"']+)["']""", text)
        node = self._node(base, "placeholder", f"Guardrails: {', '.join(kinds) or base}", statement)
        node.source = f"{config}\n{self._source.segment(statement)}".strip()
        node.lang = "python"
        self._flow.step(node)
        self._names.results[name] = self._made[name] = self._last = node.id
        self._draft.note("unsupported_item", node.id, "Guardrails have no counterpart here.", line=node.line)

    # ------------------------------------------------------------------------------------ decisions and loops

    def _if(self, statement: ast.If) -> None:
        branches = _branches(statement)
        test = branches[0][0]
        asked = self._approval(test)
        guard = self._guarded(test)
        if asked is not None:
            node_id = self._ask(asked, statement)
            rules = [Rule("approved", "answer", "translated", answer_is("approved"))]
            negated = isinstance(test, ast.UnaryOp)
        elif guard is not None:
            node_id, negated = guard, False
            rules = [Rule(self._source.segment(statement.test), "python", "kept")]
        else:
            wanted = self._number("if")
            node_id = self._flow.step(self._node(wanted, "switch", wanted, statement)).id
            rules = [self._rule(t, node_id) for t, _ in branches if t is not None]
            negated = False
        self._branches(node_id, branches, rules, negated)

    def _rule(self, test: ast.expr, node_id: str) -> Rule:
        rule = self._names.rule(test, self._source.segment(test))
        if rule.state == "kept":
            text = f"This condition is kept as text: {rule.text}"
            self._draft.note("expression_kept", node_id, text, line=test.lineno)
        return rule

    def _branches(
        self, node_id: str, branches: list[tuple[ast.expr | None, list[ast.stmt]]], rules: list[Rule], negated: bool
    ) -> None:
        edge = DraftEdge("switch", [node_id], default=Case(node_id))
        self._draft.edges.append(edge)
        bodies = [body for test, body in branches if test is not None]
        rest = next((body for test, body in branches if test is None), [])
        if negated:
            bodies, rest = [rest, *bodies[1:]], bodies[0]
        open_ends: list[End] = []
        made, last = dict(self._made), self._last
        for number, (rule, body) in enumerate(zip(rules, bodies, strict=False), 1):
            case = Case(f"{node_id}_case_{number}", rule=rule)
            edge.cases.append(case)
            self._flow.ends = [End(node_id, case)]
            self._made, self._last = dict(made), last
            self._sequence(body)
            open_ends += self._flow.ends
        self._flow.ends = [End(node_id, edge.default)]
        self._made, self._last = dict(made), last
        self._sequence(rest)
        self._flow.ends = open_ends + self._flow.ends

    def _approval(self, test: ast.expr | None) -> ast.Call | None:
        inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        inner = inner.value if isinstance(inner, ast.Await) else inner
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "approval_request":
            return inner
        return None

    def _ask(self, call: ast.Call, statement: ast.stmt) -> str:
        asked = call.args[0] if call.args else None
        if isinstance(asked, ast.Name):
            asked = self._names.aliases.get(asked.id, asked)
        text = literal(asked)
        if not isinstance(text, str):
            written = self._source.segment(asked) if asked is not None else ""
            found = re.fullmatch(r"[fF]?(\"\"\"|'''|\"|')(.*)\1", written, re.DOTALL)
            text = found.group(2) if found else written
        wanted = self._number("approval")
        label = text or wanted
        node = self._node(wanted, "human_input", label, statement, prompt=text or None, answer="bool")
        node.data.update(answer_type="boolean")
        return self._flow.step(node).id

    def _guarded(self, test: ast.expr | None) -> str | None:
        """The placeholder of the guardrails whose result a test looks at."""
        if not isinstance(test, ast.Name) or "tripwire" not in test.id.lower():
            return None
        alias = self._names.aliases.get(test.id)
        for part in ast.walk(alias) if alias is not None else ():
            if isinstance(part, ast.Name) and part.id in self._made:
                node = self._draft.nodes.get(self._made[part.id])
                if node is not None and node.kind == "placeholder" and self._at(node.id):
                    return node.id
        return None

    def _while(self, statement: ast.While) -> None:
        wanted = self._number("while")
        node = self._flow.step(self._node(wanted, "switch", wanted, statement))
        forever = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        rule = self._rule(statement.test, node.id)
        self._loop(node, rule, statement.body, forever)
        self._sequence(statement.orelse)

    def _for(self, statement: ast.For | ast.AsyncFor) -> None:
        if not _takes_part(statement):
            return  # it prints, collects, or reads the events of a run that was begun before
        wanted = self._number("for")
        written = self._source.segment(statement.iter)
        item = self._source.segment(statement.target)
        node = self._flow.step(
            self._node(wanted, "loop", wanted, statement, items=written, item=item, items_lang="python")
        )
        self._loop(node, Rule("next item", "loop", "translated", NEXT_ITEM), statement.body, False)
        self._sequence(statement.orelse)

    def _loop(self, node: DraftNode, rule: Rule, body: list[ast.stmt], forever: bool) -> None:
        case = Case(f"{node.id}_body", rule=rule)
        edge = DraftEdge("switch", [node.id], cases=[case], default=Case(node.id))
        self._draft.edges.append(edge)
        self._breaks.append([])
        self._heads.append(node.id)
        self._flow.ends = [End(node.id, case)]
        self._sequence(body)
        self._flow.connect(self._flow.ends, node.id)
        self._heads.pop()
        self._last = ""
        self._flow.ends = [End(node.id, edge.default), *self._breaks.pop()]
        if forever and len(self._flow.ends) > 1:
            self._flow.ends = self._flow.ends[1:]


def _branches(statement: ast.If) -> list[tuple[ast.expr | None, list[ast.stmt]]]:
    """``if``, every ``elif``, and ``else`` (None) if there is one."""
    found: list[tuple[ast.expr | None, list[ast.stmt]]] = [(statement.test, statement.body)]
    rest = statement.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        found.append((rest[0].test, rest[0].body))
        rest = rest[0].orelse
    if rest:
        found.append((None, rest))
    return found


def _takes_part(tree: ast.AST) -> bool:
    """Whether anything in a piece of code can be a step: a run, a question, a value of the state, an end."""
    return bool(run_calls(tree)) or any(
        isinstance(part, ast.Return | ast.Break)
        or (isinstance(part, ast.Name) and part.id in ("state", "approval_request", "asyncio"))
        for part in ast.walk(tree)
    )


def run_calls(tree: ast.AST) -> list[ast.Call]:
    """The calls of ``Runner.run`` in a piece of code."""
    return [
        part
        for part in ast.walk(tree)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in _RUNS
        and getattr(part.func.value, "id", "") in ("Runner", "runner")
    ]
