"""A thousand times add, connect, delete, undo and redo on a shown canvas, then quit."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def test_a_thousand_rounds_leave_nothing_behind() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-m", "tests.fuzz.churn_child"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    told = json.loads(ran.stdout)
    assert told["messages"] == []
    grown = {k: (told["before"].get(k, 0), n) for k, n in told["after"].items() if n > told["before"].get(k, 0)}
    assert not grown, f"there is more of these than before: {grown}"
