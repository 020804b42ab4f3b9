"""Secrets by reference: ``env:NAME`` (read when used), ``keychain:ID`` (the system's key store), ``session:ID`` (in
memory until the program ends). Values live in one :class:`Secrets` object; everything else holds references.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets as random_source
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

SERVICE = "superstep-studio"
REFERENCES = ("env:", "keychain:", "session:")
"""How a reference to a secret begins."""
Kind = Literal["keychain", "session"]
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|CREDENTIALS?|AUTH|DSN)$", re.IGNORECASE)


class SecretProblem(Exception):
    """A secret cannot be had; the text is a whole sentence."""


@dataclass(frozen=True, slots=True)
class KeychainState:
    """Whether the system's key store can be used, else why not in one sentence."""

    usable: bool
    reason: str = ""


class Secrets:
    """Resolves and stores secrets. Key store calls block, some until a person answers a prompt: they run in threads."""

    def __init__(self) -> None:
        self._session: dict[str, str] = {}
        self._known: set[str] = set()
        self._keys: frozenset[str] = frozenset()
        self._learned: set[str] = set()
        self._keychain: KeychainState | None = None

    def __repr__(self) -> str:
        return f"Secrets({len(self._session)} for this session)"

    @property
    def known(self) -> frozenset[str]:
        """Every value resolved so far of six characters or more: what redaction looks for."""
        return frozenset(v for v in self._known if len(v) >= 6)

    @property
    def keys(self) -> frozenset[str]:
        """The values of those that surely are keys and tokens: the same object until there is another one."""
        return self._keys

    async def resolve(self, reference: str, owner: str = "", *, key: bool = True) -> str:
        """The value behind a reference; "" for an empty one. ``owner``: name of the profile, for the message.

        ``key``: whether a value from the environment is a key whatever its variable is called. Raises
        :class:`SecretProblem`.
        """
        if not reference:
            return ""
        kind, _, name = reference.partition(":")
        who = f"{owner}: " if owner else ""
        if kind == "env":
            value = os.environ.get(name)
            if value is None:
                raise SecretProblem(f"{who}variable {name} is not set.")
        elif kind == "session":
            value = self._session.get(name)
            if value is None:
                raise SecretProblem(f"{who}the key was kept for one session only; type it again.")
        elif kind == "keychain":
            value = await asyncio.to_thread(_keychain_get, name)
            if value is None:
                raise SecretProblem(f"{who}the key is not in the key store of this computer; type it again.")
        else:
            raise SecretProblem(f"{who}the key must be a reference like env:NAME.")
        value = clean(value, f"{who}the value of {reference if kind == 'env' else 'the key'}")
        self._add(value, key=key or kind != "env" or _SECRET_NAME.search(name) is not None)
        return value

    async def fill(self, text: str, owner: str = "", *, key: bool = True) -> str:
        """A text with the values in place of its references: "Bearer env:TOKEN". Raises :class:`SecretProblem`."""
        words = [await self.resolve(w, owner, key=key) if w.startswith(REFERENCES) else w for w in text.split(" ")]
        return " ".join(words)

    async def learn(self, text: str, *, key: bool = True) -> None:
        """Looks behind the references of a text before they are used, so that :attr:`keys` is complete when something
        is written; what cannot be had is told when it is used. The key store is asked once."""
        for word in text.split(" "):
            if word.startswith(REFERENCES) and word not in self._learned:
                with contextlib.suppress(SecretProblem):
                    await self.resolve(word, key=key)
                    if not word.startswith("env:"):
                        self._learned.add(word)

    async def store(self, value: str, kind: Kind) -> str:
        """Keeps a typed value; gives its reference. Raises :class:`SecretProblem`; never writes it anywhere else."""
        value = clean(value, "The key")
        name = uuid4().hex
        if kind == "keychain":
            await asyncio.to_thread(_keychain_set, name, value)
        else:
            self._session[name] = value
        self._add(value, key=True)
        return f"{kind}:{name}"

    def _add(self, value: str, *, key: bool) -> None:
        self._known.add(value)
        if key and value not in self._keys:
            self._keys |= {value}

    async def delete(self, reference: str) -> None:
        """Forgets a stored value; one that is gone already is no error."""
        kind, _, name = reference.partition(":")
        if kind == "session":
            self._session.pop(name, None)
        elif kind == "keychain":
            await asyncio.to_thread(_keychain_delete, name)

    async def keychain(self) -> KeychainState:
        """Whether the key store works: a random value is written, read and deleted, once per start."""
        if self._keychain is None:
            self._keychain = await asyncio.to_thread(_probe)
        return self._keychain


def clean(value: str, what: str) -> str:
    """The value without blanks around it; raises :class:`SecretProblem` if it cannot be a key."""
    value = value.strip()
    if not value:
        raise SecretProblem(f"{what} is empty.")
    if not value.isascii() or any(sign.isspace() or not sign.isprintable() for sign in value):
        raise SecretProblem(f"{what} has characters that no key has; was something else pasted?")
    return value


# --------------------------------------------------------------------------- in threads, with the import of keyring


def _probe() -> KeychainState:
    name, value = f"probe-{uuid4().hex}", random_source.token_hex(8)
    try:
        import keyring

        backend = keyring.get_keyring()
        if type(backend).__module__.startswith("keyrings.alt"):
            return KeychainState(False, "The key store of this computer would keep keys in plain files.")
        if backend.priority <= 0:
            return KeychainState(False, "This computer has no key store that can be used.")
        keyring.set_password(SERVICE, name, value)
        found = keyring.get_password(SERVICE, name)
        keyring.delete_password(SERVICE, name)
    except Exception as error:  # backends raise what they like, also on import
        return KeychainState(False, f"The key store of this computer cannot be used ({type(error).__name__}).")
    if found != value:
        return KeychainState(False, "The key store of this computer does not keep what is given to it.")
    return KeychainState(True)


def _usable() -> None:
    state = _probe()
    if not state.usable:
        raise SecretProblem(state.reason)


def _keychain_get(name: str) -> str | None:
    try:
        import keyring

        return keyring.get_password(SERVICE, name)
    except Exception as error:
        raise SecretProblem(f"The key store of this computer did not answer ({type(error).__name__}).") from error


def _keychain_set(name: str, value: str) -> None:
    _usable()
    try:
        import keyring

        keyring.set_password(SERVICE, name, value)
    except Exception as error:
        raise SecretProblem(f"The key store of this computer did not take the key ({type(error).__name__}).") from error


def _keychain_delete(name: str) -> None:
    try:
        import keyring

        keyring.delete_password(SERVICE, name)
    except Exception:
        return  # gone, or no store: nothing of ours is left that could be reached
