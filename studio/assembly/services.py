"""Chat clients and workers of a program: made when they are needed, closed together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from studio.agents.client import ChatClient
from studio.agents.mcp import ToolServer
from studio.agents.offline import OfflineModel, offline_client
from studio.agents.openai_client import OpenAIChatClient
from studio.assembly.cassette_run import CassetteRun
from studio.assembly.histories import HistoryFiles
from studio.assembly.mcp import McpServers
from studio.assembly.plan import NoClientError, Services
from studio.assembly.predicates import Predicates
from studio.assembly.price_book import PriceBook
from studio.assembly.profile_client import ProfileClient
from studio.document.model import AgentNode, McpServerDecl, SubWorkflowNode, Workflow
from studio.document.runners import all_agents, spoken_name
from studio.files import FileProblem, read_workflow
from studio.settings import trust
from studio.settings.preferences import Preferences
from studio.settings.profiles import Profile, Profiles, change_profiles, read_profiles
from studio.settings.secrets import Secrets
from studio.workers import Worker


def offline_model(workflow: Workflow) -> OfflineModel:
    """The built-in model of a document, with its script."""
    agents = list(all_agents(workflow))
    script = workflow.offline.model_dump(mode="json")
    return OfflineModel(script, {n.id: n.instructions for n in agents}, {n.id: spoken_name(n) for n in agents})


def served_model(workflow: Workflow, folder: Path | None = None) -> OfflineModel:
    """One model for a document and everything inside it, for a server: there the node is known from the instructions.

    Nodes of a workflow inside are named ``node/id``. Linked files are read from ``folder``; one that cannot be read is
    left out.
    """
    nodes: dict[str, Any] = {}
    instructions: dict[str, str] = {}
    names: dict[str, str] = {}
    for path, document in _documents(workflow, folder, ""):
        for agent in all_agents(document):
            instructions[path + agent.id], names[path + agent.id] = agent.instructions, spoken_name(agent)
            if agent.id in document.offline.nodes:
                nodes[path + agent.id] = document.offline.nodes[agent.id]
    return OfflineModel({"nodes": nodes, "delay_ms": workflow.offline.delay_ms}, instructions, names)


def _documents(
    workflow: Workflow, folder: Path | None, path: str, above: tuple[Path, ...] = ()
) -> Iterator[tuple[str, Workflow]]:
    yield path, workflow
    for node in workflow.nodes:
        if not isinstance(node, SubWorkflowNode):
            continue
        if node.path is None and node.embedded is not None:
            yield from _documents(node.embedded, folder, f"{path}{node.id}/", above)
        elif node.path is not None and folder is not None:
            file = (folder / node.path).resolve()
            with contextlib.suppress(FileProblem):
                if file not in above:
                    yield from _documents(read_workflow(file), file.parent, f"{path}{node.id}/", (*above, file))


class ServiceSource:
    """Gives :class:`Services` for documents; owns every client and worker behind them until :meth:`close`.

    ``profiles`` is asked each time, so that a changed profile counts for the next run. ``provider``: a profile name
    that overrules those of the nodes. ``trusts``: whether the code of a document in a folder may run, by default the
    trust list.
    ``preferences`` gives the Python for code of documents that choose none, and the time limit of a call.
    ``cassette``: the run is recorded, or answered from a recording.
    """

    def __init__(
        self,
        profiles: Callable[[], Profiles],
        secrets: Secrets,
        *,
        provider: str | None = None,
        trusts: Callable[[Workflow, Path | None], bool] = trust.is_trusted,
        preferences: Callable[[], Preferences] = Preferences,
        cassette: CassetteRun | None = None,
    ) -> None:
        self._profiles = profiles
        self._secrets = secrets
        self._provider = provider
        self._trusts = trusts
        self._preferences = preferences
        self._cassette = cassette
        self._clients: dict[str, tuple[Profile, ProfileClient]] = {}
        self._offline: dict[tuple[str, ...], tuple[str, OpenAIChatClient]] = {}
        self._retired: list[ChatClient] = []
        self._workers: dict[tuple[str, ...], Worker] = {}
        self.mcp = McpServers(secrets)
        self.prices = PriceBook()
        self._writing: set[asyncio.Task[None]] = set()
        self._histories = HistoryFiles()

    def services(self, workflow: Workflow, folder: Path | None = None) -> Services:
        """What a plan of this document needs. Starts nothing. ``folder``: where the file is, for linked workflows."""
        return self._services(workflow, folder, (workflow.id,))

    async def learn_keys(self, workflow: Workflow) -> None:
        """Looks up the keys of everything that plans were made of, before the first word of a run is written."""
        for profile, _ in self._clients.values():
            for text in (profile.key_ref, *profile.headers.values()):
                await self._secrets.learn(text)
        for server in workflow.mcp_servers:
            for text in server.headers.values():
                await self._secrets.learn(text)
            for text in server.environment.values():
                await self._secrets.learn(text, key=False)

    async def warm(self, workflow: Workflow, folder: Path | None = None) -> None:
        """Starts the worker of a trusted document with code, so that the first call costs no start."""
        if self._trusts(workflow, folder) and any(part.kind != "mcp" for part in trust.parts(workflow)):
            await self._worker(workflow, (workflow.id,)).start()

    def predicates(self, workflow: Workflow) -> Predicates:
        """Python predicates of breakpoints of this document. Starts nothing; ends with the document."""
        return Predicates(lambda: self._worker(workflow, (workflow.id, "breakpoints")))

    async def forget(self, workflow_id: str) -> None:
        """Ends what belongs to one document: its tab was closed."""
        workers = [key for key in self._workers if key[0] == workflow_id]
        models = [key for key in self._offline if key[0] == workflow_id]
        await asyncio.gather(
            self.mcp.forget(workflow_id),
            *(self._workers.pop(key).close() for key in workers),
            *(self._offline.pop(key)[1].close() for key in models),
        )

    async def close(self) -> None:
        """Ends all workers and connections."""
        clients: list[ChatClient] = [client for _, client in self._clients.values()]
        clients += [client for _, client in self._offline.values()]
        closing = [c.close() for c in (*clients, *self._retired)] + [w.close() for w in self._workers.values()]
        self._clients, self._offline, self._workers, self._retired = {}, {}, {}, []
        others = (self.mcp.close(), self._histories.close())
        await asyncio.gather(*others, *self._writing, *closing, return_exceptions=True)

    # --------------------------------------------------------------------------------------------------- internal

    def _services(self, workflow: Workflow, folder: Path | None, key: tuple[str, ...]) -> Services:
        def inner(document: Workflow, inner_folder: Path | None, inside: tuple[str, ...]) -> Services:
            return self._services(document, inner_folder, (key[0], *inside))

        trusted = self._trusts(workflow, folder)
        return Services(
            client_for=lambda node: self._client(node, workflow, key),
            worker=self._worker(workflow, key) if trusted else None,
            trusted=trusted,
            folder=folder,
            call_seconds=self._preferences().call_seconds,
            inner=inner,
            mcp_server=lambda declared: self._server(declared, folder, key),
            histories=self._histories,
        )

    def _worker(self, workflow: Workflow, key: tuple[str, ...]) -> Worker:
        interpreter = workflow.interpreter or self._preferences().interpreter or None
        key = (*key, f"python:{interpreter or ''}")
        worker = self._workers.get(key)
        if worker is None:
            worker = self._workers[key] = Worker(interpreter)
        return worker

    def _server(self, declared: McpServerDecl, folder: Path | None, key: tuple[str, ...]) -> ToolServer:
        if self._cassette is None:
            return self.mcp.get(key, declared, folder)
        return self._cassette.server(declared, lambda: self.mcp.get(key, declared, folder))

    def _client(self, node: AgentNode, workflow: Workflow, key: tuple[str, ...]) -> ChatClient:
        client = self._plain_client(node, workflow, key)
        return client if self._cassette is None else self._cassette.client(node, client)

    def _plain_client(self, node: AgentNode, workflow: Workflow, key: tuple[str, ...]) -> ChatClient:
        name = self._provider or node.profile
        profile = self._profiles().find(name)
        if self._cassette is not None:
            profile = self._cassette.profile(node, profile)
        if profile is None:
            raise NoClientError(
                f"“{node.name or node.id}” uses the profile “{name}”, which is not there. "
                "Choose another in the inspector, or add it in the settings."
            )
        if profile.offline:
            return self._offline_client(workflow, key)
        known = self._clients.get(profile.name)
        if known is not None and known[0] == profile:
            return known[1]
        if known is not None:
            self._retired.append(known[1])  # a run may still use it
        tape = self._cassette
        client = ProfileClient(
            profile,
            self._secrets,
            prices=self.prices,
            learned=None if tape is not None and tape.replays else self._keep_learned,
            around=None if tape is None else tape.around,
            free=tape is not None and tape.replays,
        )
        self._clients[profile.name] = (profile, client)
        return client

    def _keep_learned(self, name: str, _parameter: str, switches: Mapping[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(asyncio.to_thread(_keep_switches, name, switches))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    def _offline_client(self, workflow: Workflow, key: tuple[str, ...]) -> ChatClient:
        agents = [(n.id, n.name, n.instructions) for n in all_agents(workflow)]
        content = f"{workflow.offline.model_dump_json()}{agents!r}"
        known = self._offline.get(key)
        if known is not None and known[0] == content:
            return known[1]
        if known is not None:
            self._retired.append(known[1])
        client = offline_client(offline_model(workflow), self._cassette.around if self._cassette else None)
        self._offline[key] = (content, client)
        return client


def _keep_switches(name: str, switches: Mapping[str, Any]) -> None:
    """Keeps with the profile what a refusal taught, so that the next start is not refused again."""
    profiles = read_profiles()[0]
    profile = profiles.find(name)
    if profile is not None and not profile.offline and dict(profile.switches) != dict(switches):
        with contextlib.suppress(OSError):  # it is learned again then
            change_profiles(profiles, profiles.with_profile(replace(profile, switches=switches)))
