"""A program that is killed while it saves: the file is the old or the new one, whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from studio.files import kept_versions, read_workflow

from tests.crash.save_victim import FILE, POINTS, document, number_of
from tests.crash.victims import KILLS, Said, Victim, kill_at_moments, live_in

LINES = 200
DELAY = 0.01


def test_saving_killed_at_ten_moments_leaves_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    found = []
    for victim, killed in kill_at_moments("save_victim", tmp_path, [()] * KILLS, LINES, DELAY, moments):
        found.append(check_killed_save(victim, killed, monkeypatch))
    print(f"saves before the ten moments: {found}")


@pytest.mark.parametrize("point", POINTS)
def test_saving_killed_at_each_step_leaves_the_old_or_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    victim = Victim("save_victim", tmp_path, point)
    said = victim.end()
    assert said[-1]["saving"] == 3, victim.errors.read_text(encoding="utf-8")
    assert check_killed_save(victim, said, monkeypatch) == (3 if point == "replaced" else 2)


def check_killed_save(victim: Victim, killed: Said, monkeypatch: pytest.MonkeyPatch) -> int:
    """Reads the file; returns which save it is. Every kept version is whole too."""
    live_in(victim.home, monkeypatch)
    saving = max((line["saving"] for line in killed if "saving" in line), default=0)
    saved = max((line["saved"] for line in killed if "saved" in line), default=0)
    number = number_of(read_workflow(victim.home / FILE))
    assert saved <= number <= saving
    for version in kept_versions("saved"):
        assert number_of(read_workflow(version.path)) <= number
    assert saved == 0 or kept_versions("saved"), "what was replaced is not kept"
    return number


def test_a_file_of_this_test_that_is_a_mixture_is_seen() -> None:
    mixed = document(1).model_copy(update={"nodes": document(2).nodes})
    with pytest.raises(AssertionError):
        number_of(mixed)
