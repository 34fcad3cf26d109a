"""The JavaScript statistics of /verify/, compared with SciPy and aggregation.statistics."""

import json
import subprocess
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from aggregation.statistics import privacy
from aggregation.statistics.numeric.binomial import lower_limit, upper_limit
from survey.design.mechanism import SCALE, Cell, Cells
from tests.support.cells import reports
from tests.vectors.generate import designs, one_block, protocol

pytestmark = [pytest.mark.node, pytest.mark.once]

SCRIPT = Path(__file__).with_name("verify.mjs")
Law = dict[Cell, Fraction]


def call(name: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Call the page's function with each of these."""
    calls = json.dumps([[name, given] for given in arguments])
    done = subprocess.run(
        ["node", str(SCRIPT)], input=calls, capture_output=True, text=True, check=True
    )
    values: list[Any] = json.loads(done.stdout)
    return values


def test_log_gamma_agrees_with_scipy() -> None:
    x = [0.01, 0.5, 1, 1.5, 2, 3.7, 11.9, 12, 100, 25_000.5, 1e6]
    expected = special.gammaln(x)
    assert call("logGamma", [(one,) for one in x]) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_incomplete_gamma_agrees_with_scipy() -> None:
    grid = [
        (a, a * ratio)
        for a in (0.5, 1, 1.5, 7.5, 15, 100, 5000)
        for ratio in (1e-3, 0.3, 0.9, 0.999, 1, 1.001, 1.1, 2, 10)
    ]
    expected = [float(special.gammaincc(*given)) for given in grid]
    assert call("gammaTail", grid) == pytest.approx(expected, rel=1e-10, abs=1e-15)


def test_chi_square_tails_and_limits_agree_with_scipy() -> None:
    grid = [(x, df) for x in (0, 0.1, 1, 5, 13.8, 40, 400) for df in (1, 2, 6, 30)]
    expected = [float(stats.chi2.sf(*given)) for given in grid]
    assert call("chiSquareTail", grid) == pytest.approx(expected, rel=1e-11)
    assert call("chiSquareTail", [(0, 0), (1, 0)]) == [1, 0]
    limits = [(p, df) for p in (0.5, 1e-3, 1e-3 / 40) for df in (1, 2, 6, 30)]
    expected = [float(stats.chi2.isf(*given)) for given in limits]
    assert call("chiSquareLimit", limits) == pytest.approx(expected, rel=1e-11)


def test_incomplete_beta_agrees_with_scipy() -> None:
    grid = [
        (a, b, x)
        for a, b in [(1, 1), (0.5, 3), (2, 50_000), (37_500, 12_501), (12_501, 37_500), (50_000, 1)]
        for x in (0, 1e-6, 0.1, 0.249, 0.25, 0.251, 0.7, 0.749, 0.75, 0.9999, 1)
    ]
    expected = [float(special.betainc(*given)) for given in grid]
    assert call("betaShare", grid) == pytest.approx(expected, rel=1e-9, abs=1e-14)


LEVELS = (0.05, 0.0125, 1e-6)
COUNTS = [(0, 10), (10, 10), (1, 50_000), (0, 50_000), (50_000, 50_000), (4813, 50_000), (37, 60)]


@pytest.mark.parametrize(
    "name, function", [("lowerLimit", lower_limit), ("upperLimit", upper_limit)]
)
def test_clopper_pearson_limits_agree_with_scipy(name: str, function: Any) -> None:
    grid = [(k, n, alpha) for (k, n), alpha in product(COUNTS, LEVELS)]
    expected = [float(function(*given)) for given in grid]
    assert call(name, grid) == pytest.approx(expected, rel=1e-9)


def test_the_bound_on_the_loss_is_that_of_the_audit() -> None:
    grid = [(*one, *other, alpha) for one, other, alpha in product(COUNTS, COUNTS, LEVELS)]
    grid.append((750, 1000, 250, 1000, 0.05))
    expected = [privacy.audit(*given) for given in grid]
    assert max(expected) > 9 and min(expected) == 0
    assert call("lossAtLeast", grid) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert expected[-1] == pytest.approx(0.9541548998, abs=1e-10)


def test_the_test_of_fit_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    for cells in (2, 4, 16):
        p = rng.dirichlet(np.full(cells, 5.0))
        counts = rng.multinomial(50_000, p)
        expected = stats.chisquare(counts, 50_000 * p)
        (found,) = call("fit", [(counts.tolist(), p.tolist())])
        assert found["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert found["freedom"] == cells - 1


def test_power_agrees_with_scipy() -> None:
    grid = [(x, df, far) for x in (10.8, 24) for df in (1, 2, 6, 30) for far in (0.1, 13, 110, 1e4)]
    expected = [float(stats.ncx2.sf(*given)) for given in grid]
    assert call("power", grid) == pytest.approx(expected, rel=1e-9)
    assert call("power", [(10, 3, 0)]) == pytest.approx([stats.chi2.sf(10, 3)], rel=1e-11)


DESIGNS = {
    **{
        f"{sizes}": one_block(1.5, *sizes)
        for sizes in [(2,), (5,), (2, 2), (2, 7), (2, 3, 5), (21,)]
    },
    **designs(),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_promised_probabilities_are_exact(name: str) -> None:
    """For every input, compare each table with P(report | answers) summed over reports."""
    design = DESIGNS[name]
    (checked,) = call("promised", [(protocol(design),)])
    assert {one["key"] for one in checked} == {block.key for block in design.blocks}
    blocks = {block.key: block.mechanism for block in design.blocks}
    for one in checked:
        mechanism = blocks[one["key"]]
        assert len(one["inputs"]) >= 2
        seen = set()
        for row, answers in enumerate(one["inputs"]):
            law = {
                cell: mechanism.probability(answers, cell) for cell in reports(mechanism.questions)
            }
            assert sum(law.values()) == 1
            for table in one["tables"]:
                seen.update(table["asked"])
                expected = table_law(law, mechanism, answers, table)
                assert table["promised"][row] == pytest.approx(expected, rel=1e-12)
        assert seen == set(range(len(mechanism.questions)))


def table_law(law: Law, mechanism: Cells, answers: list[Any], table: dict[str, Any]) -> list[float]:
    """Return the probabilities of a table's categories from those of all reports."""
    if table["kind"] == "whole":
        uniform = Fraction(SCALE - mechanism.keep, SCALE) * Fraction(1, mechanism.cells)
        same = float(sum(p for p in law.values() if p > uniform))
        assert not mechanism.questions[0].picks  # a blank is more likely than one cell
        return [same, 1 - same]
    sums = Counter[tuple[Any, ...]]()
    for cell, p in law.items():
        sums[tuple(cell[i] for i in table["asked"])] += p  # type: ignore[assignment]
    assert set(sums) == {tuple(value) for value in table["values"]}
    return [float(sums[tuple(value)]) for value in table["values"]]


def test_the_stated_power_is_the_simulated_power() -> None:
    """40,000 simulated checks of randomizers that keep too many or too few; 100,000 runs a block.

    The share that is found is known to 0.0075 (three standard errors) and better.
    """
    rng = np.random.default_rng(5)
    limit, checks = 0.001 / 3, 40_000
    shifts = (0.01, -0.014)
    for shift, found in zip(shifts, call("noticed", [(one,) for one in shifts]), strict=True):
        # One yes/no question with both answers put in, and two with all four.
        for keep, cells, noticed in zip((0.5, 2641316663 / 2**32), (2, 4), found, strict=True):
            runs = 100_000 // cells
            right, wrong = (law(c, cells) for c in (keep, keep + shift))
            counts = rng.multinomial(runs, wrong, size=(checks, cells))
            statistic = ((counts - runs * right) ** 2 / (runs * right)).sum(axis=(1, 2))
            share = (statistic > stats.chi2.isf(limit, cells * (cells - 1))).mean()
            assert noticed == pytest.approx(share, abs=0.01)
            assert 0.3 < share < 0.9999


def law(keep: float, cells: int) -> np.ndarray:
    """Return the probabilities of the cells if the first one is the input."""
    rest = (1 - keep) / cells
    return np.array([keep + rest] + [rest] * (cells - 1))
