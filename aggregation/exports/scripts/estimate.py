"""Compute the published estimates of a release and their intervals again, and compare.

    python3 estimate.py [folder] > again.csv

The folder (this one, unless another is named) holds codebook.csv and reports.csv, from which all is
computed, and maybe estimates.csv, to compare. Without reports.csv, the counts in estimates.csv are
used, as far as they go: means of numbers need the reports, and some follow-ups by group do. The
formulas are those of codebook.json; intervals are in shares.py and means.py beside this file. Needs
Python 3.10 or later and nothing else. The status is 0 if all is as published, else 1.
"""

import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from means import (  # noqa: E402
    Found,
    Joint,
    Scores,
    any_ratio,
    mean_always,
    mean_once,
    standard_error,
)
from shares import (  # noqa: E402
    Limits,
    errors_always,
    errors_once,
    level_in_population,
    share_always,
    share_of_population,
    share_once,
)

Weights = list[float]
Row = list[float | None]  # the figures of an estimate
Lines = list[dict[str, str]]  # of a CSV file
# Reports by group and value, of a question by a background question; "": everybody, in one row.
Tables = dict[tuple[str, str], list[list[int]]]
TOLERANCE = 1e-6
LEVEL = 0.95
DECLINED = "prefer-not-to-say"
NAMES = "question measure option by group".split()
say = partial(print, file=sys.stderr)
FIGURES = "estimate standard_error low_once high_once low_always high_always".split()


@dataclass(frozen=True)
class Measure:
    """A weighted sum of the shares of values, maybe among the people with certain values."""

    name: str
    option: str
    weights: Weights
    among: Weights | None = None

    def scores(self, c: float, stray: Weights) -> Scores | None:
        """Return the scores of the values; None if those concerned are not those with some."""
        among = self.among or [1.0] * len(self.weights)
        if not set(among) <= {0.0, 1.0}:
            return None
        given = [
            one if concerned else None for one, concerned in zip(self.weights, among, strict=True)
        ]
        return Scores.of(given, c, stray)

    @property
    def place(self) -> int:
        """The value that an option's share is about."""
        return self.weights.index(max(self.weights))

    @property
    def span(self) -> Limits:
        """The least and the greatest value that it can have."""
        if self.name == "picks":
            return 0.0, max(self.weights)
        scores = [
            one for one, concerned in zip(self.weights, self.among or [], strict=True) if concerned
        ]
        return min(scores), max(scores)


@dataclass
class Coin:
    """How a block was randomized: what it keeps, and the chance of each value of a question."""

    keep: float
    stray: Weights = field(default_factory=list)
    reports: int = 0


@dataclass
class Question:
    key: str
    kind: str
    column: str
    background: bool
    follow_up: bool
    slots: int  # of multiple choice: how many options can be picked
    population: int | None
    options: list[str] = field(default_factory=list)  # by value; "" for levels and None
    numbers: list[float | None] = field(default_factory=list)
    coins: dict[str, Coin] = field(default_factory=dict)
    levels_apart: bool = True  # False: the levels of a number are only counted together

    @property
    def blank(self) -> bool:
        """Whether the last value is "not asked" or "nothing picked"."""
        return self.options[-1] == "" and self.numbers[-1] is None

    @property
    def measures(self) -> list[Measure]:
        """Return what is estimated."""
        places = range(len(self.options))
        own = [i for i in places if self.options[i]]
        shares = [
            Measure("share", self.options[i], [float(self.slots * (j == i)) for j in places])
            for i in own
        ]
        found = [*shares]
        if self.follow_up:
            asked = [float(i < len(places) - 1) for i in places]
            found += [replace(one, name="share_of_concerned", among=asked) for one in shares]
        known = [number is not None for number in self.numbers]
        if any(known) and (self.levels_apart or self.kind != "number"):
            among = None if all(known) else [float(one) for one in known]
            found.append(Measure("mean", "", [number or 0.0 for number in self.numbers], among))
        if self.kind == "several":
            none = [option == DECLINED for option in self.options]
            among = [1.0 - self.slots * one for one in none] if any(none) else None
            picked = [float(self.slots * (i in own and not none[i])) for i in places]
            found.append(Measure("picks", "", picked, among))
        return found

    def coin(self) -> tuple[float, Weights]:
        """Return c and the chance of each value; of several blocks, by their reports."""
        n = sum(coin.reports for coin in self.coins.values())
        parts = [(coin.reports / n, coin) for coin in self.coins.values()]
        keep = sum(part * coin.keep for part, coin in parts)
        strays = zip(*([part * one for one in coin.stray] for part, coin in parts), strict=True)
        return keep, [sum(each) for each in strays]


# --- Reading --------------------------------------------------------------------------------------


