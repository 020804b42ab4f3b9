"""What the settings do with providers beside writing them: keys into the key store, and probes of models."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from studio.settings.profiles import Profile
from studio.settings.secrets import KeychainState, Kind, SecretProblem, Secrets

if TYPE_CHECKING:
    from studio.agents.probe import ProbeResult


class ProviderModel(QObject):
    """One per program; works on the loop of the window. Without a running loop (a dialog alone) it does nothing."""

    keychain_known = Signal(object)
    """:class:`KeychainState`."""
    key_stored = Signal(str)
    """The reference of a key that was stored."""
    key_refused = Signal(str)
    """Why a key was not stored, as a sentence."""
    step_began = Signal(str, int, int)
    """Name of the step of a probe, its number from 1, and how many there are."""
    found = Signal(object)
    """:class:`studio.agents.probe.Finding`."""
    probed = Signal(object)
    """:class:`studio.agents.probe.ProbeResult`, or a sentence that says why there is none."""

    def __init__(self, secrets: Secrets | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.secrets = secrets or Secrets()
        self._tasks: set[asyncio.Task[None]] = set()
        self._probe: asyncio.Task[None] | None = None

    @property
    def probing(self) -> bool:
        """Whether a probe runs."""
        return self._probe is not None and not self._probe.done()

    def check_keychain(self) -> None:
        """Looks whether the key store can be used; ``keychain_known`` tells."""
        self._start(self._check_keychain())

    def store_key(self, value: str, kind: Kind, replaces: str = "") -> None:
        """Keeps a typed key; ``key_stored`` or ``key_refused`` tells. ``replaces`` is forgotten then."""
        self._start(self._store(value, kind, replaces))

    def forget_key(self, reference: str) -> None:
        """Forgets a stored key."""
        self._start(self.secrets.delete(reference))

    def probe(self, profile: Profile, *, vision: bool = False) -> None:
        """Finds out what the model of a profile can do; one at a time."""
        if not self.probing:
            self._probe = self._start(self._probed(profile, vision))

    def cancel_probe(self) -> None:
        """Ends the probe; its connection is closed."""
        if self._probe is not None:
            self._probe.cancel()

    async def close(self) -> None:
        """Cancels and awaits everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --------------------------------------------------------------------------------------------------- internal

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            work.close()
            return None
        task = loop.create_task(work, name="providers")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _check_keychain(self) -> None:
        state: KeychainState = await self.secrets.keychain()
        self.keychain_known.emit(state)

    async def _store(self, value: str, kind: Kind, replaces: str) -> None:
        try:
            reference = await self.secrets.store(value, kind)
        except SecretProblem as problem:
            self.key_refused.emit(str(problem))
            return
        if replaces:
            await self.secrets.delete(replaces)
        self.key_stored.emit(reference)

    async def _probed(self, profile: Profile, vision: bool) -> None:
        await asyncio.to_thread(_load)
        from studio.agents.errors import ProviderError
        from studio.agents.probe import STEPS, Probe
        from studio.assembly.profile_client import client_settings

        steps = [step for step in STEPS if vision or step != "vision"]

        def began(step: str) -> None:
            self.step_began.emit(step, steps.index(step) + 1, len(steps))

        try:
            settings = await client_settings(profile, self.secrets)
            result: ProbeResult = await Probe(settings, vision, self.found.emit, began).run()
        except asyncio.CancelledError:
            self.probed.emit("")
            raise
        except ProviderError as error:
            self.probed.emit(str(error))
            return
        self.probed.emit(result)


def _load() -> None:
    """Everything that a first call imports, off the loop."""
    import studio.agents.probe
    import studio.assembly.profile_client  # noqa: F401
    from studio.agents.connection import preload

    preload()
