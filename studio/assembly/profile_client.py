"""The chat client of a profile: its secrets, options and switches, and the cost of its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from studio.agents.connection import DEFAULT_TIMEOUTS, ClientSettings, is_loopback
from studio.agents.cost import Cost
from studio.agents.errors import ProviderError
from studio.agents.messages import AgentReply, Usage
from studio.agents.openai_client import OpenAIChatClient
from studio.agents.switches import Switches
from studio.assembly.price_book import PriceBook
from studio.settings.profiles import Profile
from studio.settings.secrets import SecretProblem, Secrets

_NEWER_LIMIT = ("openai", "azure", "azure_dated")
"""Kinds whose answer limit is called ``max_completion_tokens``."""
_LOCAL_FIRST_BYTE = 900.0

Around = Callable[[ClientSettings], ClientSettings]
"""Makes settings of a client that records, or is answered from a cassette."""


class ProfileClient:
    """A chat client of one profile. Its secrets are resolved at the first call, so that a plan can be made without.

    ``learned`` hears the switches of the profile after a refusal taught something. ``around``: see :data:`Around`;
    calls are then not priced.
    """

    def __init__(
        self,
        profile: Profile,
        secrets: Secrets,
        *,
        prices: PriceBook | None = None,
        learned: Callable[[str, str, Mapping[str, Any]], None] | None = None,
        around: Around | None = None,
        free: bool = False,
    ) -> None:
        self._profile = profile
        self._secrets = secrets
        self._prices = None if free else prices
        self._learned = learned
        self._around = around
        self._client: OpenAIChatClient | None = None
        self._opening = asyncio.Lock()

    @property
    def model(self) -> str:
        """The model of the profile."""
        return self._profile.model

    def spoken_to(self) -> tuple[str, Switches]:
        """The address, and how it is spoken to."""
        if self._client is not None:
            return self._client.spoken_to()
        return self._profile.base_url, switches_of(self._profile)

    def retry_now(self) -> None:
        """Ends all waits before a further try."""
        if self._client is not None:
            self._client.retry_now()

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """One model call. Raises :class:`ProviderError`, also for a secret that cannot be had."""
        async with self._opening:
            if self._client is None:
                self._client = OpenAIChatClient(await self._settings())
        reply = await self._client.complete(request, chunk=chunk, hooks=hooks)
        if self._prices is None:
            return reply
        model = request.options.model or self._profile.model
        return replace(reply, usage=self._prices.priced(self._profile.kind, model, reply.usage))

    def cost_of(self, model: str, usage: Usage) -> Cost | None:
        """What a call to the model ("": that of the profile) costs, by the prices of now."""
        if self._prices is None:
            return None
        return self._prices.table.cost(self._profile.kind, model or self._profile.model, usage)

    async def close(self) -> None:
        """Gives connections up; the next call reads the secrets again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _settings(self) -> ClientSettings:
        settings = await client_settings(self._profile, self._secrets)
        if self._learned is not None:
            settings = replace(settings, learned=self._tell)
        return settings if self._around is None else self._around(settings)

    def _tell(self, parameter: str, switches: Switches) -> None:
        assert self._learned is not None
        self._learned(self._profile.name, parameter, switches_table(self._profile.kind, switches))


async def client_settings(profile: Profile, secrets: Secrets) -> ClientSettings:
    """The settings of a client, with the values behind the references. Raises :class:`ProviderError`."""
    try:
        key = await secrets.resolve(profile.key_ref, profile.name)
        headers = {name: await secrets.fill(value, profile.name) for name, value in profile.headers.items()}
    except SecretProblem as problem:
        raise ProviderError("bad_key", str(problem), title="The key cannot be had") from problem
    options = profile.options
    query = {"api-version": options.api_version} if options.api_version else {}
    if profile.kind == "azure_dated" and key:
        headers, key = {"api-key": key, **headers}, ""
    local = is_loopback(profile.base_url)
    first_byte = options.first_byte or (_LOCAL_FIRST_BYTE if local else DEFAULT_TIMEOUTS.first_byte)
    return ClientSettings(
        profile.base_url,
        key,
        headers,
        query,
        profile.model,
        timeouts=replace(DEFAULT_TIMEOUTS, first_byte=first_byte, stall=options.stall),
        tries=options.tries,
        switches=switches_of(profile),
        known=lambda: secrets.keys,
        trust_environment=options.proxy == "system",
        ca_file=options.ca_file or None,
        max_parallel=options.max_parallel,
    )


def kind_switches(kind: str) -> Switches:
    """How servers of a kind are spoken to before anything is learned."""
    return Switches(limit_name="max_completion_tokens" if kind in _NEWER_LIMIT else "max_tokens")


def switches_of(profile: Profile) -> Switches:
    """The switches of a profile; entries that are none are left out."""
    first = kind_switches(profile.kind)
    known: dict[str, Any] = {}
    for field in fields(Switches):
        value = profile.switches.get(field.name)
        before = getattr(first, field.name)
        if isinstance(before, frozenset) and isinstance(value, list):
            known[field.name] = frozenset(str(v) for v in value)
        elif value is not None and type(value) is type(before):
            known[field.name] = value
    return replace(first, **known)


def switches_table(kind: str, switches: Switches) -> dict[str, Any]:
    """What differs from the kind, as a table for the profile's file."""
    first = asdict(kind_switches(kind))
    found = {name: value for name, value in asdict(switches).items() if value != first[name]}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in found.items()}
