"""The audit: millions of runs of the browsers' randomizer, compared with its exact channel.

Node runs static/respond/randomizer.js with the system's secure generator (audit.mjs) for every
input of a few designs. Every output cell is then compared with its exact probability by an exact
binomial test, and the counts give a lower bound on the real ε. The same test must reject
randomizers that are wrong on purpose, each with the kind of question that shows it. An audit can
refute a randomizer; it cannot prove one.

    python -m tests.statistical.audit       exit status 0: the shipped file passes, the wrong ones
                                            are rejected
"""

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
from scipy import stats

from aggregation.statistics import privacy
from survey.design import Background, Block, Design, build
from survey.design.mechanism import SCALE, Answer, Cell, Cells, Value
from tests.support.cells import all_answers, reports
from tests.vectors.generate import (
    after,
    number,
    one_block,
    protocol,
    question,
    questions,
    several,
    together,
)

SCRIPT = Path(__file__).with_name("audit.mjs")
RUNS = 1_000_000  # for each input
ALPHA = 1e-9  # of one design, in all: the chance that a right randomizer is rejected
HALF = ALPHA / 2  # for the fit of all the cells, and as much for the bound on ε
PROCESSES = 2

Answers = dict[str, tuple[Answer, ...]]
Probability = Callable[[Cells, Sequence[Answer], Cell], Fraction]


@dataclass(frozen=True)
class Case:
    """A design to run; `wrong` names a change of audit.mjs that spoils the randomizer."""

    name: str
    design: Design
    wrong: str | None = None
    buffered: bool = True  # ask the system for many random words at once: six times as fast


PAIR = Case("two yes/no in a block", one_block(2.0, 2, 2))
FOLLOW_UPS = Case(
    "a follow-up of a follow-up",
    together(
        1.5,
        question("q1", 2),
        after("q2", 3, "q1", "yes"),
        after("q3", 2, "q2", "option-1", "option-3"),
    ),
)
NUMBER = Case("a number from 0 to 5", together(1.5, number("q1", 0, 5, 2)))
SEVERAL = Case("up to 2 of 3", together(2.0, several("q1", 3, 2)))
SHIPPED = (
    Case("one yes/no", one_block(math.log(3), 2), buffered=False),
    PAIR,
    Case("one choice of 5", one_block(1.0, 5)),
    Case("yes/no and choice of 3 in a block", one_block(1.5, 2, 3)),
    Case(
        "one of two blocks",
        build(1.0, questions(2, 3), blocks=[["q1"], ["q2"]], ask=1),
    ),
    Case(  # every block needs a coin of its own
        "two of three blocks",
        build(2.0, questions(2, 2, 2), blocks=[["q1"], ["q2"], ["q3"]], ask=2),
    ),
    Case(
        "yes/no and a background question",
        build(1.0, questions(2), [Background(question("job", 3), 2.0)]),
    ),
    FOLLOW_UPS,
    NUMBER,
    SEVERAL,
)


# --- Wrong on purpose -----------------------------------------------------------------------------


def keeps_too_often(mechanism: Cells, answers: Sequence[Answer], report: Cell) -> Fraction:
    wrong = replace(mechanism, keep=math.ceil(mechanism.keep * 1.01))
    return wrong.probability(answers, report)


def leaks_the_last(mechanism: Cells, answers: Sequence[Answer], report: Cell) -> Fraction:
    """Return the wrong randomizer that leaks the last answer of a block."""
    rest = mechanism.cells // mechanism.questions[-1].size
    chance = Fraction(1, rest) if report[-1] == answers[-1] else Fraction(0)
    return _mixed(mechanism, tuple(answers) == report, chance)


def rounds_down(mechanism: Cells, answers: Sequence[Answer], report: Cell) -> Fraction:
    """Of a number on its own."""
    (question,), (answer,) = mechanism.questions, answers
    assert question.bounds is not None and isinstance(answer, int)
    least, most = question.bounds
    level = (answer - least) * (question.size - question.instead - 1) // (most - least)
    return _mixed(mechanism, report == (level,), Fraction(1, mechanism.cells))


def takes_the_first_slot(mechanism: Cells, answers: Sequence[Answer], report: Cell) -> Fraction:
    (picks,) = answers
    assert isinstance(picks, tuple)
    blanks = mechanism.slots if report == (None,) else 1
    own: tuple[Value] = (picks[0] if picks else None,)
    return _mixed(mechanism, report == own, Fraction(blanks, mechanism.cells))


