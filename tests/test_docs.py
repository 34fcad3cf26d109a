"""The examples in the documentation work."""

import doctest

import pytest

from tests.support.services import ROOT

pytestmark = pytest.mark.once


@pytest.mark.slow
def test_the_examples_in_the_statistics_docs_work() -> None:
    outcome = doctest.testfile(
        str(ROOT / "docs/statistics.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    assert outcome.attempted > 30 and outcome.failed == 0
