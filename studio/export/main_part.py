"""The command-line part of ``workflow.py``: what a workflow does not need is not written."""

from __future__ import annotations

from studio.document.model import AgentNode, HumanInputNode, SubWorkflowNode, Workflow
from studio.document.runners import all_agents
from studio.document.types import CHOICE
from studio.export.pretty import readable_text, string, text_block
from studio.export.source import AGENT_SUPPORT, FRAMEWORK, Module
from studio.export.support import add_needed

_TEXT = "main.py.txt"
_MAIN = '''def main() -> None:
    """The command line: the input as one argument."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default=SAMPLE_INPUT, help="what the workflow is given")
    raise SystemExit(asyncio.run({run}(build(), parser.parse_args().input)))


if __name__ == "__main__":
    main()'''

_RUN_AND_CLOSE = '''async def run_and_close(workflow: Workflow, text: str) -> int:
    """Runs the workflow once and ends the servers that it has started."""
    try:
        return await run(workflow, text)
    finally:
        await close_servers(workflow)'''


def uses_servers(workflow: Workflow) -> bool:
    """Whether an agent of the workflow, or of one inside, has MCP servers."""
    inner = [n.embedded for n in workflow.nodes if isinstance(n, SubWorkflowNode) and n.embedded is not None]
    return any(agent.mcp_servers for agent in all_agents(workflow)) or any(map(uses_servers, inner))


def asks(workflow: Workflow) -> list[str]:
    """What a run may ask for: ``approval`` of a tool, the result of a ``call``, the answer to a
    ``question``, or to a ``text_question`` where all of them want texts."""
    found: set[str] = set()
    tools = {tool.name: tool.approval for tool in workflow.tools}
    for node in workflow.nodes:
        match node:
            case HumanInputNode(answer_type=given):
                found.add("text_question" if given in ("text", CHOICE) else "question")
            case AgentNode():
                modes = {tools.get(name) for name in node.tools}
                modes |= {"caller"} if node.tool_loop.additional_tools else set()
                servers = {server.name for server in workflow.mcp_servers if server.approval != "never"}
                modes |= {"always"} if servers & set(node.mcp_servers) else set()
                found |= {kind for mode, kind in (("always", "approval"), ("caller", "call")) if mode in modes}
            case SubWorkflowNode(embedded=Workflow() as inner):
                found |= set(asks(inner))
            case SubWorkflowNode():
                found |= {"approval", "call", "question"}
    if "question" in found:
        found.discard("text_question")  # the other one takes texts, too
    return [kind for kind in ("approval", "call", "text_question", "question") if kind in found]


def add_main(module: Module, workflow: Workflow) -> None:
    """Adds the running of the workflow, and ``main()``."""
    module.need("argparse")
    module.need("asyncio")
    sample = workflow.sample_input
    shown = readable_text(sample, 0, len("SAMPLE_INPUT = "))
    module.blocks.append(f"SAMPLE_INPUT = {text_block(sample) if shown is None else shown}")
    kinds = asks(workflow)
    first = len(module.blocks)
    add_needed(module, _TEXT, [*(["run_asking", "ask"] if kinds else ["run"]), *(f"answer_{kind}" for kind in kinds)])
    if len(kinds) == 1:
        module.blocks[first:] = [
            b.replace(" answer(event)", f" answer_{kinds[0]}(event)") for b in module.blocks[first:]
        ]
    elif kinds:
        dispatch = _answer(kinds)
        at = next(i for i, block in enumerate(module.blocks) if block.startswith("def print_output")) + 1
        module.blocks.insert(at, dispatch)
        module.need(FRAMEWORK, "WorkflowEvent")
    module.blocks[first:] = [
        block.replace("def run_asking(", "def run(", 1).replace("answer_text_question(", "answer_question(")
        for block in module.blocks[first:]
    ]
    served = uses_servers(workflow)
    if served:
        module.need(AGENT_SUPPORT, "close_servers")
        module.blocks.append(_RUN_AND_CLOSE)
    module.blocks.append(_MAIN.format(run="run_and_close" if served else "run"))


def _answer(kinds: list[str]) -> str:
    head = "def answer(event: WorkflowEvent[Any]) -> Any:\n"
    lines = [f'{head}    """The answer to a request, by what it asks for."""']
    lines.append('    kind = getattr(event.data, "type", "")')
    types = {"approval": "function_approval_request", "call": "function_call"}
    for kind in kinds[:-1]:
        lines += [f"    if kind == {string(types[kind])}:", f"        return answer_{kind}(event)"]
    return "\n".join([*lines, f"    return answer_{kinds[-1]}(event)"])
