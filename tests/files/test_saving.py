"""Reading and saving: whole files, kept versions, clear problems."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from studio.document.model import Workflow
from studio.files import (
    FileProblem,
    atomic,
    kept_versions,
    read_stamped,
    read_workflow,
    write_project,
    write_workflow,
)
from studio.files.folders import state_folder
from studio.files.versions import KEPT
from studio.settings.places import state_dir

from tests.document.building import Drawing


def test_save_and_open(tmp_path: Path) -> None:
    drawing, path = Drawing("agent", "switch"), tmp_path / "x.workflow.json"
    write_workflow(drawing.workflow, path)
    assert read_workflow(path) == drawing.workflow
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["x.workflow.json"]


def test_what_a_save_replaces_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.workflow.json"
    names = [f"Name {i}" for i in range(KEPT + 3)]
    for name in names:
        write_workflow(Workflow(id="w", name=name), path)
    kept = kept_versions("w")
    assert [read_workflow(v.path).name for v in kept] == names[-2 : -KEPT - 2 : -1]
    assert kept[0].saved > kept[-1].saved > 0
    write_workflow(Workflow(id="w", name=names[-1]), path)
    write_workflow(Workflow(id="w", name=names[-1]), path)
    assert len(kept_versions("w")) == KEPT


def test_saving_over_a_damaged_file_keeps_it_too(tmp_path: Path) -> None:
    path = tmp_path / "x.workflow.json"
    path.write_bytes(b"\xff broken")
    write_workflow(Workflow(id="w"), path)
    assert kept_versions("w")[0].path.read_bytes() == b"\xff broken"


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.workflow.json"
    write_workflow(Workflow(id="w", name="Old"), path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(FileProblem, match="No space left") as caught:
        write_workflow(Workflow(id="w", name="New"), path)
    assert caught.value.way_out
    assert read_workflow(path).name == "Old"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["x.workflow.json"]


def test_links_and_rights_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.workflow.json", tmp_path / "link.workflow.json"
    write_workflow(Workflow(id="w"), target)
    target.chmod(0o640)
    link.symlink_to(target)
    write_workflow(Workflow(id="w", name="New"), link)
    assert link.is_symlink()
    assert read_workflow(target).name == "New"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="cannot be opened") as caught:
        read_workflow(tmp_path / "none.json")
    assert "Check that it is there" in caught.value.way_out
    with pytest.raises(FileProblem, match="is a folder") as caught:
        read_workflow(tmp_path)
    assert "Check that it is there" not in caught.value.way_out
    with pytest.raises(FileProblem, match="cannot be written"):
        write_workflow(Workflow(), tmp_path / "none" / "x.json")


def test_a_stamp_sees_what_another_program_wrote(tmp_path: Path) -> None:
    path = tmp_path / "x.workflow.json"
    written = write_workflow(Workflow(id="w", name="Mine 1"), path)
    assert read_stamped(path)[1] == written
    assert not written.differs(path)
    os.utime(path, ns=(0, written.mtime_ns + 5))
    assert not written.differs(path)  # touched, with the same content
    theirs = write_workflow(Workflow(id="w", name="Their 1"), path)
    assert written.differs(path)
    assert not theirs.differs(path)
    same_size = path.read_bytes().replace(b"Their 1", b"Their 2")
    path.write_bytes(same_size)
    os.utime(path, ns=(0, theirs.mtime_ns + 1))
    assert theirs.differs(path)
    path.unlink()
    assert not theirs.differs(path)


def test_a_stamp_is_of_what_was_written_not_of_what_came_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.workflow.json"
    monkeypatch.setattr(atomic, "_sync_folder", lambda _: path.write_text("theirs, right after the save"))
    assert write_workflow(Workflow(id="w"), path).differs(path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with open(path, "wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(FileProblem, match="has 50 MB; workflow files have at most 20 MB"):
        read_workflow(path)


def test_the_state_folder_is_that_of_the_settings() -> None:
    assert state_folder("journals").parent == state_dir()


def test_a_project_is_written_with_its_folders(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "own.txt").write_text("mine")
    written = write_project({"README.md": "Hi\n", "pkg/deep/x.py": "é = 1\n"}, tmp_path / "out")
    assert [p.relative_to(tmp_path).as_posix() for p in written] == ["out/README.md", "out/pkg/deep/x.py"]
    assert (tmp_path / "out/pkg/deep/x.py").read_text("utf-8") == "é = 1\n"
    assert (tmp_path / "out/own.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:/x", "a\\..\\x", "", ".", "a\0b", "link/x"])
def test_a_project_never_leaves_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(FileProblem, match="outside of its folder"):
        write_project({"fine.txt": "", name: "bad"}, folder)
    assert sorted(os.listdir(folder)) == ["link"]
