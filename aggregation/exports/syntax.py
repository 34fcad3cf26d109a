"""Programs for Stata (.do) and SPSS (.sps) that debias the reports and list the results.

Both count the values of every question, over everybody and in every group of each background
question, and then compute the same columns from these counts, with a row for each group. Stata and
SPSS read the expressions alike: they only use + - * / and sqrt, abs, min and max. Names of ours
begin with a character that no variable's does. The formulas are DEBIAS and BY_GROUP of codebook.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap

from aggregation.exports.codebook import Variable, variables
from survey.design import Measure
from survey.design.mechanism import SCALE
from survey.models import Survey

REACH = 1.959963984540054  # standard errors in a 95 % interval
NAMES = ("question", "measure", "option")
GROUPS = ("grouped_by", "group")  # because SPSS reserves `by`
FIGURES = ("estimate", "standard_error")
STEPS = ("chance", "expected", "below", "value", "error")  # columns of every row
WIDTH = 200  # characters in a line; SPSS reads 250
ABOUT = [
    "Debias the reports of this survey: shares of people, means, numbers of picks, and shares of",
    "those concerned, over everybody and in every reported group of a background question.",
    "The reports themselves are randomized: their frequencies are not results. Where there are too",
    "few people to tell, there is no estimate. Standard errors are for an unlimited population.",
    "Intervals are in estimates.csv; estimate.py and estimate.R compute them.",
]

Column = tuple[str, str]  # a name and an expression


@dataclass(frozen=True)
class Row:
    """An estimate: its names, the columns that lead to it, and when it means something."""

    names: tuple[str, str, str]
    n: str
    columns: list[Column]  # up to the estimate
    clear: str
    error: Column


def _number(value: float) -> str:
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def _sum(weights: Iterable[float], names: Iterable[str]) -> str:
    """Return a weighted sum of columns."""
    parts = [
        name if weight == 1 else f"{_number(weight)} * {name}"
        for weight, name in zip(weights, names, strict=True)
        if weight
    ]
    return f"({' + '.join(parts)})" if parts else "0"


@dataclass(frozen=True)
class _Question:
    """A question with its expressions. `mark` begins the names of all columns."""

    number: int
    variable: Variable
    mark: str

    def name(self, what: str, *numbers: int) -> str:
        return f"{self.mark}{what}{'_'.join(map(str, (self.number, *numbers)))}"

    def each(self, what: str) -> list[str]:
        """Return a name for each value."""
        return [self.name(what, value.position) for value in self.variable.values]

    @property
    def measures(self) -> list[Measure]:
        return self.variable.asked.measures()

    @cached_property
    def concerned(self) -> list[tuple[float, ...]]:
        """By whom measures are about people with certain values: 1 for these, 0 for others."""
        some = (one.among for one in self.measures if one.among and set(one.among) <= {0.0, 1.0})
        return list(dict.fromkeys(some))

    def counts(self, others: Sequence["_Question"]) -> Iterator[tuple[str, str, int | None]]:
        """Yield what to count: a name, a column, and its value, or None if any will do."""
        for value in self.variable.values:
            yield self.name("x", value.position), self.variable.name, value.position
        blocks = self.variable.blocks
        for i, block in enumerate(blocks if len(blocks) > 1 else []):
            # A column that has a value whenever the block was asked.
            own = [one.variable.name for one in others if one.variable.blocks == [block]]
            yield self.name("y", i), own[0] if own else self.variable.name, None

    @property
    def coin(self) -> Iterator[Column]:
        """Yield c, and b of each value. Those of several blocks are averages over the reports."""
        places, n = self.variable.places, self.name("n")
        reports = [self.name("all_y", i) for i in range(len(places))]

        def pooled(values: Sequence[float]) -> str:
            return _number(values[0]) if len(values) == 1 else f"{_sum(values, reports)} / {n}"

        yield self.name("c"), pooled([block.keep / SCALE for block, _ in places])
        channels = [[one.b for one in self.variable.channels(*place)] for place in places]
        for i, name in enumerate(self.each("b")):
            yield name, pooled([each[i] for each in channels])

    @property
    def columns(self) -> Iterator[Column]:
        """Yield all columns from the counts on, up to those whose totals are needed.

        For a report, w is (1[own group] - stray) / keep of the background question. `own` are sums
        of w over the reports with each value, and `square` are sums of w^2.
        """
        keep, stray = f"{self.mark}keep", f"{self.mark}stray"
        yield self.name("n"), " + ".join(self.each("all_x"))
        yield from self.coin
        for value in self.variable.values:
            x = self.name("x", value.position)
            once, twice = f"{stray} * {self.total(x)}", f"(1 - 2 * {stray}) * {x}"
            yield self.name("own", value.position), f"({x} - {once}) / {keep}"
            square = f"({twice} + {stray} * {once}) / {keep} / {keep}"
            yield self.name("square", value.position), square
        yield self.name("own"), " + ".join(self.each("own"))
        yield self.name("size"), f"max({self.name('own')}, 0)"
        for k, among in enumerate(self.concerned):
            h, held, size = self.name("h", k), self.name("held", k), self.name("size")
            yield h, _sum(among, self.each("b"))
            yield held, self._excess(among, h)
            inside = f"min(max({held}, 0), {self.name('c')} * {size})"
            yield self.name("noise", k), f"{inside} * (1 - 2 * {h}) + {size} * ({h} - {h} * {h})"

    @property
    def totals(self) -> list[str]:
        """Return the columns whose totals over all groups of a background question are needed."""
        noises = [self.name("noise", k) for k in range(len(self.concerned))]
        return [self.name("size"), *noises] if noises else []

    def _excess(self, weights: Sequence[float], chance: str) -> str:
        """Return a weighted sum over the people of the group, times c."""
        return f"{_sum(weights, self.each('own'))} - {chance} * {self.name('own')}"

    @cached_property
    def rows(self) -> list[Row]:
        return [self._row(measure) for measure in self.measures]

    def _row(self, measure: Measure) -> Row:
        """Return an estimate as the ratio of two such sums."""
        chance, expected, below, value, error = (f"{self.mark}{name}" for name in STEPS)
        among = measure.among or (1.0,) * len(measure.weights)
        squares: dict[tuple[float, float], list[str]] = {}  # of values that count alike
        for weight, part, name in zip(measure.weights, among, self.each("square"), strict=True):
            squares.setdefault((weight, part), []).append(name)
        spread = []
        for (weight, part), parts in squares.items():
            influence = f"({weight} - {chance} - {value} * ({part} - {expected}))"
            spread.append(f"({' + '.join(parts)}) * {influence} * {influence}")
        n = self.name("n")
        columns = [
            (chance, _sum(measure.weights, self.each("b"))),
            (expected, _sum(among, self.each("b"))),
            (below, self._excess(among, expected)),
            (value, f"({self._excess(measure.weights, chance)}) / {below}"),
        ]
        last = error, f"sqrt({n} / ({n} - 1) * ({' + '.join(spread)})) / abs({below})"
        names = self.variable.asked.key, measure.name, measure.option
        return Row(names, n, columns, self._clear(measure), last)

    def _clear(self, measure: Measure) -> str:
        """Return when the reports show that somebody is in the group, and concerned."""
        n, c, below = self.name("n"), self.name("c"), f"{self.mark}below"
        same, other = f"{self.mark}same", f"{self.mark}other"
        if measure.among is None:
            return f"{below} > {REACH} * {c} * sqrt({n} * {other})"
        if measure.among in self.concerned:
            k = self.concerned.index(measure.among)
            h, noise = self.name("h", k), self.name("noise", k)
            nobody = f"{self.name('size')} * {same} * ({h} - {h} * {h})"
            rest = f"{other} * ({self.total(noise)} - {noise})"
            whole = self.total(self.name("size"))
            return f"{below} > {REACH} * sqrt({n} * ({nobody} + {rest}) / {whole})"
        expected = f"{self.mark}expected"
        square = " + ".join(
            f"{name} * ({part} - {expected}) * ({part} - {expected})"
            for name, part in zip(self.each("square"), measure.among, strict=True)
        )
        spread = f"max({n} * ({square}) - {below} * {below}, 0) / ({n} - 1)"
        return f"abs({below}) > {REACH} * sqrt({spread})"

    def total(self, name: str) -> str:
        """Return the name of the total of a column over the groups of a background question."""
        return f"{self.mark}all_{name.removeprefix(self.mark)}"


@dataclass(frozen=True)
class _Program:
    """All that both languages compute."""

    survey: Survey
    mark: str

    @cached_property
    def questions(self) -> list[_Question]:
        found = variables(self.survey.frozen_design())
        return [_Question(i, one, self.mark) for i, one in enumerate(found, 1)]

    @cached_property
    def background(self) -> list[Variable]:
        return [one.variable for one in self.questions if one.variable.background]

    @property
    def about(self) -> list[str]:
        """Say in comments what the program does, without the title: it could end a comment."""
        return [f"Survey {self.survey.slug}, design {self.survey.design_hash}.", *ABOUT]

    @property
    def coins(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the columns of a group's coin: over everybody, and for each background question."""
        keeps = [1.0, *(one.blocks[0].keep / SCALE for one in self.background)]
        sizes = [1, *(len(one.values) for one in self.background)]
        yield "keep", keeps
        yield "stray", [(1 - keep) / size for keep, size in zip(keeps, sizes, strict=True)]

    @property
    def squares(self) -> Iterator[Column]:
        """Yield the mean of w^2 for people in the group, and for others."""
        keep, stray = f"{self.mark}keep", f"{self.mark}stray"
        own = f"({keep} + {stray})"
        yield f"{self.mark}same", f"1 + {own} * (1 - {own}) / {keep} / {keep}"
        yield f"{self.mark}other", f"{stray} * (1 - {stray}) / {keep} / {keep}"

    @property
    def widths(self) -> dict[str, int]:
        """The bytes of the longest name in each column of the results."""
        names = [row.names for question in self.questions for row in question.rows]
        groups = [(one.asked.key, each.option) for one in self.background for each in one.values]
        texts = [*zip(*names, strict=True), *zip(*(groups or [("", "")]), strict=True)]
        longest = [max(1, *(len(text.encode()) for text in some)) for some in texts]
        return dict(zip((*NAMES, *GROUPS), longest, strict=True))

    @property
    def names(self) -> Iterator[tuple[str, str, str]]:
        """Yield the names of groups: a column, its text, and when it holds."""
        for i, one in enumerate(self.background, 1):
            yield "grouped_by", one.asked.key, f"{self.mark}by {{equals}} {i}"
            for value in one.values:
                which = f"{self.mark}group {{equals}} {value.position}"
                yield "group", value.option, f"{self.mark}by {{equals}} {i} {{both}} {which}"


