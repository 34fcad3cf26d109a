"""Programs for Stata (.do) and SPSS (.sps) that debias the reports and list the results.

Both count the values of every question, and then compute the same expressions, which both read
alike: they use only + - * / and sqrt. Names of ours begin with a character that no variable's does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from aggregation.exports.codebook import Variable, variables
from survey.design import Measure
from survey.design.mechanism import SCALE
from survey.models import Survey

REACH = 1.959963984540054  # standard errors in a 95 % interval
NAMES = ("question", "measure", "option")
WIDTH = 200  # characters in a line; SPSS reads 250
ABOUT = [
    "Debias the reports of this survey: shares of people, means, and shares among those concerned.",
    "The reports themselves are randomized: their frequencies are not results.",
    "Standard errors are for an unlimited population. Intervals, and results by group, are in",
    "estimates.csv; estimate.py and estimate.R compute them.",
]


@dataclass(frozen=True)
class Row:
    """An estimate: its names, and its expressions over the counts."""

    question: str
    measure: str
    option: str
    n: str
    numerator: str
    denominator: str
    error: str  # the standard error, once `value` is known
    least: str  # what the denominator must exceed for the estimate to mean something; "" if nothing


class _Names:
    """Names of counts and of results; `mark` begins them."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __call__(self, what: str, *numbers: int) -> str:
        return self.mark + what + "_".join(map(str, numbers))


def _number(value: float) -> str:
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def _sum(terms: Sequence[tuple[float, str]]) -> str:
    """Return a weighted sum of expressions."""
    parts = [name if weight == 1 else f"{_number(weight)} * {name}" for weight, name in terms]
    return " + ".join(parts) or "0"


