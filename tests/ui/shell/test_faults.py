"""What nobody caught is kept without secrets, and the window says so."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator

import pytest
from studio.ui.faults import Faults, log_file

pytestmark = pytest.mark.qt_no_exception_capture


@pytest.fixture
async def told() -> Iterator[list[str]]:  # type: ignore[misc]
    lines: list[str] = []
    faults = Faults(lines.append)
    faults.begin(asyncio.get_running_loop())
    yield lines
    faults.end()
    asyncio.get_running_loop().set_exception_handler(None)


def failed(text: str) -> BaseException:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


async def test_an_error_of_a_slot_is_logged_and_told(told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    error = failed("the key is sk-proj-abcdefgh12345678")
    sys.excepthook(type(error), error, error.__traceback__)
    text = log_file().read_text(encoding="utf-8")
    assert "ValueError: the key is [secret]" in text
    assert "in failed" in text
    assert told == ["Something in the program went wrong (ValueError). Help › Show log has it."]
    assert "ValueError" in capsys.readouterr().err


async def test_an_error_of_a_task_too(told: list[str]) -> None:
    asyncio.get_running_loop().call_exception_handler({"message": "A task failed", "exception": failed("late")})
    assert "A task failed" in log_file().read_text(encoding="utf-8")
    assert len(told) == 1


async def test_warnings_of_the_program_are_in_the_log(told: list[str]) -> None:
    logging.getLogger("studio.somewhere").warning("Bearer abcdefghijkl was refused")
    assert "Bearer [secret] was refused" in log_file().read_text(encoding="utf-8")
    assert told == []


async def test_ctrl_c_is_no_fault(told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert told == []


async def test_without_a_folder_the_program_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("studio.ui.faults.RotatingFileHandler", nowhere)
    lines: list[str] = []
    faults = Faults(lines.append)
    before = sys.excepthook
    faults.begin(asyncio.get_running_loop())
    error = failed("x")
    sys.excepthook(type(error), error, None)
    faults.end()
    asyncio.get_running_loop().set_exception_handler(None)
    assert len(lines) == 1
    assert sys.excepthook is before