# --- Stata ----------------------------------------------------------------------------------------


def stata_program(survey: Survey) -> Iterator[bytes]:
    """Yield a .do file, for the folder with reports.dta."""
    program = _Program(survey, "_")
    widths = program.widths
    texts = " ".join(f"str{widths[name]} {name}" for name in NAMES)
    lines = [
        *(f"* {line}" for line in program.about),
        "version 14",
        "tempname results",
        "tempfile file",
        f"postfile `results' {texts} double(_by _group n estimate standard_error) using `file'",
    ]
    for question in program.questions:
        lines += _in_stata(program, question)
    lines += ["postclose `results'", "use `file', clear"]
    lines += [f'quietly generate str{widths[name]} {name} = ""' for name in GROUPS]
    for name, text, condition in program.names:
        when = condition.format(equals="==", both="&")
        lines.append(f'quietly replace {name} = "{text}" if {when}')
    lines += [
        "quietly drop if grouped_by == question",
        "drop _by _group",
        f"order {' '.join((*NAMES, *GROUPS))}",
        "format estimate standard_error %12.6f",
        "list, noobs separator(0) abbreviate(20)",
    ]
    for line in lines:
        yield (" ///\n    ".join(_wrapped(line)) + "\n").encode()


def _in_stata(program: _Program, question: _Question) -> Iterator[str]:
    counts = list(question.counts(program.questions))
    background = [one.name for one in program.background]
    needed = dict.fromkeys([*(column for _, column, _ in counts), *background, "count"])
    yield f'use {" ".join(needed)} using "reports.dta", clear'
    for name, column, value in counts:
        condition = f"!missing({column})" if value is None else f"{column} == {value}"
        yield f"quietly generate long {name} = count * ({condition})"
    yield "quietly generate long _id = _n"
    yield f"quietly expand {1 + len(background)}"
    yield "quietly bysort _id: generate long _by = _n - 1"
    yield "quietly generate long _group = 0"
    for i, name in enumerate(background, 1):
        yield f"quietly replace _group = {name} if _by == {i}"
    names = [name for name, _, _ in counts]
    yield f"quietly collapse (sum) {' '.join(names)}, by(_by _group)"
    for name, values in program.coins:
        yield f"quietly generate double _{name} = {values[0]}"
        for i, one in enumerate(values[1:], 1):
            yield f"quietly replace _{name} = {one} if _by == {i}"
    total = "quietly bysort _by: egen double {} = total({})"
    yield from (total.format(question.total(name), name) for name in names)
    for name, expression in (*program.squares, *question.columns):
        yield f"quietly generate double {name} = {expression}"
    yield from (total.format(question.total(name), name) for name in question.totals)
    steps = [f"_{name}" for name in STEPS]
    yield from (f"quietly generate double {name} = ." for name in steps)
    yield "local last = _N"
    for row in question.rows:
        for name, expression in row.columns:
            yield f"quietly replace {name} = {expression}"
        yield f"quietly replace _value = . if !({row.clear})"
        yield f"quietly replace {row.error[0]} = {row.error[1]}"
        yield "forvalues i = 1/`last' {"
        keys = " ".join(f'("{name}")' for name in row.names)
        figures = " ".join(f"({x}[`i'])" for x in ("_by", "_group", row.n, "_value", "_error"))
        yield f"post `results' {keys} {figures}"
        yield "}"


