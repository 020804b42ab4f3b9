"""Reading what providers say when a call fails: one error out of many shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any

from studio.agents.errors import ErrorKind, ProviderError

_RAW_LIMIT = 4000
_DETAIL_LIMIT = 200

PARAMETERS = (
    "stream_options",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "tool_choice",
    "response_format",
    "strict",
    "developer",
    "reasoning_effort",
    "name",
)
"""What a provider may refuse and a client can leave out."""

_TOO_LONG = ("maximum context length", "too many tokens", "reduce the length", "context_length_exceeded")
_REFUSED = ("content_filter", "content_policy", "moderation", "flagged")


def looks_like_error(body: Any) -> bool:
    """Whether a JSON body (or one choice of it) reports an error instead of an answer."""
    if isinstance(body, list):
        return any(isinstance(i, dict) and "error" in i for i in body)
    if not isinstance(body, dict):
        return False
    if body.get("error"):
        return True
    return "choices" not in body and (body.get("object") == "error" or "detail" in body)


def from_body(text: str, *, partial: str = "", kind: ErrorKind | None = None) -> ProviderError:
    """The error that a body tells although the status was 200."""
    body = _json(text)
    code = _code(body)
    status = _status(body)
    detail = _detail(body, text)
    if kind is None:
        kind = "server" if status is None and isinstance(body, Mapping | list) else _kind(status or 500, code, detail)
        kind = _kind_from_words(code, detail) or kind
    if isinstance(body, Mapping) and not looks_like_error(body) and not detail:
        kind, detail = "empty", "the answer has no choices"
    return ProviderError(kind, detail, status=status, code=code, partial=partial, raw=text[:_RAW_LIMIT])


NOT_RECORDED = "not_recorded"
"""The code with which a cassette answers a call that it does not have: no provider refused anything."""


def from_response(status: int, headers: Mapping[str, str], text: str) -> ProviderError:
    """The error of an answer with a status of 300 or more. ``headers`` must have lower-case names."""
    if 300 <= status < 400:
        target = re.sub(r"[?#].*", "", headers.get("location", ""))
        detail = f"the server sends the call on to {target or 'another address'}; that is not followed"
        return ProviderError("bad_request", detail, status=status, raw=text[:_RAW_LIMIT])
    body = _json(text)
    code = _code(body)
    detail = _detail(body, text)
    kind = _kind_from_words(code, detail) if status < 500 else None
    parameter = _parameter(body, detail) if status in (400, 422) or (status == 500 and body is not None) else ""
    if kind is None and parameter:
        kind = "unsupported_parameter"
    return ProviderError(
        kind or _kind(status, code, detail),
        detail or f"status {status}",
        title="The recording has no answer" if code == NOT_RECORDED else "",
        status=status,
        code=code,
        parameter=parameter,
        retry_after=retry_after(headers),
        request_id=headers.get("x-request-id", ""),
        raw=text[:_RAW_LIMIT],
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait; None if it does not say so in a form we know."""
    try:
        return float(headers["retry-after-ms"]) / 1000
    except (KeyError, ValueError):
        pass
    value = headers.get("retry-after", "")
    try:
        return float(value)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _error_object(body: Any) -> Mapping[str, Any]:
    if isinstance(body, list):
        body = next((i for i in body if isinstance(i, Mapping)), {})
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body


def _code(body: Any) -> str:
    """What names the error best: a word before a number."""
    error = _error_object(body)
    values = [error.get(key) for key in ("code", "type", "status")]
    words = [v for v in values if isinstance(v, str) and v and not v.isdecimal()]
    numbers = [str(v) for v in values if isinstance(v, int | str) and not isinstance(v, bool) and str(v).isdecimal()]
    return next(iter([*words, *numbers]), "")


def _status(body: Any) -> int | None:
    """An HTTP status told as the code inside a body."""
    code = str(_error_object(body).get("code"))
    return int(code) if code.isdecimal() and 400 <= int(code) < 600 else None


def _detail(body: Any, text: str) -> str:
    if body is None:
        return _plain(text)
    if isinstance(body, str):
        return body[:_DETAIL_LIMIT]
    error = _error_object(body)
    outer = body.get("error") if isinstance(body, Mapping) else None
    metadata = error.get("metadata")
    candidates = (
        error.get("message"),
        outer,
        body.get("message") if isinstance(body, Mapping) else None,
        _joined(error.get("detail")),
        metadata.get("raw") if isinstance(metadata, Mapping) else None,
    )
    found = next((c for c in candidates if isinstance(c, str) and c.strip()), "")
    return found.strip()


def _joined(detail: Any) -> str:
    if isinstance(detail, str):
        return detail
    if not isinstance(detail, list):
        return ""
    lines: list[str] = []
    for item in detail:
        if isinstance(item, Mapping):
            where = item.get("loc")
            place = ".".join(str(w) for w in where) if isinstance(where, list) else ""
            lines.append(f"{place}: {item.get('msg', '')}" if place else str(item.get("msg", "")))
    return "; ".join(lines)


def _plain(text: str) -> str:
    text = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", " ", text)
    text = unescape(re.sub(r"<[^>]*>", " ", text))
    return re.sub(r"\s+", " ", text).strip()[:_DETAIL_LIMIT]


def _parameter(body: Any, detail: str) -> str:
    """The one setting that the error names; "" if it names none or several."""
    named = _error_object(body).get("param")
    if isinstance(named, str) and named.split(".")[0] in PARAMETERS:
        return named.split(".")[0]
    found = [p for p in PARAMETERS if p != "name" and re.search(rf"(?<!\w){p}(?!\w)", detail)]
    if set(found) == {"max_tokens", "max_completion_tokens"}:  # "use the other one instead"
        return "max_tokens"
    return found[0] if len(found) == 1 else ""


def _kind_from_words(code: str, detail: str) -> ErrorKind | None:
    low = f"{code} {detail}".lower()
    if code in ("context_length_exceeded", "exceed_context_size_error") or any(w in low for w in _TOO_LONG):
        return "context_too_long"
    if "exceed" in low and "context" in low:
        return "context_too_long"
    if any(w in low for w in _REFUSED):
        return "content_filter"
    if code in ("insufficient_quota", "billing_hard_limit_reached") or "insufficient credit" in low:
        return "no_credit"
    if code in ("invalid_api_key", "authentication_error"):
        return "bad_key"
    if code == "model_not_found":
        return "no_such_model"
    return None


_BY_STATUS: dict[int, ErrorKind] = {
    401: "bad_key",
    402: "no_credit",
    403: "no_permission",
    408: "timeout",
    413: "context_too_long",
    429: "rate_limited",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}


def _kind(status: int, code: str, detail: str) -> ErrorKind:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 404:
        return "no_such_model" if "model" in f"{code} {detail}".lower() else "bad_request"
    if status >= 500:
        return "overloaded" if "overloaded" in detail.lower() else "server"
    return "bad_request"
