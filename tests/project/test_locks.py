"""The locks hold hashes and versions, and nothing of the machine they were made on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
LOCKS = ("requirements.lock", "requirements-dev.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_no_index_link_url_or_path(name: str) -> None:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    assert not re.findall(r"^.*(?:://|--index|--extra-index|--find-links|-f |-i | @ |file:).*$", text, re.M)
    assert not re.findall(r"(?:^|\s)/\w+", text)


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    text = (PACKAGING / name).read_text(encoding="utf-8").replace("\\\n", " ")
    requirements = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(requirements) > 40
    assert [r for r in requirements if "==" not in r or "--hash=sha256:" not in r] == []


def test_runtime_lock_is_part_of_the_development_lock() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([\w.-]+==[^\s;]+)", (PACKAGING / name).read_text(encoding="utf-8"), re.M))

    assert pins("requirements.lock") <= pins("requirements-dev.lock")


def test_no_second_lock_format() -> None:
    assert not (PACKAGING.parent / "uv.lock").exists()