@dataclass(frozen=True)
class _Question:
    """A question with its expressions."""

    number: int
    variable: Variable
    name: _Names

    @property
    def n(self) -> str:
        return self.name("n", self.number)

    def chance(self, value: int) -> str:
        return self.name("b", self.number, value)

    @property
    def coin(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the expressions of c, and of b of each value.

        Those of a question in several blocks are averages over its reports.
        """
        variable, name = self.variable, self.name
        keeps = [block.keep / SCALE for block in variable.blocks]
        channels = [[one.b for one in variable.channels(*place)] for place in variable.places]
        blocks = [name("m", self.number, i) for i in range(len(keeps))]

        def pooled(values: Sequence[float]) -> str:
            if len(values) == 1:
                return _number(values[0])
            return f"({_sum(list(zip(values, blocks, strict=True)))}) / {self.n}"

        yield name("c", self.number), pooled(keeps)
        for value in variable.values:
            yield self.chance(value.position), pooled([each[value.position] for each in channels])

    def row(self, measure: Measure) -> Row:
        """Return an estimate as a ratio of two sums over values of weight * (rate - chance)."""
        c = self.name("c", self.number)
        top = self._excess(measure.weights)
        below = c if measure.among is None else self._excess(measure.among)
        influence = self.name("value")
        # The variance of w - R m over the reports, from the sums of squares and products.
        among = measure.among or (0.0,) * len(measure.weights)
        spread = (
            f"{self._covariance(measure.weights, measure.weights)}"
            f" - 2 * {influence} * ({self._covariance(measure.weights, among)})"
            f" + {influence} * {influence} * ({self._covariance(among, among)})"
            if measure.among
            else self._covariance(measure.weights, measure.weights)
        )
        error = f"sqrt(({spread}) / ({self.n} - 1)) / ({below})"
        least = ""
        if measure.among and set(measure.among) <= {0.0, 1.0}:
            chance = _sum([(1, self.chance(v)) for v, one in enumerate(measure.among) if one])
            least = f"{REACH} * sqrt(({chance}) * (1 - ({chance})) / {self.n})"
        elif measure.among:
            least = f"{REACH} * sqrt(({self._covariance(among, among)}) / ({self.n} - 1))"
        return Row(
            self.variable.asked.key, measure.name, measure.option, self.n, top, below, error, least
        )

    def _excess(self, weights: Sequence[float]) -> str:
        """Return the weighted sum of what the rates of values exceed their chances by."""
        some = [(weight, v) for v, weight in enumerate(weights) if weight]
        rates = _sum([(weight, self.name("x", self.number, v)) for weight, v in some])
        chances = _sum([(weight, self.chance(v)) for weight, v in some])
        return f"({rates}) / {self.n} - ({chances})"

    def _covariance(self, one: Sequence[float], other: Sequence[float]) -> str:
        def mean(weights: Sequence[float]) -> str:
            terms = [(w, self.name("x", self.number, v)) for v, w in enumerate(weights) if w]
            return f"({_sum(terms)}) / {self.n}"

        products = [a * b for a, b in zip(one, other, strict=True)]
        return f"{mean(products)} - {mean(one)} * {mean(other)}"


def _questions(survey: Survey, mark: str) -> list[_Question]:
    found = variables(survey.frozen_design())
    return [_Question(i, one, _Names(mark)) for i, one in enumerate(found, 1)]


def _own_column(question: _Question, block: str, questions: Sequence[_Question]) -> str:
    """Return a column that has a value whenever a block was asked."""
    for each in questions:
        blocks = each.variable.blocks
        if len(blocks) == 1 and blocks[0].key == block:
            return each.variable.name
    return question.variable.name


def _counts(questions: Sequence[_Question]) -> Iterator[tuple[str, str, int | None]]:
    """Yield what to count: a name, a column, and its value, or None if any will do."""
    for question in questions:
        for value in question.variable.values:
            name = question.name("x", question.number, value.position)
            yield name, question.variable.name, value.position
        blocks = question.variable.blocks
        for i, block in enumerate(blocks if len(blocks) > 1 else []):
            column = _own_column(question, block.key, questions)
            yield question.name("m", question.number, i), column, None


def _rows(questions: Sequence[_Question]) -> list[Row]:
    return [q.row(measure) for q in questions for measure in q.variable.asked.measures()]


def _width(rows: Sequence[Row], name: str) -> int:
    return max(len(getattr(row, name).encode()) for row in rows)


# --- Stata ----------------------------------------------------------------------------------------


def stata_program(survey: Survey) -> Iterator[bytes]:
    """Yield a .do file, for the folder with reports.dta."""
    questions = _questions(survey, "_")
    lines = [f"* {line}" for line in [_title(survey), *ABOUT]]
    lines += ["version 14", 'use "reports.dta", clear', "quietly {"]
    for name, column, value in _counts(questions):
        condition = f"!missing({column})" if value is None else f"{column} == {value}"
        lines += [f"summarize count if {condition}, meanonly", f"scalar {name} = r(sum)"]
    for question in questions:
        counts = [question.name("x", question.number, v.position) for v in question.variable.values]
        lines.append(f"scalar {question.n} = {' + '.join(counts)}")
        lines += [f"scalar {name} = {expression}" for name, expression in question.coin]
    rows = _rows(questions)
    texts = " ".join(f"str{_width(rows, name)} {name}" for name in NAMES)
    lines += [
        "}",
        "tempname results",
        "tempfile file",
        f"postfile `results' {texts} double(n estimate standard_error) using `file'",
    ]
    for row in _rows(questions):
        lines += [
            f"scalar _below = {row.denominator}",
            f"scalar _value = ({row.numerator}) / _below",
        ]
        if row.least:
            lines.append(f"if !(_below > {row.least}) scalar _value = .")
        names = " ".join(f'("{getattr(row, name)}")' for name in NAMES)
        lines += [
            f"scalar _error = {row.error}",
            f"post `results' {names} ({row.n}) (_value) (_error)",
        ]
    lines += ["postclose `results'", "use `file', clear", "format estimate standard_error %12.6f"]
    lines.append("list, noobs separator(0) abbreviate(20)")
    for line in lines:
        yield (" ///\n    ".join(_wrapped(line)) + "\n").encode()


# --- SPSS -----------------------------------------------------------------------------------------


def spss_program(survey: Survey) -> Iterator[bytes]:
    """Yield an .sps file, for the folder with reports.sav. It also writes debiased.sav there."""
    questions = _questions(survey, "@")
    rows = _rows(questions)
    lines = ["* Encoding: UTF-8.", *(f"* {line.rstrip('.')}." for line in [_title(survey), *ABOUT])]
    lines += ["GET FILE='reports.sav'.", "WEIGHT OFF."]
    counted = list(_counts(questions))
    for name, column, value in counted:
        condition = f"NOT MISSING({column})" if value is None else f"{column} = {value}"
        lines += [f"COMPUTE {name} = 0.", f"IF ({condition}) {name} = count."]
    lines += ["COMPUTE @all = 1.", "AGGREGATE OUTFILE=* /BREAK=@all"]
    lines += [f"  /{name} = SUM({name})" for name, _, _ in counted]
    lines[-1] += "."
    for question in questions:
        counts = [question.name("x", question.number, v.position) for v in question.variable.values]
        lines.append(f"COMPUTE {question.n} = {' + '.join(counts)}.")
        lines += [f"COMPUTE {name} = {expression}." for name, expression in question.coin]
    lines += [
        *(f"STRING {name} (A{_width(rows, name)})." for name in NAMES),
        "NUMERIC n (F10.0).",
        "NUMERIC estimate standard_error @below @value @error (F14.8).",
        f"LOOP @row = 1 TO {len(rows)}.",
    ]
    for i, row in enumerate(rows, 1):
        lines += [
            f"DO IF (@row = {i}).",
            *(
                f"COMPUTE {name} = '{getattr(row, name)}'."
                for name in ("question", "measure", "option")
            ),
            f"COMPUTE n = {row.n}.",
            f"COMPUTE @below = {row.denominator}.",
            f"COMPUTE @value = ({row.numerator}) / @below.",
            f"COMPUTE @error = {row.error}.",
        ]
        if row.least:
            lines += [f"DO IF NOT (@below > {row.least}).", "COMPUTE @value = $SYSMIS."]
            lines += ["COMPUTE @error = $SYSMIS.", "END IF."]
        lines.append("END IF.")
    lines += [
        "COMPUTE estimate = @value.",
        "COMPUTE standard_error = @error.",
        "XSAVE OUTFILE='debiased.sav' /KEEP=question measure option n estimate standard_error.",
        "END LOOP.",
        "EXECUTE.",
        "GET FILE='debiased.sav'.",
        "LIST.",
    ]
    for line in lines:
        yield ("\n  ".join(_wrapped(line)) + "\n").encode()


def _title(survey: Survey) -> str:
    return f"{' '.join(survey.title.split()).rstrip('.')}, design {survey.design_hash}."


def _wrapped(line: str) -> list[str]:
    return wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
