"""The worked examples of the documentation give what they say."""

import doctest

import pytest

from tests.services import ROOT

pytestmark = pytest.mark.slow


def test_the_examples_of_the_statistics_hold() -> None:
    outcome = doctest.testfile(
        str(ROOT / "docs/statistics.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    assert outcome.attempted > 30 and outcome.failed == 0
