"""References to secrets; key stores of every quality (SE-1)."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from studio.settings.secrets import SERVICE, SecretProblem, Secrets


class FakeStore:
    """A key store in memory."""

    priority = 5.0

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, name: str, value: str) -> None:
        self.entries[service, name] = value

    def get_password(self, service: str, name: str) -> str | None:
        return self.entries.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.entries[service, name]


class NullStore(FakeStore):
    def set_password(self, service: str, name: str, value: str) -> None:
        """Loses it silently."""


class LockedStore(FakeStore):
    def set_password(self, service: str, name: str, value: str) -> None:
        raise RuntimeError("prompt dismissed")


class FailStore(FakeStore):
    priority = 0.0


def _file_store() -> FakeStore:
    return type("Plain", (FakeStore,), {"__module__": "keyrings.alt.file"})()


def install(monkeypatch: pytest.MonkeyPatch, store: FakeStore | None) -> None:
    module = types.ModuleType("keyring")

    def get_keyring() -> FakeStore:
        if store is None:
            raise ModuleNotFoundError("configured backend is not installed")
        return store

    module.get_keyring = get_keyring  # type: ignore[attr-defined]
    for name in ("set_password", "get_password", "delete_password"):
        setattr(module, name, getattr(store, name, None))
    monkeypatch.setitem(sys.modules, "keyring", module)


async def test_variables_are_read_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = Secrets()
    with pytest.raises(SecretProblem, match="Work: variable MY_KEY is not set"):
        await secrets.resolve("env:MY_KEY", "Work")
    monkeypatch.setenv("MY_KEY", " canary-key\n")
    assert await secrets.resolve("env:MY_KEY") == "canary-key"
    assert secrets.known == {"canary-key"}
    assert "canary" not in repr(secrets)
    assert await secrets.resolve("") == ""


@pytest.mark.parametrize("value", ["", "  ", "two words", "schlüssel", "a\x00b"])
async def test_what_no_key_can_be_is_refused(value: str) -> None:
    with pytest.raises(SecretProblem):
        await Secrets().store(value, "session")


async def test_a_session_key_is_gone_with_the_program() -> None:
    secrets = Secrets()
    reference = await secrets.store("canary-key", "session")
    assert reference.startswith("session:")
    assert await secrets.resolve(reference) == "canary-key"
    with pytest.raises(SecretProblem, match="one session"):
        await Secrets().resolve(reference)
    await secrets.delete(reference)
    with pytest.raises(SecretProblem):
        await secrets.resolve(reference)


async def test_a_key_in_the_key_store(monkeypatch: pytest.MonkeyPatch, own_places: Path) -> None:
    store = FakeStore()
    install(monkeypatch, store)
    secrets = Secrets()
    assert (await secrets.keychain()).usable
    reference = await secrets.store("canary-key", "keychain")
    assert list(store.entries.values()) == ["canary-key"]
    assert next(iter(store.entries))[0] == SERVICE
    assert await Secrets().resolve(reference) == "canary-key"
    await secrets.delete(reference)
    await secrets.delete(reference)
    assert store.entries == {}
    with pytest.raises(SecretProblem, match="not in the key store"):
        await secrets.resolve(reference)
    assert not [f for f in own_places.rglob("*") if f.is_file() and "canary" in f.read_text()]


@pytest.mark.parametrize(
    "store",
    [NullStore(), LockedStore(), FailStore(), _file_store(), None],
    ids=["null", "locked", "fail", "alt", "none"],
)
async def test_a_key_store_that_cannot_keep_keys_is_not_used(
    monkeypatch: pytest.MonkeyPatch, store: FakeStore | None
) -> None:
    install(monkeypatch, store)
    secrets = Secrets()
    state = await secrets.keychain()
    assert not state.usable
    assert state.reason.endswith(".")
    with pytest.raises(SecretProblem):
        await secrets.store("canary-key", "keychain")


async def test_an_unknown_kind_of_reference_is_refused_without_showing_it() -> None:
    with pytest.raises(SecretProblem) as caught:
        await Secrets().resolve("sk-canary-key")
    assert "canary" not in str(caught.value)