def read(path: Path) -> Lines:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_codebook(lines: Lines) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for row in lines:
        key = row["key"]
        if key not in found:
            found[key] = Question(
                key, row["kind"], row["column"], row["background"] == "1", bool(row["only_if"]),
                int(row["picks"] or 1), int(row["population"]) if row["population"] else None,
            )  # fmt: skip
        question = found[key]
        if row["block"] not in question.coins:
            question.coins[row["block"]] = Coin(int(row["keep"]) / int(row["scale"]))
        question.coins[row["block"]].stray.append(float(row["b"]))
        if len(question.coins) == 1:
            question.options.append(row["option"])
            question.numbers.append(float(row["number"]) if row["number"] else None)
    return found


def groupings(questions: dict[str, Question]) -> list[tuple[str, list[str]]]:
    """Return everybody as one group, and the groups of each background question."""
    return [("", [""]), *((one.key, one.options) for one in questions.values() if one.background)]


def count_reports(lines: Lines, questions: dict[str, Question]) -> Tables:
    """Count the reports by value, over everybody and by each background question."""
    single = {next(iter(q.coins)): q for q in questions.values() if len(q.coins) == 1}
    tables: Tables = {
        (question.key, by): [[0] * len(question.options) for _ in groups]
        for question in questions.values()
        for by, groups in groupings(questions)
    }
    for line in lines:
        times = int(line["count"])
        asked = {block for block, question in single.items() if line[question.column] != ""}
        named = [(one.key, int(line[one.column])) for one in questions.values() if one.background]
        for question in questions.values():
            if line[question.column] == "":
                continue  # this block was not asked
            for block in asked & question.coins.keys():
                question.coins[block].reports += times
            for by, group in [("", 0), *named]:
                tables[question.key, by][group][int(line[question.column])] += times
    return tables


def count_estimates(lines: Lines, questions: dict[str, Question]) -> Tables:
    """Count the reports by value, as far as the counts of the estimates say.

    All levels of a number are counted as the first. "Not asked" and "nothing picked" are what is
    missing from all reports of a group. Their number is known for multiple choice, and for
    follow-ups if everybody was asked or another question has the same block.
    """
    n = {line["question"]: int(line["n"]) for line in lines}
    names = "question by group measure option".split()
    count = Counter({tuple(line[name] for name in names): int(line["count"]) for line in lines})

    def shown(question: Question, by: str, group: str) -> list[int]:
        """Return the reports by value, without those that are blank."""
        here = question.key, by, group
        row = [count[(*here, "share", one)] if one else 0 for one in question.options]
        if question.kind == "number":
            row[0] = count[(*here, "mean", "")]
        return row

    def reports_of(question: Question, by: str, group: str) -> int:
        """Return the reports to a question that name a group; -1 if this is not known."""
        here = question.key, by, group
        if not by:
            return n[question.key]
        if question.kind == "several":
            return count[(*here, "picks", "")] + count[(*here, "share", DECLINED)]
        if n[question.key] == n[by]:
            return count[by, "", "", "share", group]
        for other in questions.values():
            if other.coins.keys() == question.coins.keys() and not other.blank:
                return sum(shown(other, by, group))
        return -1

    tables: Tables = {}
    reports = {next(iter(q.coins)): n[q.key] for q in questions.values() if len(q.coins) == 1}
    for question in questions.values():
        question.levels_apart = False
        for block, coin in question.coins.items():
            coin.reports = reports[block]
        for by, groups in groupings(questions):
            table = [shown(question, by, group) for group in groups]
            if question.blank:
                for row, group in zip(table, groups, strict=True):
                    row[-1] = reports_of(question, by, group) - sum(row)
            if all(min(row) >= 0 for row in table):
                tables[question.key, by] = table
    return tables


# --- Estimating -----------------------------------------------------------------------------------


def everybody(question: Question, measure: Measure, counts: list[int]) -> tuple[Found, Limits]:
    """Return a measure over everybody, with its limits for one look and for every look."""
    c, stray = question.coin()
    population = question.population
    if population is not None and population < sum(counts):
        population = None
    number = question.kind == "number"
    scores = measure.scores(c, stray)
    if scores is None:
        sums = measure.weights, measure.among or []
        ratio: tuple[Found, Limits]
        ratio = any_ratio([counts], 1.0, 0, *sums, (c, stray), measure.span, LEVEL)
        return ratio
    if measure.name == "share":
        i, contrast = measure.place, c / question.slots
        yes = Scores.of([0.0, 1.0], contrast, [1 - contrast - stray[i], stray[i]])
        return share([sum(counts) - counts[i], counts[i]], yes, population, False)
    if scores.two:
        return share(counts, scores, population, number)
    found = mean_once(counts, scores, LEVEL, population, number)
    return found, mean_always(counts, scores, LEVEL)


