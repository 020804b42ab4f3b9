"""Literal keys in a source: found by the name of the field or by their look, and taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_STRONG = re.compile(
    r"api[_-]?key|access[_-]?key|private[_-]?key|subscription[_-]?key|auth[_-]?key|secret|passw|authorization|bearer|"
    r"(?:access|auth|refresh|api|session|id|bot)[_-]?token|^token\Z|credential",
    re.IGNORECASE,
)
"""Names of fields that hold nothing but a key."""
_WEAK = re.compile(r"key|token", re.IGNORECASE)
"""Names that may hold a key or something harmless (``outputKey``, ``max_tokens``): the value decides."""
_HARMLESS = re.compile(r"type\Z|name\Z|\Acredentials?\Z", re.IGNORECASE)
_RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[^\s{}]{16,}\Z")
_LOOKS = (
    re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghu|ghs|github_pat)_[A-Za-z0-9_]{20,}"),
    re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"),
    re.compile(r"\bhf_[A-Za-z0-9]{20,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    re.compile(r"(?<=\bBearer )[A-Za-z0-9._~+/=-]{12,}"),
    re.compile(r"(?<=\bBasic )[A-Za-z0-9+/=]{12,}"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]{3,}(?=@)"),
)
_REFERENCE = re.compile(r"\$\{[^}]*\}|=?\s*Env\.\w+|\{\{.*\}\}|\{[A-Za-z_.]+\}|\$[A-Za-z_]\w*|=.*", re.DOTALL)
MASK = "•••"
_SHORT = 8
"""Letters of a secret that may be a part of other words, and of ids: only the whole word is it."""


def is_secret_name(name: str, value: object = None) -> bool:
    """Whether a field of this name holds a key; names that say little need a value that looks like one."""
    if _HARMLESS.search(name):
        return False
    if _STRONG.search(name):
        return True
    return bool(_WEAK.search(name)) and isinstance(value, str) and bool(_RANDOM.match(value.strip()))


def is_masked(value: str) -> bool:
    """``****`` and the like: no key at all."""
    return bool(value) and set(value.strip()) <= set("*•x.")


def is_literal(value: object) -> bool:
    """Whether the value of a secret field is the secret itself: no reference, no mask, not empty."""
    if not isinstance(value, str) or not value.strip() or is_masked(value):
        return False
    return not _REFERENCE.fullmatch(value.strip())


def looking_like_keys(text: str) -> list[str]:
    """The parts of a text that look like keys."""
    return [found.group() for pattern in _LOOKS for found in pattern.finditer(text)]


def found_in(value: Any, name: str = "") -> Iterator[str]:
    """Every secret in a nested value: by the names of fields and by look."""
    if isinstance(value, dict):
        label = next((value[k] for k in ("name", "key") if isinstance(value.get(k), str)), "")
        secret_entry = is_secret_name(label, value.get("value"))
        flagged = value.get("password") is True
        for key, inner in value.items():
            if (flagged or secret_entry) and key in ("value", "content") and is_literal(inner):
                yield from _parts(inner)
            else:
                yield from found_in(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from found_in(inner, name)
    elif isinstance(value, str):
        if name and is_secret_name(name, value) and is_literal(value):
            yield from _parts(value)
        else:
            yield from looking_like_keys(value)


def _parts(value: str) -> Iterator[str]:
    """The value; of ``Bearer x`` the part that is secret too."""
    yield value
    scheme, _, rest = value.partition(" ")
    if scheme.lower() in ("bearer", "basic", "token", "apikey") and rest.strip():
        yield rest.strip()


def without(text: str, secrets: set[str]) -> str:
    """The text with every secret replaced; the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret in text:
            text = _word(secret).sub(MASK, text) if len(secret) < _SHORT else text.replace(secret, MASK)
    for pattern in _LOOKS:
        text = pattern.sub(MASK, text)
    return text


def _word(secret: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")


def scrubbed(value: Any, secrets: set[str]) -> Any:
    """Plain data without secrets, keys of mappings included."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, dict):
        return {without(str(k), secrets): scrubbed(v, secrets) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(v, secrets) for v in value]
    return value
