"""Every figure that a respondent reads, against the statistics: static/respond/odds.js.

Node computes the figures of many designs from `keep`, as the page does. Here they come from the
whole channel of each block, written out cell by cell, through aggregation.statistics.privacy.
"""

import json
import subprocess
from random import Random
from typing import Any

import numpy as np
import pytest

from aggregation.statistics import privacy
from aggregation.statistics.proportion import Channel
from survey.design import Background, Block, Design, build
from survey.design.mechanism import Cell
from survey.design.odds import grade, odds
from tests.support.cells import all_answers, exact_channel, reports
from tests.support.services import ROOT
from tests.vectors.generate import kinds, protocol, question, questions

pytestmark = [pytest.mark.node, pytest.mark.once]

PROGRAM = """
import * as odds from "./static/respond/odds.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((design) => {
  const practice = odds.practiceDesign(design);
  return {
    losses: design.blocks.map(odds.loss),
    total: odds.total(design),
    report: odds.reportTotal(design),
    sure: odds.sure(odds.total(design)),
    grade: odds.grade(odds.total(design)),
    channels: design.blocks.map((block) => block.questions.map(({ kind, options, levels }, i) =>
      Array.from({ length: options.length + (kind === "number" ? levels + 1 : 0) }, (_, value) =>
        odds.channel(block, i, value, design.scale)))),
    kept: design.blocks.map((block) => block.questions.map((_, i) => odds.kept(design, block, i))),
    practice: odds.kept(practice, practice.blocks[0], 0),
  };
})));
"""


def designs() -> list[Design]:
    random = Random(7)
    found = list(kinds().values())
    for _ in range(60):
        sizes = [random.choice([2, 2, 2, 3, 4, 5]) for _ in range(random.randint(1, 5))]
        groups = [
            Background(question(f"g{i}", random.choice([2, 3, 10])), random.choice([2, 3, 5]))
            for i in range(random.choice([0, 0, 1, 2]))
        ]
        found.append(build(random.choice([0.1, 0.5, 1, 2, 3, 4, 6]), questions(*sizes), groups))
    return found


def figures(cases: list[Design]) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", PROGRAM],
        input=json.dumps([protocol(design) for design in cases]),
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout))


WIDE = 1000  # of a number with more values than this, some are looked at


def channel(block: Block) -> tuple[list[Cell], np.ndarray]:
    """Return the reports of a block and P(report | answers) for all answers."""
    asked = block.mechanism.questions
    if any(one.bounds and one.bounds[1] - one.bounds[0] > WIDE for one in asked):
        (question,) = asked
        least, most = question.bounds or (0, 0)
        answers: list[Any] = [(least,), (least + 1,), (0,), (most,)]
        answers += [((most - least) * i // 4 + least,) for i in range(5)]
    else:
        answers = all_answers(asked)
    columns = reports(asked)
    rows = [[float(block.mechanism.probability(one, cell)) for cell in columns] for one in answers]
    return columns, np.array(rows)


def test_every_figure_of_the_page_follows_from_the_channel() -> None:
    cases = designs()
    assert any(len(design.sensitive_blocks) > design.ask for design in cases)
    for design, shown in zip(cases, figures(cases), strict=True):
        matrices = [channel(block) for block in design.blocks]
        losses = [privacy.loss(matrix) for _, matrix in matrices]
        assert shown["losses"] == pytest.approx(losses, abs=1e-9)
        sensitive = len(design.sensitive_blocks)
        total = privacy.composed(sorted(losses[:sensitive])[-design.ask :])
        assert shown["total"] == pytest.approx(total, abs=1e-9)
        assert shown["total"] <= design.epsilon * (1 + 1e-12)
        whole = privacy.composed([total, *losses[sensitive:]])
        assert shown["report"] == pytest.approx(whole, abs=1e-9)
        assert shown["report"] <= design.report_epsilon * (1 + 1e-12)
        assert shown["grade"] == grade(shown["total"])

        # The surest that anybody gets who starts at 50:50 between two lists of answers: over all
        # such pairs and all reports, block by block, by Bayes' rule.
        ratios = sorted((m.max(axis=0) / m.min(axis=0)).max() for _, m in matrices[:sensitive])
        odds = np.prod(ratios[-design.ask :])
        assert shown["sure"] == pytest.approx(odds / (1 + odds), abs=1e-9)

        for block, channels, kept in zip(
            design.blocks, shown["channels"], shown["kept"], strict=True
        ):
            for place in range(len(block.questions)):
                exact = [
                    exact_channel(block.mechanism, place, value)
                    for value in range(block.questions[place].size)
                ]
                found = [(one["a"], one["b"]) for one in channels[place]]
                assert found == [pytest.approx((float(a), float(b)), abs=1e-12) for a, b in exact]
                least, most = (float(one(a for a, _ in exact)) for one in (min, max))
                assert kept[place] == pytest.approx({"least": least, "most": most}, abs=1e-12)
        # The practice question says as much as a whole report, up to what a block may cost.
        practice = shown["practice"]["most"]
        assert practice == pytest.approx(odds / (1 + odds), abs=1e-9) or total > 8


def test_certainty_for_one_question_equals_its_posterior() -> None:
    """For a single yes/no question the page's figure is the posterior of `privacy`."""
    cases = [build(epsilon, questions(2)) for epsilon in (0.5, 1, 1.0986122886681098, 2, 3)]
    for design, shown, table in zip(cases, figures(cases), (62, 73, 75, 88, 95), strict=True):
        a, b = design.blocks[0].mechanism.channel(0)
        assert shown["sure"] == pytest.approx(
            privacy.posterior(0.5, Channel(a, b)).positive, abs=1e-9
        )
        assert round(100 * shown["sure"]) == table == round(100 * shown["kept"][0][0]["most"])


GRADES = """
import { grade, sure } from "./static/respond/odds.js";
let text = "";
for await (const part of process.stdin) text += part;
const found = JSON.parse(text).map((epsilon) => [grade(epsilon), Math.round(100 * sure(epsilon))]);
console.log(JSON.stringify(found));
"""


def test_the_words_for_the_protection_are_the_same_on_all_pages() -> None:
    """Up to 75 in 100, up to 90, and above, at and around each limit."""
    limits = [np.log(edge / (100 - edge)) for edge in (75, 75.5, 90, 90.5)]
    cases = [float(limit + shift) for limit in limits for shift in (-1e-6, 1e-6)]
    cases += [i / 50 for i in range(1, 400)]
    done = subprocess.run(
        ["node", "--input-type=module", "-e", GRADES],
        input=json.dumps(cases), capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert [[grade(one), odds(one)] for one in cases] == json.loads(done.stdout)
    for epsilon in cases:
        exact = 100 / (1 + np.exp(-epsilon))
        wanted = "hardly" if exact < 75.5 else "guess" if exact < 90.5 else "nearly"
        assert grade(epsilon) == wanted
    assert [grade(one) for one in (0.1, 1, np.log(3), 2, 2.2, 3, 8)] == [
        "hardly", "hardly", "hardly", "guess", "guess", "nearly", "nearly",
    ]  # fmt: skip