def share(
    counts: list[int], s: Scores, population: int | None, rounded: bool
) -> tuple[Found, Limits]:
    """Return the mean of two scores: reports are as good as yes or no."""
    n, c, count = (
        sum(counts),
        s.c,
        sum(x for x, score in zip(counts, s.x, strict=True) if score == 1),
    )
    b = min(sum(stray for stray, score in zip(s.stray, s.x, strict=True) if score == 1), 1 - c)
    error, _ = standard_error(counts, s, population, rounded)
    if n == 1 and len(counts) == 2 and population != 1 and not rounded:
        worst = min(max(0.5, b), b + c)  # the largest variance that one report can have
        error = math.sqrt(worst * (1 - worst)) / c
    if population is None:
        once = share_once(count, n, b, c, LEVEL)
    elif rounded:
        once = share_once(count, n, b, c, level_in_population(n, b, c, LEVEL))
    else:
        once = share_of_population(count, n, b, c, LEVEL, population)
    value = s.least + s.span * (count / n - b) / c
    found = Found(value, s.span * error, *s.rescaled(once))
    return found, s.rescaled(share_always(count, n, b, c, LEVEL))


def in_groups(
    question: Question, by: Question, measure: Measure, table: list[list[int]]
) -> list[tuple[Found, Limits]]:
    """Return a measure in every group of a background question."""
    n, (c, stray), (kept, _) = sum(map(sum, table)), question.coin(), by.coin()
    groups = range(len(table))
    scores = measure.scores(c, stray)
    if scores is None:
        sums = measure.weights, measure.among or []
        return [any_ratio(table, kept, g, *sums, (c, stray), measure.span, LEVEL) for g in groups]
    if measure.name == "share":  # the option against everything else
        i, contrast = measure.place, c / question.slots
        table = [[sum(line) - line[i], line[i]] for line in table]
        scores = Scores.of([0.0, 1.0], contrast, [1 - contrast - stray[i], stray[i]])
    joint = Joint(table, kept, scores)
    always = [joint.find(g, errors_always(n, LEVEL)) for g in groups]
    once = [joint.find(g, errors_once(LEVEL)) for g in groups]
    return [(once[g], (always[g].low, always[g].high)) for g in groups]


def figures(questions: dict[str, Question], tables: Tables) -> Iterator[tuple[list[str], Row]]:
    """Yield the names and the figures of every estimate, by question and measure."""
    for question in questions.values():
        key, (of_all,) = question.key, tables[question.key, ""]
        if not sum(of_all):
            continue
        for measure in question.measures:
            found = everybody(question, measure, of_all)
            yield [key, measure.name, measure.option, "", ""], row(*found)
            for by in questions.values():
                if by.key == key or (key, by.key) not in tables:
                    continue
                for g, found in enumerate(in_groups(question, by, measure, tables[key, by.key])):
                    yield [key, measure.name, measure.option, by.key, by.options[g]], row(*found)


def row(found: Found, always: Limits) -> Row:
    return [found.value, found.error, found.low, found.high, *always]


# --- Comparing ------------------------------------------------------------------------------------


def difference(found: Row, published: dict[str, str]) -> float:
    """Return the largest difference between two rows, relative to figures beyond 1."""
    worst = 0.0
    for name, value in zip(FIGURES, found, strict=True):
        text = published[name]
        if value is None or math.isnan(value) or text == "":
            if text != "" or (value is not None and not math.isnan(value)):
                return math.inf
        else:
            worst = max(worst, abs(value - float(text)) / max(1.0, abs(float(text))))
    return worst


def compare(found: dict[tuple[str, ...], Row], published: Lines, complete: bool) -> int:
    """Say how far the figures are from those published, and return the status of the program."""
    given = {tuple(line[name] for name in NAMES): line for line in published if line["n"] != "0"}
    rest = [key for key in given if key not in found]
    worst = math.inf
    if found.keys() <= given.keys() and not (complete and rest):
        worst = max((difference(found[key], given[key]) for key in found), default=0.0)
    verdict = "as published" if worst <= TOLERANCE else "NOT as published"
    say(f"{len(found)} estimates: {verdict}; largest difference {worst:.3g}.")
    if rest and not complete:
        needed = dict.fromkeys(f"{key[0]} {key[1]}{key[3] and ' by '}{key[3]}" for key in rest)
        say(f"{len(rest)} more need reports.csv: {', '.join(needed)}.")
    return 0 if worst <= TOLERANCE else 1


def main(folder: Path) -> int:
    questions = read_codebook(read(folder / "codebook.csv"))
    reports, estimates = folder / "reports.csv", folder / "estimates.csv"
    published = read(estimates) if estimates.exists() else []
    if reports.exists():
        tables = count_reports(read(reports), questions)
    elif published:
        tables = count_estimates(published, questions)
    else:
        say(f"Put reports.csv or estimates.csv into the folder {folder}.")
        return 1
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*NAMES, *FIGURES])
    found: dict[tuple[str, ...], Row] = {}
    for names, each in figures(questions, tables):
        found[tuple(names)] = each
        out.writerow([*names, *("" if x is None or math.isnan(x) else repr(x) for x in each)])
    if published:
        return compare(found, published, reports.exists())
    say(f"{len(found)} estimates; there is no estimates.csv to compare.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
