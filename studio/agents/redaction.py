"""Taking secrets out of what is written: logs, cassettes, reports, exports, the clipboard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

SECRET = "[secret]"

_NAMES = re.compile(
    r"(api[-_]?key|token|secret|password|passwd|pwd|authorization|cookie|private[-_]?key|client[-_]?secret|credential|"
    r"signature|dsn|connection[-_]?string)$",
    re.IGNORECASE,
)
_COUNTERS = re.compile(r"(^|_)(max|prompt|completion|cached|reasoning|input|output|total)_\w*token", re.IGNORECASE)
_REFERENCE = re.compile(r"^(env:|keychain:|session$)")

PATTERNS: dict[str, re.Pattern[str]] = {
    "authorization header": re.compile(r"(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})"),
    "OpenAI key": re.compile(r"()(\bsk-(?:ant-|or-|proj-)?[A-Za-z0-9_-]{8,})"),
    "Groq key": re.compile(r"()(\bgsk_[A-Za-z0-9]{8,})"),
    "Google key": re.compile(r"()(\bAIza[A-Za-z0-9_-]{20,})"),
    "GitHub token": re.compile(r"()(\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}))"),
    "Hugging Face token": re.compile(r"()(\bhf_[A-Za-z0-9]{16,})"),
    "AWS key": re.compile(r"()(\bAKIA[A-Z0-9]{12,})"),
    "Slack token": re.compile(r"()(\bxox[a-z]-[A-Za-z0-9-]{8,})"),
    "JSON web token": re.compile(r"()(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"),
    "private key": re.compile(
        r"()(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))", re.S
    ),
    "password in an address": re.compile(r"(\b[a-z][a-z0-9+.-]*://[^/\s:@\"']*:)([^@\s/\"']+)(?=@)"),
    "key in an address": re.compile(r"([?&](?:key|token|sig|access_token|api_key)=)([^&\s\"'\\]+)"),
}

_PARTS: dict[str, tuple[str, ...]] = {
    "OpenAI key": ("sk-",),
    "Groq key": ("gsk_",),
    "Google key": ("AIza",),
    "GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "Hugging Face token": ("hf_",),
    "AWS key": ("AKIA",),
    "Slack token": ("xox",),
    "JSON web token": ("eyJ",),
    "private key": ("-----BEGIN",),
    "password in an address": ("://",),
    "key in an address": ("?", "&"),
}
"""What a text must hold for a pattern to match it. Looking for that first takes a tenth of the time: most texts hold
none of them. Patterns that are not named are always tried."""


class Redactor:
    """Takes out what it knows; :attr:`found` names the patterns that matched."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """``known``: secrets that the program has resolved; shorter than six characters they are no secrets."""
        self._known = sorted({secret for secret in known if len(secret) >= 6}, key=len, reverse=True)
        self.found: set[str] = set()

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, SECRET)
                self.found.add("known secret")
        for name, pattern in PATTERNS.items():
            parts = _PARTS.get(name)
            if parts is not None and not any(part in text for part in parts):
                continue
            text, count = pattern.subn(rf"\1{SECRET}", text)
            if count:
                self.found.add(name)
        return text

    def value(self, value: Any, name: str = "") -> Any:
        """The value without secrets, through all lists and objects; ``name`` is the key it stands under."""
        if isinstance(value, str):
            return SECRET if self._named(name, value) else self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, name) for item in value]
        return value

    def _named(self, name: str, value: str) -> bool:
        """Whether a value is a secret by its key: not a counter, not a reference to a secret."""
        if not value or not _NAMES.search(name) or _COUNTERS.search(name) or _REFERENCE.match(value):
            return False
        self.found.add("secret by name")
        return True


def redact(value: Any, known: Iterable[str] = ()) -> Any:
    """A text, or a value of JSON, without secrets."""
    return Redactor(known).value(value)
