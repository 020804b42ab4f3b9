"""An editor that is killed: the recovery offers the document with at most the last two seconds of edits missing."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from studio.files import read_workflow, recoverable

from tests.crash.edit_victim import FILE, count
from tests.crash.victims import KILLS, Said, kill_at_moments, live_in

LOST = 2.0
"""Seconds of edits that may be missing."""
LINES = 150
"""Some fifty are said in a second."""
DELAY = 0.04


def test_editing_killed_at_ten_moments_loses_two_seconds_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    missing = []
    save_every = [(str((0, 40, 7)[n % 3]),) for n in range(KILLS)]
    for victim, killed in kill_at_moments("edit_victim", tmp_path, save_every, LINES, DELAY, moments):
        live_in(victim.home, monkeypatch)
        missing.append(check_killed_editor(victim.home, killed))
    print(f"seconds of edits that were missing at the ten moments: {[round(m, 2) for m in missing]}")
    assert any(missing), "every moment came just after an entry: this test shows nothing"


def check_killed_editor(home: Path, killed: Said) -> float:
    """Looks at what a killed editor left; returns how old the first edit is that is missing, in seconds."""
    saved = [line["saved"] for line in killed if "saved" in line]
    edits = [(line["edits"], line["t"]) for line in killed if "edits" in line]
    in_file = count(read_workflow(home / FILE))
    assert in_file >= max(saved, default=0), "what was saved is gone"
    found = recoverable()
    offered = in_file
    if found:
        [recovery] = found
        assert (recovery.workflow_id, recovery.path) == ("edited", home / FILE)
        offered = max(in_file, count(recovery.workflow()))
        recovery.discard()
    assert offered <= max((n for n, _ in edits), default=0) + 1
    at = killed[-1]["t"]
    lost = [at - moment for n, moment in edits if n > offered]
    stalled = max((late["t"] - early["t"] for early, late in pairwise(killed)), default=0.0)
    assert max(lost, default=0.0) <= LOST + stalled, "a machine that stands still saves nothing; else two seconds"
    return max(lost, default=0.0)
