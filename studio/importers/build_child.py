"""Runs in a process of its own, with the user's interpreter: imports a program and tells what workflows it builds.

Started by path, with nothing of this package at hand. One JSON line per workflow on the original standard output, as
soon as it is built; what the program prints goes to standard error.
"""

from __future__ import annotations

import sys

sys.path[0] = sys.argv[2]  # the folder of the program, as if it had been started

import asyncio  # noqa: E402
import builtins  # noqa: E402
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
from typing import Any  # noqa: E402

MEMORY = 4 << 30
_out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)


class Stop(BaseException):
    """Something would run now; no ``except Exception`` of the program catches it."""


def send(**data: Any) -> None:
    """One line to the parent."""
    _out.write(json.dumps(data, default=str) + "\n")
    _out.flush()


def limited() -> None:
    """Less memory, where the system has such a limit."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass


def end_with(parent: int) -> None:
    """Asks Linux to kill this process when the studio dies: a loop inside C code never lets a thread look."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def stopped(*args: Any, **kwargs: Any) -> Any:
    """Stands for everything that would run a workflow, an agent or a graph."""
    raise Stop


def guard() -> None:
    """Nothing is ever run, and nobody is asked."""
    import agent_framework

    builtins.input = stopped
    for name in ("Workflow", "Agent", "RawAgent", "BaseAgent", "WorkflowAgent", "ChatAgent"):
        cls = getattr(agent_framework, name, None)
        for method in ("run", "run_stream", "run_streaming"):
            if cls is not None and hasattr(cls, method):
                setattr(cls, method, stopped)
    builder = agent_framework.WorkflowBuilder
    original = builder.build

    def build(self: Any, *args: Any, **kwargs: Any) -> Any:
        workflow = original(self, *args, **kwargs)
        known[id(workflow)] = len(known)
        kept.append(workflow)
        send(workflow=described(workflow), number=known[id(workflow)])
        return workflow

    builder.build = build  # type: ignore[method-assign]


known: dict[int, int] = {}
kept: list[Any] = []


# ------------------------------------------------------------------------------------------------ description


def described(workflow: Any) -> dict[str, Any]:
    """A workflow as plain data."""
    return {
        "name": workflow.name,
        "description": getattr(workflow, "description", None),
        "start": getattr(workflow, "start_executor_id", None) or workflow.to_dict()["start_executor_id"],
        "max_iterations": workflow.max_iterations,
        "outputs": designation(workflow, "output_executors"),
        "intermediate": designation(workflow, "intermediate_executors"),
        "executors": [executor(item, found) for item, found in workflow.executors.items()],
        "groups": [group(found) for found in workflow.edge_groups if type(found).__name__ != "InternalEdgeGroup"],
    }


def designation(workflow: Any, name: str) -> Any:
    found = workflow.to_dict().get(name)
    return found if isinstance(found, list | str | type(None)) else None


def place(function: Any) -> dict[str, Any]:
    """Where a callable was written: file, line, columns."""
    function = inspect.unwrap(getattr(function, "__wrapped__", function))
    code = getattr(function, "__code__", None)
    if code is None:
        return {"name": getattr(function, "__name__", type(function).__name__), "callable": True}
    found = {"name": function.__name__, "file": code.co_filename, "line": code.co_firstlineno}
    if hasattr(code, "co_positions"):
        columns = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
        if columns:
            found["at"] = min(columns)
    return found


