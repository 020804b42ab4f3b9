"""Nodes that are executors of their own: functions, templates, questions to a person, joins."""

from __future__ import annotations

import ast

from studio.document.model import FanInEdge, FunctionNode, HumanInputNode, JoinNode, Node, TemplateNode, Workflow
from studio.document.types import sends, split
from studio.export import python_types
from studio.export.python_types import FRAMEWORK
from studio.export.source import (
    Module,
    class_name,
    is_async,
    literal,
    long_string,
    one_line,
    region,
    string,
    with_relative_imports,
)

SUPPORT = ".support"
_PUBLIC = frozenset({"Content", "Message", "AgentResponse", "AgentExecutorResponse", "AgentExecutorRequest"})
"""Names of the framework that a body may use without importing them."""

MODULES = {
    "function": "functions",
    "pass": "functions",
    "template": "templates",
    "human_input": "people",
    "join": "joins",
}
"""Kind of node -> module of its class."""

_DOCS = {
    "functions": "Functions.",
    "templates": "Texts with fields.",
    "people": "Questions to people.",
    "joins": "Joins: one message out of several.",
}


def modules(workflow: Workflow) -> dict[str, str]:
    """The modules with the executors of a workflow: module name -> source."""
    found: dict[str, Module] = {}
    for node in workflow.nodes:
        name = MODULES.get(getattr(node, "kind", ""))
        if name is not None:
            module = found.setdefault(name, Module(_DOCS[name]))
            _write(workflow, module, node)
    return {name: module.text() for name, module in found.items()}


def _write(workflow: Workflow, module: Module, node: Node) -> None:
    module.need(FRAMEWORK, "Executor", "WorkflowContext", "handler")
    match node:
        case FunctionNode():
            _function(workflow, module, node)
        case TemplateNode():
            _template(workflow, module, node)
        case HumanInputNode():
            if not any(block.startswith("@dataclass\nclass Question") for block in module.blocks):
                _question(module)
            _human_input(workflow, module, node)
        case JoinNode():
            _join(workflow, module, node)
        case _:
            _pass(module, node)


def _class(node: Node, doc: str, body: str) -> str:
    return (
        f"# node: {node.id}\nclass {class_name(node.id)}(Executor):\n"
        f'    """{_doc(doc)}"""\n\n    def __init__(self) -> None:\n'
        f"        super().__init__(id={string(node.id)})\n\n{body}"
    )


def _doc(text: str) -> str:
    return one_line((text.strip().splitlines() or [""])[0])


# --------------------------------------------------------------------------------------------------- functions


def _user_function(workflow: Workflow, module: Module, node: FunctionNode | JoinNode) -> str:
    """Adds the function around a body; returns the call of it."""
    names = [m.name for m in workflow.modules]
    body = with_relative_imports(node.body, names)
    _import_free_names(workflow, module, body)
    module.need("typing", "Any")
    waits = is_async(body)
    module.blocks.append(
        f"{'async ' if waits else ''}def _{node.id}(data: Any, ctx: Any) -> Any:\n"
        f"    result: Any = None\n{region(node.id, body, 1)}\n    return result"
    )
    return f"{'await ' if waits else ''}_{node.id}({{data}}, {_context(workflow, module)})"


def _context(workflow: Workflow, module: Module) -> str:
    """The context that user code is given: it knows the initial values of shared state."""
    if not workflow.state:
        return "ctx"
    module.need(".state", "StateContext")
    return "StateContext(ctx)"


def _import_free_names(workflow: Workflow, module: Module, body: str) -> None:
    try:
        names = {n.id for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Name)}
    except SyntaxError:
        return
    for name in sorted(names & _PUBLIC):
        module.need(FRAMEWORK, name)
    for declared in workflow.types:
        if declared.name in names:
            module.need(".types", declared.name)


def _called(workflow: Workflow, module: Module, node: FunctionNode) -> str:
    """The call of ``module:function`` with as many of (data, ctx) as it takes."""
    module_name, _, function = node.call.partition(":")
    found = next((m for m in workflow.modules if m.name == module_name), None)
    module.need(".", module_name)
    takes, waits = (1, False) if found is None else _signature(found.source, function)
    arguments = ", ".join(("{data}", _context(workflow, module))[:takes])
    return f"{'await ' if waits else ''}{module_name}.{function}({arguments})"


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


def _function(workflow: Workflow, module: Module, node: FunctionNode) -> None:
    call = _called(workflow, module, node) if node.call else _user_function(workflow, module, node)
    data = "data"
    if "text" in split(node.accepts):
        module.need(SUPPORT, "text_of")
        kept = python_types.named_beside_text(workflow, module, node.accepts)
        data = f"data if isinstance(data, {kept}) else text_of(data)" if kept else "text_of(data)"
    taken = python_types.taken(workflow, module, node.accepts)
    sent, yielded = (python_types.sent(workflow, module, t) for t in (node.sends, node.yields))
    lines = [
        "    @handler",
        f"    async def run(self, data: {taken}, ctx: WorkflowContext[{sent}, {yielded}]) -> None:",
        f"        result = {call.format(data=data)}",
        "        if result is None:",
        "            return",
    ]
    lines += _hand_on(workflow, module, node.sends, "send_message")
    lines += _hand_on(workflow, module, node.yields, "yield_output")
    if len(lines) == 5:
        lines[2:] = [f"        {call.format(data=data)}"]
    module.blocks.append(_class(node, node.description or node.name, "\n".join(lines)))


