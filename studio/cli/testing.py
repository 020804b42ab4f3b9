"""``test``: tests of workflows without a window, without a model and without cost."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from studio.assembly import ServiceSource
from studio.cli.exits import DONE, FAILED, USAGE, Stop, usage
from studio.debugger.assertions import ExpectationProblem
from studio.debugger.junit import TestResult, junit
from studio.debugger.playing import play_test
from studio.debugger.preparation import prepare
from studio.debugger.run_tests import SUFFIX, RunTest, TestProblem, read_test
from studio.document.model import Workflow
from studio.engine import Codec
from studio.files import FileProblem, read_workflow
from studio.settings import trust
from studio.settings.preferences import read_preferences
from studio.settings.profiles import read_profiles
from studio.settings.secrets import Secrets


def command(options: argparse.Namespace) -> int:
    """Runs the tests: 0 all passed, 1 at least one failed, 2 at least one could not be run."""
    files = list(_files(options.files))
    if not files:
        usage(f"There is no test here. Tests are files that end in {SUFFIX}.")
    results = asyncio.run(_run_all(files, trusting=options.trust))
    for result in results:
        print(f"{'ok' if result.passed else 'FAILED'}  {result.name}  ({result.file})")
        for line in (*result.failures, result.error):
            if line:
                print(f"        {line}")
    bad = [r for r in results if not r.passed]
    print(f"{len(results) - len(bad)} passed, {len(bad)} failed")
    if options.junit:
        try:
            Path(options.junit).write_text(junit(results), encoding="utf-8")
        except OSError as error:
            raise Stop(USAGE, f"{options.junit} cannot be written: {error.strerror or error}.") from None
    return USAGE if any(r.error for r in results) else FAILED if bad else DONE


def _files(given: list[str]) -> list[Path]:
    """The files; of a folder all tests in it, at any depth."""
    found: list[Path] = []
    for name in given:
        path = Path(name)
        if path.is_dir():
            found += sorted(path.rglob(f"*{SUFFIX}"))
        elif path.exists():
            found.append(path)
        else:
            usage(f"{name} is not there.")
    return found


async def _run_all(files: list[Path], *, trusting: bool) -> list[TestResult]:
    source = ServiceSource(
        lambda: read_profiles()[0],
        Secrets(),
        trusts=(lambda *_: True) if trusting else trust.is_trusted,
        preferences=lambda: read_preferences()[0],
    )
    try:
        return [await _run(file, source, trusting=trusting) for file in files]
    finally:
        await source.close()


async def _run(file: Path, source: ServiceSource, *, trusting: bool) -> TestResult:
    began = time.perf_counter()
    try:
        test = read_test(file)
        workflow = _workflow(test, file, trusting=trusting)
        folder = (file.parent / test.workflow).absolute().parent
        _, failures = await play_test(test, workflow, lambda: prepare(workflow, source, folder), Codec())
    except (TestProblem, ExpectationProblem, FileProblem) as problem:
        return TestResult(str(file), file.name.removesuffix(SUFFIX), time.perf_counter() - began, error=str(problem))
    except OSError as error:
        text = f"{error.filename or file} cannot be read: {error.strerror or error}."
        return TestResult(str(file), file.name.removesuffix(SUFFIX), time.perf_counter() - began, error=text)
    return TestResult(str(file), test.name, time.perf_counter() - began, tuple(failures))


def _workflow(test: RunTest, file: Path, *, trusting: bool) -> Workflow:
    workflow = read_workflow(file.parent / test.workflow)
    folder = (file.parent / test.workflow).absolute().parent
    if not trusting and trust.trust_list().untrusted(workflow, folder):
        raise TestProblem(f"{test.workflow} has code that nobody has accepted. Read it, then test it with --trust.")
    return workflow