def draws_from_all(mechanism: Cells, answers: Sequence[Answer], report: Cell) -> Fraction:
    """Also from what nobody can have, which then shows as something allowed."""
    sizes = [question.size for question in mechanism.questions]
    same = [size for size, value in zip(sizes, report, strict=True) if value is None]
    chance = Fraction(math.prod(same), math.prod(sizes))
    return _mixed(mechanism, tuple(answers) == report, chance)


def _mixed(mechanism: Cells, is_own: bool, chance: Fraction) -> Fraction:
    c = Fraction(mechanism.keep, SCALE)
    return c * is_own + (1 - c) * chance


# What the wrong randomizers do, to know the power of the test; the names are those of audit.mjs.
WRONG: dict[str, Probability] = {
    "keeps 1 % too often": keeps_too_often,
    "leaks the last answer": leaks_the_last,
    "draws from all combinations": draws_from_all,
    "always rounds down": rounds_down,
    "always takes the first slot": takes_the_first_slot,
}


def spoilt(block: Case, follow_ups: Case, number: Case, several: Case) -> tuple[Case, ...]:
    """Return every wrong randomizer with the design that shows it."""
    shown_by = (block, block, follow_ups, number, several)
    return tuple(replace(case, wrong=name) for case, name in zip(shown_by, WRONG, strict=True))


# --- What should come out -------------------------------------------------------------------------


def inputs(design: Design) -> Iterator[Answers]:
    """Return every combination of answers to the questions of a design."""
    keys = [block.key for block in design.blocks]
    each = [all_answers(block.mechanism.questions) for block in design.blocks]
    for answers in product(*each):
        yield dict(zip(keys, answers, strict=True))


def sets_of_blocks(design: Design) -> Iterator[tuple[Block, ...]]:
    """Return every set of blocks that a respondent may be asked."""
    for asked in combinations(design.sensitive_blocks, design.ask):
        yield (*asked, *design.background_blocks)


def channel(
    design: Design, answers: Answers, probability: Probability = Cells.probability
) -> dict[str, Fraction]:
    """Return every possible report, as JavaScript writes it, with its probability."""
    result: dict[str, Fraction] = {}
    every = list(sets_of_blocks(design))
    for asked in every:
        for cells in product(*(reports(block.mechanism.questions) for block in asked)):
            report = {block.key: cell for block, cell in zip(asked, cells, strict=True)}
            result[json.dumps(report, separators=(",", ":"))] = math.prod(
                (
                    probability(block.mechanism, answers[block.key], report[block.key])
                    for block in asked
                ),
                start=Fraction(1, len(every)),
            )
    assert sum(result.values()) == 1
    return result


# --- What did come out ----------------------------------------------------------------------------


def run(case: Case, answers: Answers, runs: int) -> dict[str, int]:
    job = {
        "wrong": case.wrong,
        "buffered": case.buffered,
        "design": protocol(case.design),
        "answers": answers,
        "runs": runs,
    }
    done = subprocess.run(
        ["node", str(SCRIPT)], input=json.dumps(job), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"node failed for {case.name}:\n{done.stderr}")
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def run_all(
    cases: Sequence[Case], runs: int, progress: Callable[[int, int], None] = lambda done, all: None
) -> list[list[dict[str, int]]]:
    """Return the counts of every input of every case."""
    with ThreadPoolExecutor(PROCESSES) as pool:
        jobs = [
            [pool.submit(run, case, answers, runs) for answers in inputs(case.design)]
            for case in cases
        ]
        flat = [job for row in jobs for job in row]
        for done, job in enumerate(as_completed(flat), 1):
            job.result()
            progress(done, len(flat))
        return [[job.result() for job in row] for row in jobs]


# --- The test -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    cells: int  # inputs times outputs: the number of binomial tests
    smallest_p: float
    worst: str  # the cell that fits least
    epsilon_at_least: float  # with confidence 1 - HALF
    impossible: int  # runs whose report has probability 0 or is no report at all
    stated: float  # for a whole report

    @property
    def passes(self) -> bool:
        fits = self.smallest_p >= HALF / self.cells and not self.impossible
        return fits and self.epsilon_at_least <= self.stated


def judge(design: Design, counted: Sequence[dict[str, int]], runs: int) -> Verdict:
    """Compare every output cell of every input with the exact channel."""
    rows = [channel(design, answers) for answers in inputs(design)]
    reports = list(rows[0])
    probabilities = np.array([[float(row[report]) for report in reports] for row in rows])
    counts = np.array([[row.get(report, 0) for report in reports] for row in counted])
    p = p_values(counts, runs, probabilities)
    i, j = np.unravel_index(np.argmin(p), p.shape)
    answers = list(inputs(design))[i]
    return Verdict(
        cells=p.size,
        smallest_p=float(p[i, j]),
        worst=f"answers {answers}, report {reports[j]}: "
        f"expected {runs * probabilities[i, j]:,.0f}, counted {counts[i, j]:,}",
        epsilon_at_least=epsilon_at_least(counts, runs),
        impossible=sum(sum(row.values()) for row in counted) - int(counts.sum()),
        stated=design.report_epsilon,
    )


