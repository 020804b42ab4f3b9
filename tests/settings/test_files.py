"""Preferences, profiles, recent files: round trips; damaged and foreign content never stops a start."""

from __future__ import annotations

import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from studio.settings import keeping, places, profiles, recent
from studio.settings.preferences import (
    Preferences,
    change_preferences,
    read_preferences,
    settings_file,
    write_preferences,
)
from studio.settings.profiles import (
    OFFLINE,
    Profile,
    Profiles,
    change_profiles,
    profiles_file,
    read_profiles,
    write_profiles,
)


def test_preferences_come_back_with_what_newer_versions_wrote() -> None:
    assert read_preferences() == (Preferences(), ())
    written = Preferences(theme="dark", font_scale=1.25, kept={"future": {"a": 1}}).with_layout("minimap", False)
    write_preferences(written)
    assert read_preferences() == (written, ())
    assert stat.S_IMODE(settings_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(places.config_dir().stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "line", ['theme = "purple"', "font_scale = 40", 'font_scale = "big"', "font_scale = true", "reopen_last = 3"]
)
def test_an_impossible_value_costs_only_itself(line: str) -> None:
    settings_file().write_text(line + "\nreduce_motion = true\n")
    preferences, problems = read_preferences()
    assert preferences == Preferences(reduce_motion=True)
    assert line.split()[0] in problems[0]


@pytest.mark.parametrize("content", [b"theme = ", b"\xff\xfe\x00", b"{", b"\x00" * 5000])
def test_damaged_files_are_kept_apart(content: bytes) -> None:
    settings_file().write_bytes(content)
    profiles_file().write_bytes(content)
    preferences, problems = read_preferences()
    assert preferences == Preferences()
    assert "settings.toml.broken" in problems[0]
    assert (places.config_dir() / "settings.toml.broken").read_bytes() == content
    assert read_profiles()[0] == Profiles()
    write_preferences(preferences)
    assert read_preferences() == (Preferences(), ())


def test_profiles_come_back_and_the_built_in_one_is_always_there() -> None:
    mine = Profile("Work", "openai", "https://api.openai.com/v1", "env:OPENAI_API_KEY", "gpt-5", {"X-Team": "env:TEAM"})
    write_profiles(Profiles().with_profile(mine).with_profile(Profile("Offline model", "other")))
    found, problems = read_profiles()
    assert found.profiles == (OFFLINE, mine)
    assert problems == ()
    assert found.find(None) is OFFLINE
    assert found.find("Work") == mine
    assert found.find("Gone") is None
    assert profiles.references(found.profiles) == {"env:OPENAI_API_KEY", "env:TEAM"}
    assert found.without("Work").without("Offline model") == Profiles()
    assert stat.S_IMODE(profiles_file().stat().st_mode) == 0o600


def test_a_profile_with_a_key_in_clear_is_left_out_and_named() -> None:
    profiles_file().write_text('[[profile]]\nname = "A"\nkey_ref = "sk-1234567890"\n[[profile]]\nbase_url = "x"\n')
    found, problems = read_profiles()
    assert found.profiles == (OFFLINE,)
    assert any("A holds a key itself" in p for p in problems)
    assert "sk-1234567890" not in " ".join(problems)


def test_pasted_addresses_are_cleaned() -> None:
    assert profiles.clean_base_url("  http://h:1/v1/chat/completions \n") == "http://h:1/v1"
    assert profiles.clean_base_url("http://h/v1/") == "http://h/v1"


def test_presets_are_complete() -> None:
    assert profiles.presets()["ollama"].base_url == "http://localhost:11434/v1"
    assert profiles.presets()["offline"].base_url == OFFLINE.base_url
    assert len(profiles.presets()) == 16


def test_recent_files_the_latest_first_without_doubles(tmp_path: Path) -> None:
    for number in range(25):
        recent.opened(tmp_path / f"{number}.workflow.json", f"Flow {number}", now=number)
    recent.opened(tmp_path / "20.workflow.json", "Flow 20", now=99)
    listed = recent.recent_files()
    assert [f.name for f in listed[:2]] == ["Flow 20", "Flow 24"]
    assert len(listed) == recent.LONGEST
    assert not listed[0].exists
    recent.keep_session([tmp_path / "1.workflow.json"])
    recent.forget(listed[0].path)
    assert recent.recent_files()[0].name == "Flow 24"
    assert recent.last_session() == [str(tmp_path / "1.workflow.json")]


def test_a_damaged_list_of_recent_files_is_empty() -> None:
    (places.state_dir() / "recent.json").write_text('{"files": [{}]}')
    assert recent.recent_files() == []


def test_who_changes_a_list_of_files_waits_for_who_is_changing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()
    monkeypatch.setattr(keeping, "_TURN_S", 600.0)
    monkeypatch.setattr(keeping.time, "sleep", lambda _seconds: waits.set())
    file = places.state_dir() / "recent.json"
    other = threading.Thread(target=recent.opened, args=(tmp_path / "b", "B", 2.0))
    with keeping.alone(file):
        other.start()
        assert waits.wait(60)
        keeping.write(file, '{"files": [{"path": "/a", "name": "A", "opened": 1.0}]}')
    other.join(60)
    assert [found.name for found in recent.recent_files()] == ["B", "A"]


def test_a_turn_that_never_ends_keeps_nobody_from_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_TURN_S", 0.0)
    with keeping.alone(places.state_dir() / "recent.json"):
        recent.opened(tmp_path / "a", "A")
    assert [found.name for found in recent.recent_files()] == ["A"]


def test_two_windows_change_preferences_each_its_own() -> None:
    both = Preferences(shortcuts={"a": ("Ctrl+1",), "b": ("Ctrl+2",)}, kept={"future": 1})
    write_preferences(both)
    change_preferences(both, replace(both, theme="dark", shortcuts={"a": ("Ctrl+1",)}))
    change_preferences(both, replace(both, font_scale=1.5, shortcuts={**both.shortcuts, "c": ()}))
    expected = replace(both, theme="dark", font_scale=1.5, shortcuts={"a": ("Ctrl+1",), "c": ()})
    assert read_preferences()[0] == expected
    settings_file().write_text("theme = ")
    change_preferences(expected, replace(expected, wheel="zoom"))
    assert read_preferences()[0] == replace(expected, wheel="zoom")


def test_two_windows_change_providers_each_its_own() -> None:
    seen = Profiles().with_profile(Profile("A", "other")).with_profile(Profile("B", "other"))
    write_profiles(seen)
    change_profiles(seen, seen.with_profile(Profile("A", "other", "http://a.invalid")))
    stored = change_profiles(seen, replace(seen.with_profile(Profile("C", "other")).without("B"), default="C"))
    assert stored == read_profiles()[0]
    assert [(p.name, p.base_url) for p in stored.profiles[1:]] == [("A", "http://a.invalid"), ("C", "")]
    assert stored.default == "C"
