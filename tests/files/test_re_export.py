"""An export into a folder where there is one already: hand-written lines stay, or a person decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from studio.files.re_export import ExportRecord, merged, planned, write_planned

_CODE = """# node: one
def one():
    # region user one
    result = 1
    # endregion
    return result


# node: two
def two():
    return 2
"""


@pytest.fixture
def record(tmp_path: Path) -> ExportRecord:
    return ExportRecord(tmp_path / "state", tmp_path / "project")


def _write(files: dict[str, str], tmp_path: Path, record: ExportRecord) -> dict[str, str]:
    """Writes what needs no question; the kinds by path."""
    folder = tmp_path / "project"
    plan = planned(files, folder, record)
    write_planned(plan, files, folder, record, [file.path for file in plan if file.kind == "lost"])
    return {file.path: file.kind for file in plan}


def test_what_nobody_touched_is_written_again_without_a_question(tmp_path: Path, record: ExportRecord) -> None:
    file = tmp_path / "project" / "pkg" / "a.py"
    assert _write({"pkg/a.py": _CODE}, tmp_path, record) == {"pkg/a.py": "new"}
    assert _write({"pkg/a.py": _CODE}, tmp_path, record) == {"pkg/a.py": "same"}
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert _write({"pkg/a.py": _CODE + "# more\n"}, tmp_path, record) == {"pkg/a.py": "changed"}
    assert file.read_text(encoding="utf-8") == _CODE + "# more\n"


def test_changes_by_hand_survive_every_following_export(tmp_path: Path, record: ExportRecord) -> None:
    file = tmp_path / "project" / "a.py"
    _write({"a.py": _CODE}, tmp_path, record)
    by_hand = _CODE.replace("result = 1", "result = 100  # by hand")
    file.write_text(by_hand, encoding="utf-8")
    assert _write({"a.py": _CODE}, tmp_path, record) == {"a.py": "kept"}
    assert file.read_text(encoding="utf-8") == by_hand
    for number in ("20", "200"):
        assert _write({"a.py": _CODE.replace("return 2", f"return {number}")}, tmp_path, record) == {"a.py": "kept"}
        assert file.read_text(encoding="utf-8") == by_hand.replace("return 2", f"return {number}")


def test_what_both_changed_is_left_until_a_person_decides(tmp_path: Path, record: ExportRecord) -> None:
    file = tmp_path / "project" / "a.py"
    _write({"a.py": _CODE, "b.py": "1\n"}, tmp_path, record)
    file.write_text(_CODE.replace("result = 1", "result = 100"), encoding="utf-8")
    drawn = {"a.py": _CODE.replace("result = 1", "result = 3"), "b.py": "2\n"}
    for _ in range(2):
        assert _write(drawn, tmp_path, record)["a.py"] == "lost"
        assert "result = 100" in file.read_text(encoding="utf-8")
    assert (tmp_path / "project" / "b.py").read_text(encoding="utf-8") == "2\n"
    plan = planned(drawn, tmp_path / "project", record)
    write_planned(plan, drawn, tmp_path / "project", record)
    assert file.read_text(encoding="utf-8") == drawn["a.py"]
    assert {f.kind for f in planned(drawn, tmp_path / "project", record)} == {"same"}


def test_a_file_of_which_nothing_is_known_is_never_replaced_unasked(tmp_path: Path, record: ExportRecord) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_bytes(b"mine \xff")
    assert _write({"a.py": _CODE}, tmp_path, record) == {"a.py": "lost"}
    assert (tmp_path / "project" / "a.py").read_bytes() == b"mine \xff"


def test_bytes_that_are_no_text_are_never_rewritten(tmp_path: Path, record: ExportRecord) -> None:
    file = tmp_path / "project" / "a.py"
    _write({"a.py": _CODE}, tmp_path, record)
    file.write_bytes(b"# caf\xe9\n" + _CODE.encode())
    assert _write({"a.py": _CODE.replace("return 2", "return 3")}, tmp_path, record) == {"a.py": "lost"}
    assert file.read_bytes().startswith(b"# caf\xe9\n")


def test_a_damaged_record_is_no_record(tmp_path: Path, record: ExportRecord) -> None:
    _write({"a.py": _CODE}, tmp_path, record)
    kept = next((tmp_path / "state" / "exports").iterdir())
    kept.write_text('{"files": [1]}', encoding="utf-8")
    assert record.files() == {}
    assert _write({"a.py": "other\n"}, tmp_path, record) == {"a.py": "lost"}


@pytest.mark.parametrize(
    ("by_hand", "exported", "expected"),
    [
        ("a b c d e", "a b c d e", "a b c d e"),
        ("a X c d e", "a b c Y e", "a X c Y e"),
        ("a b c d e f", "Z a b c d e", "Z a b c d e f"),
        ("a c d e", "a b c d", "a c d"),
        ("a X c d e", "a X c d e", "a X c d e"),
        ("a X c d e", "a Y c d e", None),
        ("a X c d e", "a b Y d e", None),
        ("a b X c d e", "a b Y c d e", None),
        ("a c d e", "a X c d e", None),
    ],
)
def test_two_sets_of_changes_to_one_text(by_hand: str, exported: str, expected: str | None) -> None:
    found = merged("a\nb\nc\nd\ne", by_hand.replace(" ", "\n"), exported.replace(" ", "\n"))
    assert found == (None if expected is None else expected.replace(" ", "\n"))