def executor(item: str, found: Any) -> dict[str, Any]:
    """An executor: id, class, and what is special about its kind."""
    cls = type(found)
    data: dict[str, Any] = {
        "id": item,
        "type": cls.__name__,
        "bases": [base.__name__ for base in cls.__mro__[1:-1]],
        "module": cls.__module__,
        "accepts": [written(t) for t in found.input_types],
        "sends": [written(t) for t in found.output_types],
        "yields": [written(t) for t in found.workflow_output_types],
    }
    names = [cls.__name__, *data["bases"]]
    if "FunctionExecutor" in names:
        data["function"] = place(found._original_func)
    if "WorkflowExecutor" in names:
        data["inner"] = described(found.workflow)
        data["direct_output"] = bool(found.allow_direct_output)
        data["propagate_requests"] = bool(getattr(found, "_propagate_request", False))
    inner = getattr(found, "_agent", None) or getattr(found, "agent", None)
    if inner is not None and hasattr(inner, "name"):
        data["agent"] = agent(inner)
        data["context"] = getattr(found, "_context_mode", None)
        data["trailing_user_turn"] = bool(getattr(found, "_ensure_trailing_user_turn", False))
    if hasattr(found, "_handoff_targets"):
        data["handoffs"] = sorted(found._handoff_targets)
    for name in ("_max_rounds", "_max_round_count", "_max_stall_count"):
        value = getattr(found, name, None)
        if isinstance(value, int):
            data[name.removeprefix("_")] = value
    selection = getattr(found, "_selection_func", None)
    if selection is not None:
        data["selection"] = place(selection)
    return data


def written(kind: Any) -> str:
    """A type as it would stand in a program."""
    if isinstance(kind, type) and not getattr(kind, "__args__", None):
        return kind.__name__
    return str(kind).replace("typing.", "")


def agent(found: Any) -> dict[str, Any]:
    """An agent; keys of its client are never looked at."""
    options = getattr(found, "default_options", None) or {}
    options = dict(options) if not isinstance(options, dict) else options
    client = getattr(found, "client", None) or getattr(found, "chat_client", None)
    model = options.get("model") or getattr(client, "model", None) or getattr(client, "model_id", None)
    handoffs = ("handoff_to_", "transfer_to_")
    tools = options.get("tools") or []
    names = [str(getattr(t, "name", None) or getattr(t, "__name__", type(t).__name__)) for t in tools]
    plain = {
        k: v
        for k, v in options.items()
        if k not in ("tools", "instructions", "model", "response_format") and isinstance(v, str | int | float | bool)
    }
    schema = options.get("response_format")
    return {
        "name": getattr(found, "name", None),
        "description": getattr(found, "description", None),
        "instructions": options.get("instructions"),
        "model": model if isinstance(model, str) else None,
        "options": plain,
        "tools": [n for n in names if not n.startswith(handoffs)],
        "schema": schema.__name__ if isinstance(schema, type) else None,
    }


def group(found: Any) -> dict[str, Any]:
    """An edge group."""
    data: dict[str, Any] = {"type": type(found).__name__, "edges": [[e.source_id, e.target_id] for e in found.edges]}
    if data["type"] == "SingleEdgeGroup":
        condition = getattr(found.edges[0], "_condition", None)
        data["condition"] = place(condition) if condition is not None else None
    if "SwitchCase" in data["type"]:
        data["cases"] = [
            {"target": c.target_id, "condition": place(c._condition) if hasattr(c, "_condition") else None}
            for c in found.cases
        ]
    selection = getattr(found, "_selection_func", None)
    if selection is not None and "SwitchCase" not in data["type"]:
        data["selection"] = place(selection)
    return data


# --------------------------------------------------------------------------------------------------- the run


def main(file: str, function: str) -> None:
    """Imports the program; calls a function of it if that built nothing."""
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name if name.isidentifier() else "imported_program", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not known and function:
        found = getattr(module, function)()
        if inspect.iscoroutine(found):
            asyncio.run(found)


if __name__ == "__main__":
    end_with(int(sys.argv[4]))
    limited()
    try:
        guard()
        main(sys.argv[1], sys.argv[3])
    except Stop:
        pass
    except SystemExit:
        pass
    except BaseException as error:
        send(
            error=f"{type(error).__name__}: {error}",
            missing=getattr(error, "name", None) if isinstance(error, ImportError) else None,
        )
    send(done=True)
    _out.close()
    os._exit(0)  # threads of the program are not waited for
