"""The outcome of a phase of the test run, read from pytest, Node and nested runs."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """The outcome of a phase."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0

    @property
    def failures(self) -> int:
        return self.failed + len(self.problems)

    def __str__(self) -> str:
        counts = [f"{self.passed} passed"] if self.passed else []
        counts += [f"{self.failed} failed"] if self.failed else []
        counts += [f"{self.skipped} skipped"] if self.skipped else []
        return ", ".join(counts + self.problems) or "passed"


def read_junit(results: Path, code: int, may_be_empty: bool) -> Outcome:
    """Read pytest's result file and exit status."""
    outcome = Outcome()
    if results.exists():
        for suite in ET.parse(results).getroot().iter("testsuite"):
            count = {
                key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")
            }
            outcome.failed += count["failures"] + count["errors"]
            outcome.skipped += count["skipped"]
            outcome.passed += count["tests"]
        outcome.passed -= outcome.failed + outcome.skipped
    nothing = code == 5
    if nothing and not may_be_empty:
        outcome.problems.append("no tests found")
    elif code != 0 and not nothing and not outcome.failed:
        outcome.problems.append(f"pytest ended with {code}")
    return outcome


def read_tap(text: str, code: int) -> Outcome:
    """Read Node's summary and exit status."""
    counts = {name: int(number) for name, number in re.findall(r"^# (\w+) (\d+)$", text, re.M)}
    outcome = Outcome(
        passed=counts.get("pass", 0),
        failed=counts.get("fail", 0) + counts.get("cancelled", 0),
        skipped=counts.get("skipped", 0) + counts.get("todo", 0),
    )
    if not counts.get("tests"):
        outcome.problems.append("no tests found")
    elif code != 0 and not outcome.failed:
        outcome.problems.append(f"node ended with {code}")
    return outcome


def read_summary(text: str, code: int) -> Outcome:
    """Read the last line of a test run and its exit status."""
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for number, name in re.findall(r"(\d+) (passed|failed|skipped)", text.rpartition("\n=== ")[2]):
        counts[name] = int(number)  # the last line counts
    outcome = Outcome(**counts)
    if code != 0 and not outcome.failed:
        outcome.problems.append(f"the run ended with {code}")
    return outcome
