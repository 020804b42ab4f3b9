"""A small MCP server on standard streams, without any package. Its arguments say how it behaves.

``legacy-silent``: ignores methods it does not know. ``deaf``: ignores the end of its input. ``stubborn``: SIGTERM too.
``child``: leaves a process of its own. ``noisy``: prints text between messages. ``exit``: ends at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

MODES = set(sys.argv[1:])

TOOLS = [
    {
        "name": "add",
        "description": "Adds",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "environment", "inputSchema": {"type": "object"}},
    {"name": "wait", "inputSchema": {"type": "object"}},
    {"name": "die", "inputSchema": {"type": "object"}},
    {"name": "fail", "inputSchema": {"type": "object"}},
    {"name": "big", "inputSchema": {"type": "object"}},
    {
        "name": "shape",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"side": {"type": "integer"}}},
    },
    {"name": "was cancelled?", "inputSchema": {"type": "object"}},
]
CANCELLED: list[Any] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    if name == "add":
        return text(str(arguments["a"] + arguments["b"]))
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "wait":
        print("it waits", file=sys.stderr, flush=True)
        return None
    if name == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "fail":
        return text("no such city", isError=True)
    if name == "big":
        return text("x" * 3_000_000)
    if name == "shape":
        return text("a square", structuredContent={"side": 2})
    return text(json.dumps(CANCELLED))


def answer(message: dict[str, Any]) -> None:
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "tiny", "version": "1"}
        send({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        if "noisy" in MODES:
            print("printed by accident", flush=True)
        result = called(message["params"]["name"], message["params"].get("arguments") or {})
        if result is not None:
            send({"id": id, "result": result})
    elif method == "notifications/cancelled":
        CANCELLED.append(message["params"].get("requestId"))
    elif id is not None and "legacy-silent" not in MODES:
        send({"id": id, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    if "exit" in MODES:
        print("no configuration", file=sys.stderr)
        sys.exit(4)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "child" in MODES:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print("started", file=sys.stderr, flush=True)
    for line in sys.stdin:
        answer(json.loads(line))
    if MODES & {"deaf", "stubborn"}:
        time.sleep(60)


main()
