"""A run that is recorded on a cassette, or answered from one: what its clients, tools and servers are then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.agents.cassettes import Cassette, recording, recording_tools, replaying, replaying_tools
from studio.agents.cassettes.servers import RecordingServer, ReplayedServer
from studio.agents.cassettes.tape import Tape
from studio.agents.client import ChatClient
from studio.agents.connection import ClientSettings
from studio.agents.layers import LayeredClient
from studio.agents.mcp import McpServer, ToolServer
from studio.agents.middleware import Middleware
from studio.assembly.mcp import plain_settings
from studio.document.model import AgentNode, McpServerDecl
from studio.settings.profiles import Profile


class CassetteRun:
    """One cassette for one run. ``replays``: nothing is asked, started or paid for; what was never recorded fails."""

    def __init__(self, cassette: Cassette, *, replays: bool) -> None:
        self.cassette = cassette
        self.replays = replays
        self._tape = Tape(cassette)

    def around(self, settings: ClientSettings) -> ClientSettings:
        """Settings of a client that records or replays."""
        return replaying(settings, self._tape) if self.replays else recording(settings, self._tape)

    def client(self, node: AgentNode, client: ChatClient) -> ChatClient:
        """The client of a node, with its tools on the cassette."""
        tools = replaying_tools if self.replays else recording_tools
        return LayeredClient(client, Middleware(function=(tools(self.cassette, node.id),)))

    def server(self, declared: McpServerDecl, make: Callable[[], McpServer]) -> ToolServer:
        """The server of a declaration: the real one while recording, none in a replay."""
        if self.replays:
            return ReplayedServer(plain_settings(declared, None), self.cassette)
        return RecordingServer(make(), self.cassette)

    def profile(self, node: AgentNode, profile: Profile | None) -> Profile | None:
        """The profile of a node; a replay needs neither its secrets nor that there is one: the model is then that of
        the recording."""
        if not self.replays:
            return profile
        if profile is not None:
            return replace(profile, key_ref="", headers={})
        asked = next((c.request for c in self.cassette.calls if c.node == node.id), None)
        model = asked.get("model", "") if isinstance(asked, dict) else ""
        return Profile("replay", "other", "http://replay.invalid/v1", "", str(model))