def _hand_on(workflow: Workflow, module: Module, written: str | None, method: str) -> list[str]:
    names = split(written or "")
    if not names:
        return []
    declared = next((t.name for t in workflow.types if t.name == names[0]), None)
    if declared is None or len(names) > 1:
        return [f"        await ctx.{method}(result)"]
    module.need(SUPPORT, "as_type")
    return [f"        await ctx.{method}(as_type({declared}, result))"]


# ------------------------------------------------------------------------------------- templates, people, joins


def _template(workflow: Workflow, module: Module, node: TemplateNode) -> None:
    module.need(SUPPORT, "fill")
    context = _context(workflow, module)
    module.need("typing", "Any")
    module.blocks.append(
        _class(
            node,
            node.description or node.name,
            f"    @handler\n    async def run(self, data: Any, ctx: WorkflowContext[str]) -> None:\n"
            f"        template = {long_string(node.text, 2)}\n"
            f"        await ctx.send_message(fill(template, data, {context}.get_state))",
        )
    )


def _question(module: Module) -> None:
    module.need("dataclasses", "dataclass", "field")
    module.need(FRAMEWORK, "register_checkpoint_type")
    module.need("typing", "Any")
    module.blocks.append(
        '@dataclass\nclass Question:\n    """What a person is asked; ``data`` is what came in."""\n\n    text: str\n'
        '    answer_type: str = "text"\n    choices: list[str] = field(default_factory=list)\n    data: Any = None'
    )
    module.blocks.append("register_checkpoint_type(Question)")


def _human_input(workflow: Workflow, module: Module, node: HumanInputNode) -> None:
    module.need(FRAMEWORK, "response_handler")
    module.need(SUPPORT, "fill")
    module.need("typing", "Any")
    plain = {"choice": "str", "number": "float"}
    answer = plain.get(node.answer_type) or python_types.sent(workflow, module, node.answer_type)
    context = _context(workflow, module)
    pair = node.send == "input_and_answer"
    sent = "dict" if pair else answer
    if pair:
        module.need(SUPPORT, "plain_of")
        value = '{"input": plain_of(question.data), "answer": plain_of(answer)}'
    else:
        value = "answer"
    module.blocks.append(
        _class(
            node,
            node.description or node.name,
            f"    @handler\n    async def ask(self, data: Any, ctx: WorkflowContext[{sent}]) -> None:\n"
            f"        text = fill({long_string(node.question, 2)}, data, {context}.get_state)\n"
            f"        question = Question(text, {string(node.answer_type)}, {literal(list(node.choices))}, data)\n"
            f"        await ctx.request_info(question, {answer})\n\n"
            f"    @response_handler\n"
            f"    async def answered(self, question: Question, answer: {answer}, "
            f"ctx: WorkflowContext[{sent}]) -> None:\n"
            f"        await ctx.send_message({value})",
        )
    )


def _join(workflow: Workflow, module: Module, node: JoinNode) -> None:
    taken = _joined_types(workflow, module, node)
    before = ""
    if node.merge == "texts":
        module.need(SUPPORT, "text_of")
        sent, value = "str", f"{string(node.separator)}.join(text_of(item) for item in data)"
    elif node.merge == "messages":
        module.need(SUPPORT, "messages_of")
        module.need(FRAMEWORK, "AgentExecutorRequest")
        sent, value = "AgentExecutorRequest", "AgentExecutorRequest(messages=messages_of(data), should_respond=True)"
    else:
        module.need("typing", "Any")
        call = _user_function(workflow, module, node).format(data="data")
        sent, value, before = (
            "Any",
            "result",
            f"        result = {call}\n        if result is None:\n            return\n",
        )
    module.blocks.append(
        _class(
            node,
            node.description or node.name,
            f"    @handler\n    async def run(self, data: list[{taken}], ctx: WorkflowContext[{sent}]) -> None:\n"
            f"{before}        await ctx.send_message({value})",
        )
    )


def _joined_types(workflow: Workflow, module: Module, node: JoinNode) -> str:
    sources = [s for e in workflow.edges if isinstance(e, FanInEdge) and e.target == node.id for s in e.sources]
    found = [python_types.sent(workflow, module, " | ".join(sends(n))) for s in sources if (n := workflow.node(s))]
    names = list(dict.fromkeys(part for text in found for part in text.split(" | ") if part != "Never"))
    if not names or "Any" in names:
        module.need("typing", "Any")
        return "Any"
    return " | ".join(names)


def _pass(module: Module, node: Node) -> None:
    module.need("typing", "Any")
    module.blocks.append(
        _class(
            node,
            node.description or node.name,
            "    @handler\n    async def run(self, data: Any, ctx: WorkflowContext[Any]) -> None:\n"
            "        await ctx.send_message(data)",
        )
    )
