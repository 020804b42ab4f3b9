"""Nodes that are executors of their own: functions, templates, questions to a person, joins."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from studio.document.lines import pairs
from studio.document.model import FanInEdge, FunctionNode, HumanInputNode, JoinNode, Node, TemplateNode, Workflow
from studio.document.turns import joined_token, joins_turns, token_sources, turn_sources
from studio.document.types import sends, split
from studio.export import python_types
from studio.export.naming import Names
from studio.export.pretty import Bracket, Expression, call, listed, signature, statement, string
from studio.export.source import (
    FRAMEWORK,
    SUPPORT,
    TURNS,
    Module,
    docstring,
    is_async,
    region,
    sentence,
)
from studio.export.user_code import names_in, result_line, written_in

MODULES = {
    "function": "functions",
    "pass": "functions",
    "template": "templates",
    "human_input": "people",
    "join": "joins",
}
"""Kind of node -> module of its class."""

_SHORT_SEPARATOR = 24
"""Columns of a separator that stands in the code as it is."""

_DOCS = {
    "functions": "Functions.",
    "templates": "Texts with fields.",
    "people": "Questions to people.",
    "joins": "Joins: one message out of several.",
}

_QUESTION = '''@dataclass
class Question:
    """What a person is asked; ``data`` is what came in."""

    text: str
    answer_type: str = "text"
    choices: list[str] = field(default_factory=list)
    data: Any = None'''


def modules(workflow: Workflow, names: Names, depth: int = 0) -> dict[str, Module]:
    """The modules with the executors of a workflow: module name -> module."""
    found: dict[str, Module] = {}
    for node in workflow.nodes:
        name = MODULES.get(getattr(node, "kind", ""))
        if name is not None:
            module = found.setdefault(name, Module(_DOCS[name], depth))
            _Writing(workflow, names, module).node(node)
    return found


@dataclass(frozen=True, slots=True)
class _Writing:
    """One module of executors, being written."""

    workflow: Workflow
    names: Names
    module: Module

    def node(self, node: Node) -> None:
        """Adds the class of a node."""
        self.module.need(FRAMEWORK, "Executor", "WorkflowContext", "handler")
        match node:
            case FunctionNode():
                self._function(node)
            case TemplateNode():
                self._template(node)
            case HumanInputNode():
                self._human_input(node)
            case JoinNode():
                self._join(node)
            case _:
                self.module.need("typing", "Any")
                lines = ["        await ctx.send_message(data)"]
                self._add(node, "", _method("run", "Any", "WorkflowContext[Any]", lines))

    def _add(self, node: Node, before: str, *methods: str) -> None:
        """The class of a node, behind ``before``: what stands in front of it in its block."""
        head = [
            f"class {self.names.classes[node.id]}(Executor):",
            docstring(sentence(node.description or node.name), 1),
            "",
            "    def __init__(self) -> None:",
            f"        super().__init__(id={string(node.id)})",
        ]
        text = "\n\n".join(["\n".join(head), *methods])
        self.module.blocks.append(f"# node: {node.id}\n{before}{text}")

    def _sent(self, written: str | None) -> str:
        return python_types.sent(self.workflow, self.module, written)

    def _context_type(self, sent: str, yielded: str) -> str:
        """``WorkflowContext[…]`` of what is sent and yielded."""
        if yielded != "Never":
            if sent == "Never":
                self.module.need("typing", "Never")
            return f"WorkflowContext[{sent}, {yielded}]"
        return "WorkflowContext" if sent == "Never" else f"WorkflowContext[{sent}]"

    def _context(self) -> str:
        """The context that user code is given: it knows the initial values of shared state."""
        if not self.workflow.state:
            return "ctx"
        self.module.need(".state", "StateContext")
        return "StateContext(ctx)"

    # ------------------------------------------------------------------------------------------------- functions

    def _function(self, node: FunctionNode) -> None:
        made, before = self._called(node) if node.call else self._user_function(node, self._taken_as(node))
        after = [
            *self._hand_on(node.sends, "send_message"),
            *self._hand_on(node.yields, "yield_output"),
        ]
        if after:
            lines = [statement(made, 2, "result = "), "        if result is not None:", *after]
        else:
            lines = [statement(made, 2)]
        taken = python_types.taken(self.workflow, self.module, node.accepts)
        context = self._context_type(self._sent(node.sends), self._sent(node.yields))
        self._add(node, before, _method("run", taken, context, lines))

    def _taken_as(self, node: FunctionNode) -> str:
        """What user code gets as ``data``."""
        if "text" not in split(node.accepts):
            return "data"
        self.module.need(SUPPORT, "text_of")
        kept = python_types.named_beside_text(self.workflow, self.module, node.accepts)
        return f"data if isinstance(data, {kept}) else text_of(data)" if kept else "text_of(data)"

    def _user_function(self, node: FunctionNode | JoinNode, data: str) -> tuple[Bracket, str]:
        """The call of the function around a body, and the function."""
        body = written_in(self.module, self.workflow, node.body)
        self.module.need("typing", "Any")
        waits = is_async(body)
        name = f"_{self.names.variables[node.id]}"
        given, parameters = [data], ["data: Any"]
        if "ctx" in names_in(body):
            given, parameters = [data, self._context()], ["data: Any", "ctx: Any"]
        head = signature(f"{'async ' if waits else ''}def {name}", parameters, "Any")
        text = f"{head}\n{result_line(body)}{region(node.id, body, 1)}\n    return result\n\n\n"
        return Bracket(f"{'await ' if waits else ''}{name}(", given), text

    def _called(self, node: FunctionNode) -> tuple[Bracket, str]:
        """The call of ``module:function`` with as many of (data, ctx) as it takes."""
        module_name, _, function = node.call.partition(":")
        found = next((m for m in self.workflow.modules if m.name == module_name), None)
        takes, waits = (1, False) if found is None else _signature(found.source, function)
        given = (self._taken_as(node), self._context())[:takes] if takes > 1 else [self._taken_as(node)][:takes]
        where, _, last = module_name.rpartition(".")
        self.module.need(f".{where}", last)
        return Bracket(f"{'await ' if waits else ''}{last}.{function}(", given), ""

    def _hand_on(self, written: str | None, method: str) -> list[str]:
        """The line that sends or yields a result, below ``if result is not None:``."""
        names = split(written or "")
        if not names:
            return []
        declared = next((t.name for t in self.workflow.types if t.name == names[0]), None)
        if declared is None or len(names) > 1:
            return [f"            await ctx.{method}(result)"]
        self.module.need(SUPPORT, "as_type")
        self.module.need(".types", declared)
        return [statement(call(f"await ctx.{method}", call("as_type", declared, "result")), 3)]

    # ------------------------------------------------------------------------------------ templates, people, joins

    def _filled(self, node: Node, text: str, role: str) -> tuple[Bracket, str]:
        """The call that fills a text from ``data``, and what stands in front of the class."""
        self.module.need(SUPPORT, "fill")
        self.module.need("typing", "Any")
        constant = f"{self.names.variables[node.id].upper()}_{role}"
        shown, before = self.module.constant(constant, text, room=30)
        state = [f"{self._context()}.get_state"] if "{state." in text else []
        return call("fill", shown, "data", *state), before

    def _template(self, node: TemplateNode) -> None:
        filled, before = self._filled(node, node.text, "TEMPLATE")
        lines = [statement(call("await ctx.send_message", filled), 2)]
        lines = [*self._no_tokens(node), *lines]
        self._add(node, before, _method("run", "Any", "WorkflowContext[str]", lines))

    def _no_tokens(self, node: Node) -> list[str]:
        """Lines by which a node that takes anything leaves turn tokens alone; none where no token can come."""
        sources = token_sources(self.workflow)
        if not any(target == node.id and source in sources for source, target, _ in pairs(self.workflow)):
            return []
        self.module.need(TURNS, "TurnToken")
        return ["        if isinstance(data, TurnToken):", "            return"]

    def _human_input(self, node: HumanInputNode) -> None:
        module = self.module
        module.need(FRAMEWORK, "register_checkpoint_type", "response_handler")
        module.need("dataclasses", "dataclass", "field")
        if _QUESTION not in module.blocks:
            module.blocks += [_QUESTION, "register_checkpoint_type(Question)"]
        filled, before = self._filled(node, node.question, "QUESTION")
        plain = {"choice": "str", "number": "float"}
        answer = plain.get(node.answer_type) or self._sent(node.answer_type)
        choices = [listed([string(choice) for choice in node.choices])] if node.choices else []
        given: list[Expression] = ["text", string(node.answer_type), *choices]
        question = call("Question", *given, data="data")
        ask = [
            *self._no_tokens(node),
            statement(filled, 2, "text = "),
            statement(question, 2, "question = "),
            f"        await ctx.request_info(question, {answer})",
        ]
        sent, answered = answer, "        await ctx.send_message(answer)"
        if node.send == "input_and_answer":
            module.need(SUPPORT, "plain_of")
            sent = "dict[str, Any]"
            pair = '{"input": plain_of(question.data), "answer": plain_of(answer)}'
            answered = f"        await ctx.send_message({pair})"
        context = f"WorkflowContext[{sent}]"
        parameters = ["self", "question: Question", f"answer: {answer}", f"ctx: {context}"]
        response = "\n".join(
            ["    @response_handler", signature("async def answered", parameters, "None", 1), answered]
        )
        self._add(node, before, _method("ask", "Any", context, ask), response)

    def _join(self, node: JoinNode) -> None:
        module = self.module
        taken, before = f"list[{self._joined_types(node)}]", ""
        if node.merge == "texts":
            module.need(SUPPORT, "text_of")
            separator = string(node.separator)
            if len(separator) > _SHORT_SEPARATOR:
                name = f"{self.names.variables[node.id].upper()}_SEPARATOR"
                separator, before = module.constant(name, node.separator, 60)
            sent = "str"
            joined = f"{separator}.join(text_of(item) for item in data)"
            lines = [f"        await ctx.send_message({joined})"]
        elif joins_turns(self.workflow, node):
            module.need(SUPPORT, "messages_of")
            module.need(FRAMEWORK, "Message")
            module.need(TURNS, "TurnToken")
            sent = "list[Message] | TurnToken"
            lines = [
                "        await ctx.send_message(messages_of(data))",
                f"        await ctx.send_message(TurnToken({joined_token(self.workflow, node.id)}))",
            ]
        elif node.merge == "messages":
            module.need(SUPPORT, "messages_of")
            sent = "AgentExecutorRequest"
            module.need(FRAMEWORK, sent)
            lines = [f"        await ctx.send_message({sent}(messages=messages_of(data)))"]
        else:
            module.need("typing", "Any")
            made, before = self._user_function(node, "data")
            sent = "Any"
            sending = ["        if result is not None:", "            await ctx.send_message(result)"]
            lines = [statement(made, 2, "result = "), *sending]
        self._add(node, before, _method("run", taken, f"WorkflowContext[{sent}]", lines))

    def _joined_types(self, node: JoinNode) -> str:
        """What the sources of a join send. Counted by the parts of the annotation, so each import is needed."""
        edges = [e for e in self.workflow.edges if isinstance(e, FanInEdge) and e.target == node.id]
        sources = [n for e in edges for s in e.sources if (n := self.workflow.node(s)) is not None]
        turning = turn_sources(self.workflow)
        written = ["messages" if n.id in turning else " | ".join(sends(n)) for n in sources]
        probe = Module("")
        found = [python_types.sent(self.workflow, probe, text) for text in written]
        names = list(dict.fromkeys(part for text in found for part in text.split(" | ") if part != "Never"))
        if not names or "Any" in names:
            self.module.need("typing", "Any")
            return "Any"
        for text in written:
            if split(text):
                self._sent(text)
        return " | ".join(names)


def _method(name: str, taken: str, context: str, lines: Sequence[str]) -> str:
    """A handler of ``data``."""
    head = signature(f"async def {name}", ["self", f"data: {taken}", f"ctx: {context}"], "None", 1)
    return "\n".join(["    @handler", head, *lines])


def _signature(source: str, function: str) -> tuple[int, bool]:
    """How many of (data, ctx) a function of a module takes, and whether it is async."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return 1, False
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            count = len(node.args.posonlyargs) + len(node.args.args)
            return (2 if node.args.vararg else min(count, 2)), isinstance(node, ast.AsyncFunctionDef)
    return 1, False
