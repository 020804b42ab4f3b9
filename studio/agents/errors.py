"""What can go wrong with a provider, as one shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

ErrorKind = Literal[
    "unreachable",
    "tls",
    "timeout",
    "stalled",
    "bad_key",
    "no_permission",
    "no_credit",
    "no_such_model",
    "bad_request",
    "unsupported_parameter",
    "context_too_long",
    "content_filter",
    "rate_limited",
    "overloaded",
    "server",
    "cut_off",
    "empty",
    "unreadable",
    "cancelled",
]

TITLES: dict[ErrorKind, str] = {
    "unreachable": "The provider cannot be reached",
    "tls": "No secure connection to the provider",
    "timeout": "The provider did not answer in time",
    "stalled": "The provider stopped sending",
    "bad_key": "The provider does not accept the key",
    "no_permission": "The key may not do this",
    "no_credit": "The provider asks for credit",
    "no_such_model": "The provider does not know the model",
    "bad_request": "The provider refused the request",
    "unsupported_parameter": "The provider does not support a setting",
    "context_too_long": "The conversation is too long for the model",
    "content_filter": "The provider's content filter refused",
    "rate_limited": "Too many requests",
    "overloaded": "The provider is overloaded",
    "server": "The provider failed",
    "cut_off": "The answer was cut off",
    "empty": "The provider gave an empty answer",
    "unreadable": "The provider's answer cannot be read",
    "cancelled": "Cancelled",
}


class ProviderError(Exception):
    """A model call that failed outside this program. ``str()`` is title and detail, fit for people."""

    def __init__(
        self,
        kind: ErrorKind,
        detail: str = "",
        *,
        title: str = "",
        status: int | None = None,
        code: str = "",
        parameter: str = "",
        retry_after: float | None = None,
        request_id: str = "",
        partial: str = "",
        raw: str = "",
    ) -> None:
        self.kind: ErrorKind = kind
        self.title = title or TITLES[kind]
        self.detail = detail
        self.status = status
        """HTTP status, if there was one."""
        self.code = code
        self.parameter = parameter
        """The setting that the provider refused, for ``unsupported_parameter``."""
        self.retry_after = retry_after
        """Seconds the provider asks to wait."""
        self.request_id = request_id
        self.partial = partial
        """Text that had arrived before the failure; never a complete answer."""
        self.raw = raw
        """Body of the answer, at most 4,000 characters; to be redacted before it is written anywhere."""
        self.should_retry: bool | None = None
        """Whether the provider itself says that another try makes sense."""
        super().__init__(kind, detail)

    def __str__(self) -> str:
        return f"{self.title}: {self.detail}" if self.detail else self.title

    def hide(self, secrets: Iterable[str]) -> None:
        """Takes secrets out of the texts: providers repeat keys in their messages."""
        for secret in sorted((s for s in secrets if len(s) >= 6), key=len, reverse=True):
            self.detail = self.detail.replace(secret, "[secret]")
            self.raw = self.raw.replace(secret, "[secret]")
        self.args = (self.kind, self.detail)