# --- SPSS -----------------------------------------------------------------------------------------


def spss_program(survey: Survey) -> Iterator[bytes]:
    """Yield an .sps file, for the folder with reports.sav. It also writes debiased.sav there."""
    program = _Program(survey, "@")
    counts = [one for each in program.questions for one in each.counts(program.questions)]
    names = [name for name, _, _ in counts]
    lines = ["* Encoding: UTF-8.", *(f"* {line.rstrip('.')}." for line in program.about)]
    lines += ["GET FILE='reports.sav'.", "WEIGHT OFF."]
    for name, column, value in counts:
        condition = f"NOT MISSING({column})" if value is None else f"{column} = {value}"
        lines += [f"COMPUTE {name} = 0.", f"IF ({condition}) {name} = count."]
    lines += ["COMPUTE @group = 0.", f"LOOP @by = 0 TO {len(program.background)}."]
    for i, one in enumerate(program.background, 1):
        lines.append(f"IF (@by = {i}) @group = {one.name}.")
    lines += [
        f"XSAVE OUTFILE='debiased.sav' /KEEP=@by @group {' '.join(names)}.",
        *("END LOOP.", "EXECUTE.", "GET FILE='debiased.sav'."),
        "AGGREGATE OUTFILE=* /BREAK=@by @group " + _sums((name, name) for name in names),
    ]
    for name, values in program.coins:
        lines.append(f"COMPUTE @{name} = {values[0]}.")
        lines += [f"IF (@by = {i}) @{name} = {x}." for i, x in enumerate(values[1:], 1)]
    total = program.questions[0].total
    lines.append(_IN_ALL_GROUPS + _sums((total(name), name) for name in names))
    lines += [f"COMPUTE {name} = {expression}." for name, expression in program.squares]
    for question in program.questions:
        lines += [f"COMPUTE {name} = {expression}." for name, expression in question.columns]
    totals = [(one.total(name), name) for one in program.questions for name in one.totals]
    if totals:
        lines.append(_IN_ALL_GROUPS + _sums(totals))
    rows = [row for question in program.questions for row in question.rows]
    lines += [f"STRING {name} (A{width})." for name, width in program.widths.items()]
    for name, text, condition in program.names:
        lines.append(f"IF ({condition.format(equals='=', both='AND')}) {name} = '{text}'.")
    lines += [
        "NUMERIC n (F10.0).",
        f"NUMERIC {' '.join(FIGURES)} {' '.join(f'@{name}' for name in STEPS)} (F14.8).",
        f"LOOP @row = 1 TO {len(rows)}.",
    ]
    for i, row in enumerate(rows, 1):
        lines.append(f"DO IF (@row = {i}).")
        lines += [
            f"COMPUTE {name} = '{text}'." for name, text in zip(NAMES, row.names, strict=True)
        ]
        lines += [f"COMPUTE {name} = {expression}." for name, expression in row.columns]
        lines += [
            f"IF NOT ({row.clear}) @value = $SYSMIS.",
            f"COMPUTE {row.error[0]} = {row.error[1]}.",
            f"COMPUTE n = {row.n}.",
            "END IF.",
        ]
    lines += [
        "COMPUTE estimate = @value.",
        "COMPUTE standard_error = @error.",
        "DO IF (question <> grouped_by).",
        f"XSAVE OUTFILE='debiased.sav' /KEEP={' '.join((*NAMES, *GROUPS, 'n', *FIGURES))}.",
        *("END IF.", "END LOOP.", "EXECUTE.", "GET FILE='debiased.sav'.", "LIST."),
    ]
    for line in lines:
        yield ("\n  ".join(_wrapped(line)) + "\n").encode()


_IN_ALL_GROUPS = "AGGREGATE OUTFILE=* MODE=ADDVARIABLES /BREAK=@by "


def _sums(columns: Iterable[Column]) -> str:
    return f"{' '.join(f'/{name} = SUM({other})' for name, other in columns)}."


def _wrapped(line: str) -> list[str]:
    return wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
