"""The built-in model: deterministic, scriptable, needs no network.

It answers inside the process as a transport of the real chat client, and over loopback HTTP for exported code.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.agents.connection import ClientSettings
from studio.agents.offline.model import OfflineModel
from studio.agents.offline.server import Server, serve
from studio.agents.openai_client import OpenAIChatClient

__all__ = ["OfflineModel", "Server", "offline_client", "serve"]


def offline_client(
    model: OfflineModel, around: Callable[[ClientSettings], ClientSettings] | None = None
) -> OpenAIChatClient:
    """A chat client whose calls ``model`` answers, through the whole real path but the network. ``around``: makes
    settings that record it, or replay."""

    def transport() -> object:
        from studio.agents.offline.transport import OfflineTransport

        return OfflineTransport(model)

    settings = ClientSettings(
        "http://offline.invalid/v1", model=model.name, send_names=True, name_node=True, transport=transport
    )
    return OpenAIChatClient(settings if around is None else around(settings))
