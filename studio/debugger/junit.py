"""Results of tests as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Tree


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test. ``error``: it could not be run; ``failures``: it ran and was not as expected."""

    __test__ = False

    file: str
    name: str
    seconds: float = 0.0
    failures: tuple[str, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether all was as expected."""
        return not self.failures and not self.error


def junit(results: Sequence[TestResult], suite: str = "superstep-studio") -> str:
    """The XML of all results, one test suite."""
    seconds = sum(r.seconds for r in results)
    facts = {
        "name": suite,
        "tests": str(len(results)),
        "failures": str(sum(bool(r.failures) and not r.error for r in results)),
        "errors": str(sum(bool(r.error) for r in results)),
        "time": f"{seconds:.3f}",
    }
    root = Tree.Element("testsuites", facts)
    body = Tree.SubElement(root, "testsuite", {**facts, "skipped": "0"})
    for result in results:
        place = {"classname": _clean(result.file), "name": _clean(result.name), "time": f"{result.seconds:.3f}"}
        case = Tree.SubElement(body, "testcase", place)
        if result.error:
            Tree.SubElement(case, "error", {"message": _clean(result.error)}).text = _clean(result.error)
        elif result.failures:
            first = _clean(result.failures[0])
            Tree.SubElement(case, "failure", {"message": first}).text = _clean("\n".join(result.failures))
    Tree.indent(root)
    return Tree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    """Without the control characters that XML does not have."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "￾￿" and not "\ud800" <= c <= "\udfff"))