def p_values(counts: np.ndarray, runs: int, probabilities: np.ndarray) -> np.ndarray:
    """Exact two-sided binomial tests: twice the smaller tail.

    The probabilities are fractions rounded to 53 bits: no number of runs done here sees that.
    """
    low = stats.binom.cdf(counts, runs, probabilities)
    high = stats.binom.sf(counts - 1, runs, probabilities)
    return np.asarray(np.minimum(1, 2 * np.minimum(low, high)))


def epsilon_at_least(counts: np.ndarray, runs: int) -> float:
    """A lower bound on ε with confidence 1 - HALF: the most that any two inputs show.

    Two Clopper-Pearson limits a cell, each wrong with probability HALF/(2 cells), so that every
    pair of inputs and every report may be looked at.
    """
    return max(
        privacy.audit(int(one), runs, int(other), runs, HALF / counts.size)
        for report in counts.T
        for one, other in permutations(report, 2)
    )


def power(design: Design, wrong: Probability, runs: int) -> float:
    """At least this is the chance that the test rejects the wrong randomizer: one cell an input.

    The cells of one input are dependent, so only the most telling one is counted; inputs are run
    independently.
    """
    missed = 1.0
    cells = len(channel(design, next(inputs(design)))) * len(list(inputs(design)))
    for answers in inputs(design):
        right, real = channel(design, answers), channel(design, answers, wrong)
        found = []
        for report, probability in right.items():
            tail = HALF / cells / 2
            low = stats.binom.ppf(tail, runs, float(probability)) - 1  # rejected up to here,
            high = stats.binom.isf(tail, runs, float(probability))  # and above this
            p = float(real[report])
            found.append(stats.binom.cdf(low, runs, p) + stats.binom.sf(high, runs, p))
        missed *= 1 - min(1.0, max(found))
    return 1 - missed


# --- The table ------------------------------------------------------------------------------------


def show_progress(done: int, all: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {all} inputs run", end="\n" if done == all else "", file=sys.stderr)


def row(case: Case, verdict: Verdict, outcome: str, runs: int) -> str:
    size = f"{len(list(inputs(case.design)))} x {runs:,}"
    return (
        f"{case.name:34} {size:>14} {verdict.smallest_p:11.2g} {HALF / verdict.cells:9.1e} "
        f"{verdict.epsilon_at_least:10.4f} {verdict.stated:9.4f}  {outcome}"
    )


HEAD = (
    f"{'design':34} {'inputs x runs':>14} {'smallest p':>11} {'limit':>9} {'ε at least':>10} "
    f"{'ε stated':>9}  verdict"
)


def main() -> int:
    if shutil.which("node") is None:
        print("The audit needs Node 18 or later, and there is no `node` here.", file=sys.stderr)
        return 2
    cases = [*SHIPPED, *spoilt(PAIR, FOLLOW_UPS, NUMBER, SEVERAL)]
    print(
        f"Running static/respond/randomizer.js {RUNS:,} times for each input; some minutes.\n"
        f"A right randomizer is rejected with a probability of at most {ALPHA:g} a design; "
        f"ε at least: with confidence 1 - {HALF:g}.",
        flush=True,
    )
    counted = run_all(cases, RUNS, show_progress)
    print(f"\n{HEAD}")
    good = True
    for case, counts in zip(cases, counted, strict=True):
        verdict = judge(case.design, counts, RUNS)
        if case.wrong is None:
            outcome = "passes" if verdict.passes else "FAILS"
            as_wanted = verdict.passes
        else:
            chance = power(case.design, WRONG[case.wrong], RUNS)
            outcome = "passes: NOT DETECTED" if verdict.passes else "rejected, as it must be"
            print(f"\nwrong on purpose: {case.wrong} (rejected with probability {chance:.6f})")
            as_wanted = not verdict.passes
        print(row(case, verdict, outcome, RUNS))
        if not as_wanted:
            print(f"    least fitting: {verdict.worst}; impossible reports: {verdict.impossible:,}")
        good = good and as_wanted
    print("\nThe audit passes." if good else "\nTHE AUDIT FAILS.")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
