"""Building the HTTP side of a chat client: the one place that imports ``openai`` and ``httpx2``.

Both are imported inside functions and the client is built in a thread: together that takes up to a second.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from studio.agents.errors import ProviderError
from studio.agents.switches import LimitName, Switches

if TYPE_CHECKING:
    import httpx2
    import openai

NO_KEY = "not-needed"
"""Sent to servers without keys: the client refuses an empty one."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. There is no limit for a whole answer."""

    connect: float = 10
    write: float = 30
    pool: float = 10
    first_byte: float = 300
    """Local servers may load a model first: 900 is a good value there."""
    stall: float = 60
    """The longest silence inside an answer."""


DEFAULT_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Where and how to reach a provider. Holds the resolved key: never write it anywhere, never show its repr."""

    base_url: str
    api_key: str = field(default="", repr=False)
    """Empty: the server wants none."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    """Parameters of every address, for the version of an Azure address; never a secret."""
    model: str = ""
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    tries: int = 3
    """Attempts per call, the first included."""
    include_usage: bool = True
    limit_name: LimitName = "max_tokens"
    send_names: bool = False
    """Whether messages carry their author's name; many providers refuse that."""
    switches: Switches | None = None
    """How the provider wants to be spoken to, in full; then the three before do not count."""
    learned: Callable[[str, Switches], None] | None = None
    """Hears what a refusal taught: the setting, and the switches from now on."""
    name_node: bool = False
    """Whether the node's id goes along as a header: only for the built-in model inside this process."""
    known: Callable[[], Collection[str]] | None = None
    """The keys in use, which no answer may repeat, as one object until there is another; None: only ``api_key``."""
    trust_environment: bool = True
    """Whether proxies of the environment are used; never for loopback addresses."""
    ca_file: str | None = None
    max_parallel: int = 64
    transport: Callable[[], object] | None = None
    """Makes an ``httpx2`` transport that answers instead of the network."""
    around: Callable[[Any, bool], object] | None = None
    """Makes a transport around the one in use; also told whether that one answers in-process."""

    def first_switches(self) -> Switches:
        """The switches that a client begins with."""
        return self.switches or Switches(self.include_usage, self.limit_name, self.send_names)


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check(settings: ClientSettings) -> None:
    """Raises :class:`ProviderError` for what would otherwise end in a nameless failure inside the client."""
    if not urlsplit(settings.base_url).scheme.startswith("http") or not urlsplit(settings.base_url).hostname:
        raise ProviderError("bad_request", f"{settings.base_url!r} is no address; it begins with http:// or https://")
    for name, value in {"the key": settings.api_key, **settings.headers}.items():
        blank = value != value.strip() or (name == "the key" and " " in value)
        if not value.isascii() or not value.isprintable() or blank:
            detail = f"{name} has blanks or characters that no key has"
            raise ProviderError("bad_key", detail, title="The key cannot be used")


async def connect(settings: ClientSettings) -> openai.AsyncOpenAI:
    """The ``openai`` client of these settings; opens no connection yet."""
    check(settings)
    return await asyncio.to_thread(_build, settings)


def preload() -> None:
    """Imports what a first call needs; for a thread while the window is idle."""
    with _building:
        _import()


_building = threading.Lock()


def _import() -> None:
    """Everything that a first call would load on the loop, the client's connection code (anyio) included."""
    import anyio._backends._asyncio  # noqa: F401
    import httpx2  # noqa: F401
    import openai
    import openai.resources.chat.completions  # noqa: F401


def _build(settings: ClientSettings) -> openai.AsyncOpenAI:
    with _building:
        _import()
        return _build_client(settings)


def _build_client(settings: ClientSettings) -> openai.AsyncOpenAI:
    import httpx2
    import openai

    times = settings.timeouts
    local = settings.transport is not None or is_loopback(settings.base_url)
    more: dict[str, Any] = {"transport": settings.transport()} if settings.transport is not None else {}
    try:
        http: httpx2.AsyncClient = openai.DefaultAsyncHttpxClient(
            verify=_context(settings.ca_file) if urlsplit(settings.base_url).scheme == "https" else False,
            trust_env=settings.trust_environment and not local,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=settings.max_parallel, max_keepalive_connections=8),
            timeout=httpx2.Timeout(times.first_byte, connect=times.connect, write=times.write, pool=times.pool),
            **more,
        )
    except (ImportError, ValueError) as error:  # a proxy of the environment that cannot be used
        raise ProviderError("unreachable", f"the proxy of the environment cannot be used: {error}") from error
    if settings.around is not None:
        http = _surrounded(http, settings)
    client = openai.AsyncOpenAI(
        api_key=settings.api_key or NO_KEY,
        admin_api_key="",
        webhook_secret="",
        base_url=settings.base_url,
        default_headers=default_headers(settings),
        default_query=dict(settings.query) or None,
        max_retries=0,
        http_client=http,
    )
    _name_platform(client)
    _ = client.chat.completions  # lazy in the client; loading it costs as much as building
    return client


def _surrounded(http: httpx2.AsyncClient, settings: ClientSettings) -> httpx2.AsyncClient:
    """A client whose calls go through ``settings.around`` before the real one sends them."""
    import openai

    from studio.agents.cassettes.transport import ThroughClient

    assert settings.around is not None
    transport: Any = settings.around(ThroughClient(http), settings.transport is not None)
    return openai.DefaultAsyncHttpxClient(
        transport=transport, trust_env=False, follow_redirects=False, timeout=http.timeout
    )


def _name_platform(client: openai.AsyncOpenAI) -> None:
    """Saves a thread at the first call: openai 3 finds the platform's name in one of its own."""
    from openai import _base_client

    client._platform = _base_client.get_platform()


def default_headers(settings: ClientSettings) -> dict[str, Any]:
    """Headers that keep the environment out.

    The client reads an organisation, a project and any header from variables, even over an explicit key, and
    would send them to whatever address is asked. So each is set or left out by name.
    """
    import openai

    headers: dict[str, Any] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        name, colon, _ = line.partition(":")
        if colon and name.strip().lower() != "authorization":
            headers[name.strip()] = openai.Omit()
    headers["Authorization"] = f"Bearer {settings.api_key or NO_KEY}"
    own = {name.lower() for name in settings.headers}
    kept = {name: value for name, value in headers.items() if name.lower() not in own}
    return {**kept, **settings.headers}


@cache
def _context(ca_file: str | None) -> ssl.SSLContext:
    """One context for all clients: making one takes up to 50 ms."""
    import httpx2

    return ssl.create_default_context(cafile=ca_file) if ca_file else httpx2.create_ssl_context()
