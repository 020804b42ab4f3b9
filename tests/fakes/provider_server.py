"""A loopback server that speaks Chat Completions like a provider, with the habits a test asks for.

Habits: ``no_list``, ``no_tools``, ``one_call``, ``any_model``, ``no_stream_options``, ``whole``, ``no_usage``,
``no_schema``, ``no_json``, ``new_limit``, ``no_name_choice``. It calls every tool it is offered once, with arguments
made from the schema, then answers.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MODELS = ("small-1", "large-1")


class ProviderServer:
    """Use as ``with``; :attr:`requests` has what was asked, :attr:`headers` the headers of each request."""

    def __init__(self, *habits: str, pause: float = 0.0) -> None:
        self.habits = frozenset(habits)
        self.pause = pause
        self.requests: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    # ------------------------------------------------------------------------------------------------- answers

    def refusal(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """Why a request is refused."""
        has = self.habits
        if body.get("model") not in MODELS and "any_model" not in has:
            return _error(f"The model `{body.get('model')}` does not exist", code="model_not_found")
        if "no_stream_options" in has and "stream_options" in body:
            return _error("Unknown parameter: stream_options", "stream_options")
        if "new_limit" in has and "max_tokens" in body:
            return _error("Use max_completion_tokens instead of max_tokens", "max_tokens")
        if "no_tools" in has and body.get("tools"):
            return _error("this model does not support tools")
        if "no_name_choice" in has and isinstance(body.get("tool_choice"), dict):
            return _error("Supported string values: none, auto, required", "tool_choice")
        form = body.get("response_format") or {}
        if ("no_schema" in has and form.get("type") == "json_schema") or ("no_json" in has and form):
            return _error("response_format is not supported", "response_format")
        return None

    def reply(self, body: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Text and tool calls."""
        messages = body["messages"]
        last = messages[-1]
        if isinstance(last.get("content"), list):
            return "Red.", []
        if body.get("tools") and last["role"] != "tool":
            return "", self._calls(body)
        words = "".join(str(m.get("content")) for m in messages)
        if "Is water wet" in words:
            return ('{"ok": true}' if body.get("response_format") or "JSON Schema" in words else "Yes."), []
        if last["role"] == "tool":
            results = [str(m["content"]) for m in messages if m["role"] == "tool"]
            return f"I was told: {'; '.join(results)}", []
        return "ready", []

    def _calls(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        tools = [t["function"] for t in body["tools"]]
        asked = [
            (t["name"], {n: _sample(s) for n, s in (t["parameters"].get("properties") or {}).items()}) for t in tools
        ]
        if "both at once" in str(body["messages"][-1].get("content")) and "one_call" not in self.habits:
            asked = [(tools[0]["name"], {"city": city}) for city in ("Oslo", "Lima")]
        return [
            {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, (n, a) in enumerate(asked)
        ]


def _sample(schema: dict[str, Any]) -> Any:
    values = {"integer": 2, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return values.get(str(schema.get("type")), "Oslo")


def _error(message: str, parameter: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}}


def _handler(owner: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            owner.requests.append((self.path, None))
            owner.headers.append({k.lower(): v for k, v in self.headers.items()})
            if "no_list" in owner.habits:
                self._document(404, {"detail": "Not Found"})
            else:
                self._document(200, {"object": "list", "data": [{"id": m} for m in MODELS]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            owner.requests.append((self.path, body))
            owner.headers.append({k.lower(): v for k, v in self.headers.items()})
            refused = owner.refusal(body)
            if refused is not None:
                self._document(404 if refused["error"]["code"] else 400, refused)
                return
            text, calls = owner.reply(body)
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            if body.get("stream"):
                self._stream(text, calls, None if "no_usage" in owner.habits else usage)
                return
            message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
            told = {} if "no_usage" in owner.habits else {"usage": usage}
            self._document(200, {"id": "x", "model": body["model"], "choices": [choice], **told})

        def _document(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, text: str, calls: list[dict[str, Any]], usage: dict[str, int] | None) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            pieces = [text] if "whole" in owner.habits else [text[i : i + 4] for i in range(0, len(text), 4)]
            deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces if piece]
            deltas += [{"tool_calls": calls}] if calls else []
            try:
                for delta in deltas:
                    self._event({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
                    time.sleep(owner.pause)
                reason = "tool_calls" if calls else "stop"
                self._event({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
                if usage is not None:
                    self._event({"id": "x", "choices": [], "usage": usage})
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                return  # whoever asked has hung up

        def _event(self, body: dict[str, Any]) -> None:
            self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())
            self.wfile.flush()

    return Handler
