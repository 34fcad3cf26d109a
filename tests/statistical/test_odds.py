"""Every figure that a respondent reads, against the statistics: static/respond/odds.js.

Node computes the figures of many designs from `keep`, as the page does. Here they come from the
whole channel of each block, written out cell by cell, through aggregation.statistics.privacy.
"""

import json
import subprocess
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from aggregation.statistics import privacy
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, build
from survey.mechanism import SCALE
from tests.support.services import ROOT
from tests.vectors.generate import protocol, questions

pytestmark = [pytest.mark.node, pytest.mark.once]

PROGRAM = """
import * as odds from "./static/respond/odds.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((design) => {
  const practice = odds.practiceDesign(design);
  return {
    losses: design.blocks.map((block) => odds.loss(design, block)),
    total: odds.total(design),
    sure: odds.sure(odds.total(design)),
    weak: odds.isWeak(odds.total(design)),
    kept: design.blocks.map((block) => block.questions.map((_, i) => odds.kept(design, block, i))),
    range: odds.keptRange(design),
    practice: odds.kept(practice, practice.blocks[0], 0),
  };
})));
"""


def designs() -> list[Design]:
    random = Random(7)
    found = []
    for _ in range(60):
        sizes = [random.choice([2, 2, 2, 3, 4, 5]) for _ in range(random.randint(1, 5))]
        found.append(build(random.choice([0.1, 0.5, 1, 2, 3, 4, 6]), questions(*sizes)))
    return found


def figures(cases: list[Design]) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", PROGRAM],
        input=json.dumps([protocol(design) for design in cases]),
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout))


def channel(block: Block) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The cells of a block, and P(report | answers): kept, or drawn uniformly."""
    cells = list(product(*(range(question.size) for question in block.questions)))
    keep = block.keep / SCALE
    return cells, keep * np.eye(len(cells)) + (1 - keep) / len(cells)


def test_every_figure_of_the_page_follows_from_the_channel() -> None:
    cases = designs()
    assert any(len(design.blocks) > design.ask for design in cases)
    for design, shown in zip(cases, figures(cases), strict=True):
        matrices = [channel(block) for block in design.blocks]
        losses = [privacy.loss(matrix) for _, matrix in matrices]
        assert shown["losses"] == pytest.approx(losses, abs=1e-9)
        total = privacy.composed(sorted(losses)[-design.ask :])
        assert shown["total"] == pytest.approx(total, abs=1e-9)
        assert shown["total"] <= design.epsilon * (1 + 1e-12)
        assert shown["weak"] == (shown["sure"] > 0.95)

        # The surest that anybody gets who starts at 50:50 between two lists of answers: over all
        # such pairs and all reports, block by block, by Bayes' rule.
        ratios = sorted(max((m / m[[i]]).max() for i in range(len(m))) for _, m in matrices)
        odds = np.prod(ratios[-design.ask :])
        assert shown["sure"] == pytest.approx(odds / (1 + odds), abs=1e-9)

        kept = []
        for (cells, matrix), block, given in zip(
            matrices, design.blocks, shown["kept"], strict=True
        ):
            for i in range(len(block.questions)):
                alike = np.array([[x[i] == y[i] for y in cells] for x in cells])
                a = (matrix * alike).sum(axis=1)
                assert np.ptp(a) < 1e-12  # whatever the answers are
                assert given[i] == pytest.approx(a[0], abs=1e-9)
                kept.append(a[0])
        assert shown["range"]["least"] == pytest.approx(min(kept), abs=1e-9)
        assert shown["range"]["most"] == pytest.approx(max(kept), abs=1e-9)
        # The practice question says as much as a whole report, up to what a block may cost.
        assert shown["practice"] == pytest.approx(odds / (1 + odds), abs=1e-9) or total > 8


def test_certainty_for_one_question_equals_its_posterior() -> None:
    """For a single yes/no question the page's figure is the posterior of `privacy`."""
    cases = [build(epsilon, questions(2)) for epsilon in (0.5, 1, 1.0986122886681098, 2, 3)]
    for design, shown, table in zip(cases, figures(cases), (62, 73, 75, 88, 95), strict=True):
        a, b = design.blocks[0].mechanism.channel(0)
        assert shown["sure"] == pytest.approx(
            privacy.posterior(0.5, Channel(a, b)).positive, abs=1e-9
        )
        assert round(100 * shown["sure"]) == table == round(100 * shown["kept"][0][0])
