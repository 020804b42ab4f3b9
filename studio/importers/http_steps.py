"""A request of another program whose whole meaning is in the file: a GET of a known address, as code of a function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from studio.document.model import FunctionNode, StateDecl
from studio.importers.saved_results import saved_keys
from studio.importers.secrets import MASK
from studio.importers.step_code import Code


def requesting(node: FunctionNode, state: Iterable[StateDecl], known: Collection[str]) -> FunctionNode | None:
    """The step with the code of its request; None if it sends something, or what it asks cannot be read here. ``whole``
    is set by a reader that has kept everything which the request says."""
    extra: Mapping[str, Any] = node.model_extra or {}
    if extra.get("preset") != "http" or not extra.get("whole") or extra.get("request_body"):
        return None
    if str(extra.get("method") or "GET").upper() != "GET":
        return None
    code = Code()
    url, headers = _address(code, extra, known), _headers(extra.get("headers"))
    if url is None or headers is None:
        return None
    keys = dict.fromkeys((*saved_keys(node), *(d.key for d in state if d.key.startswith(f"{node.id}."))))
    lines = [
        "import json",
        "from urllib.request import Request, urlopen",
        "",
        f"with urlopen(Request({url}, headers={headers!r}), timeout=60) as answer:",
        '    status, text = answer.status, answer.read().decode("utf-8", "replace")',
        "try:",
        "    found = json.loads(text)",
        "except ValueError:",
        "    found = text",
        *(f"ctx.set_state({key!r}, {_part(key.removeprefix(f'{node.id}.'))})" for key in keys),
        "result = text",
    ]
    return node.model_copy(update={"accepts": "any", "sends": "text", "body": code.body(lines)})


def _part(name: str) -> str:
    return {"status_code": "status", "body": "text"}.get(name, "found")


def _address(code: Code, extra: Mapping[str, Any], known: Collection[str]) -> str | None:
    written = extra.get("url")
    if not isinstance(written, str) or not written.strip() or MASK in written:
        return None
    if written.startswith(("http://", "https://", "{{#")):
        found = code.text(written.strip(), extra.get("refers") or {}, known)
        return found if found is not None and ("ctx." in found) else repr(written.strip()) if found else None
    return code.value(written, "powerfx") if not written.startswith(("=", "{{")) else None


def _headers(given: object) -> dict[str, str] | None:
    """The headers; None if one of them is a formula, or held a key that was dropped."""
    if isinstance(given, str):
        lines = (line.partition(":") for line in given.splitlines() if line.strip())
        given = {name.strip(): value.strip() for name, _, value in lines}
    found = {str(k): v for k, v in given.items() if v is not None} if isinstance(given, dict) else {}
    literal = all(isinstance(v, str) and not v.startswith("=") for v in found.values())
    plain = literal and not any(MASK in v or "{{" in v for v in found.values())
    return found if plain and isinstance(given, dict | None) else None
