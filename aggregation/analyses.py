"""What can be asked of a survey's batches beyond its releases: tables, regression, profiles and
weights.

An analysis is a kind and what it is about. It names the axes of the one joint table of reports that
it needs; counting that table over the batches is the work of tasks.py, and `figures` makes
estimates of it. Pure: no database, no clock, and the same question gives the same figures.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from aggregation import gate
from aggregation.batches import Axis
from aggregation.statistics import joint, predictor, profiles, regression, weights
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, Question, canonical_json
from survey.mechanism import SCALE

LEVEL = 0.95
MOST_CELLS = 2**20
MOST_TABLE = 4  # questions in one table
MOST_PREDICTORS = predictor.MOST_HIDDEN  # other answers in one regression
MOST_CLASSES = 6
MOST_CONDITIONAL = 4096  # cells of a table whose conditional shares are computed
MOST_POPULATION = 1000  # combinations of groups whose population shares are given
LARGEST = 1e15  # of a population
RUNAWAY = 8.0  # log-odds beyond this are on their way to infinity where there is no maximum

Counts = NDArray[np.int64]
Figures = dict[str, Any]


class AnalysisError(ValueError):
    """What was asked for cannot be done: where, and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why)
        self.where, self.why = where, why

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


def _population(where: str, name: str, values: Sequence[Any]) -> tuple[float, ...]:
    """Shares or numbers of people, as shares."""
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= LARGEST:
            raise AnalysisError(where, f"{name}: numbers from 0 to {LARGEST:.0e}")
    if not sum(values) > 0:
        raise AnalysisError(where, f"{name}: not all 0")
    return tuple(value / sum(values) for value in values)


class Overtaken(AnalysisError):
    """A release was made while an analysis of the one before was counted."""

    def __init__(self) -> None:
        super().__init__("survey", "a release was made meanwhile; ask again")


class Analysis(Protocol):
    """A kind of analysis, with what it is about."""

    kind: ClassVar[str]

    @classmethod
    def read(cls, asked: "Asked") -> Self: ...

    def axes(self, design: Design) -> list[Axis]: ...

    def divisions(self) -> list[tuple[str, ...]]:
        """The strata by whose groups it divides the reports, taken together in each division."""
        ...

    def figures(self, view: "View") -> Figures: ...


class Asked:
    """The members of a request, taken one by one; what is left at the end is unknown."""

    def __init__(self, members: Mapping[str, Any], design: Design) -> None:
        self.members = dict(members)
        self.design = design

    def keys(self, name: str, known: Sequence[str], least: int, most: int) -> tuple[str, ...]:
        """A list of distinct keys."""
        given = self.members.pop(name, [])
        if not isinstance(given, list) or not all(isinstance(key, str) for key in given):
            raise AnalysisError(name, "a list of keys")
        for key in given:
            if key not in known:
                raise AnalysisError(name, f"there is no {key[:50]!r} in this survey")
        if len(set(given)) < len(given):
            raise AnalysisError(name, "the same key stands there twice")
        if not least <= len(given) <= most:
            raise AnalysisError(name, f"{least} to {most} of them, not {len(given)}")
        return tuple(given)

    def questions(self, name: str, least: int, most: int) -> tuple[str, ...]:
        return self.keys(name, [question.key for question in self.design.questions], least, most)

    def strata(self, name: str, most: int) -> tuple[str, ...]:
        return self.keys(name, [stratum.key for stratum in self.design.strata], 0, most)

    def choice(self, name: str, option: str) -> "Choice":
        """A question, and the option of it that counts as yes; without one, the last of two."""
        if not isinstance(self.members.get(name), str):
            raise AnalysisError(name, "the key of a question")
        self.members[name] = [self.members[name]]
        (question,) = self.questions(name, 1, 1)
        keys = [one.key for one in question_of(self.design, question).options]
        given = self.members.pop(option, None)
        if given is None and len(keys) == 2:
            return Choice(question, 1)
        if given not in keys:
            raise AnalysisError(option, f"one of the options of {question}: {', '.join(keys)}")
        return Choice(question, keys.index(given))

    def predictors(self) -> "tuple[Choice, ...]":
        """Options of other questions, each an object of a question and, unless it is yes/no, one
        of its options.
        """
        given = self.members.pop("predictors", [])
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise AnalysisError("predictors", "a list of objects with a question and an option")
        if len(given) > MOST_PREDICTORS:
            raise AnalysisError(
                "predictors",
                f"at most {MOST_PREDICTORS} other answers, not {len(given)}: the noise of each "
                "adds to that of the others",
            )
        found = []
        for one in given:
            asked = Asked(one, self.design)
            try:
                found.append(asked.choice("question", "option"))
                asked.nothing_else()
            except AnalysisError as error:
                raise AnalysisError("predictors", f"{error.where}: {error.why}") from None
        if len(set(found)) < len(found):
            raise AnalysisError("predictors", "the same answer stands there twice")
        return tuple(found)

    def margins(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """Of some strata the population's share, or number, of every group."""
        given = self.members.pop("margins")
        if not isinstance(given, dict) or not given:
            raise AnalysisError("margins", "an object of strata, each with its groups")
        strata = {stratum.key: stratum for stratum in self.design.strata}
        for key in given:
            if key not in strata:
                raise AnalysisError("margins", f"there is no stratum {key[:50]!r} in this survey")
        return tuple(
            (key, self._margin(stratum, given[key]))
            for key, stratum in strata.items()
            if key in given
        )

    def _margin(self, stratum: Question, given: Any) -> tuple[float, ...]:
        keys = [option.key for option in stratum.options]
        if not isinstance(given, dict) or set(given) != set(keys):
            raise AnalysisError("margins", f"{stratum.key}: each of {', '.join(keys)} once")
        return _population("margins", stratum.key, [given[key] for key in keys])

    def cells(self) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Of some strata together the population's share, or number, of every combination."""
        given = self.members.pop("cells")
        if not isinstance(given, list) or not 1 <= len(given) <= MOST_POPULATION:
            raise AnalysisError("cells", f"a list of 1 to {MOST_POPULATION} cells")
        found: dict[tuple[int, ...], Any] = {}
        strata: list[Question] = []
        for i, cell in enumerate(given):
            groups = cell.get("groups") if isinstance(cell, dict) else None
            if not isinstance(groups, dict) or set(cell) != {"groups", "share"}:
                raise AnalysisError("cells", f"[{i}]: an object with groups and a share")
            strata = strata or [one for one in self.design.strata if one.key in groups]
            if not strata or {one.key for one in strata} != set(groups):
                raise AnalysisError("cells", f"[{i}]: groups of the same strata in every cell")
            place = []
            for one in strata:
                keys = [option.key for option in one.options]
                if groups[one.key] not in keys:
                    raise AnalysisError("cells", f"[{i}]: {one.key} is one of {', '.join(keys)}")
                place.append(keys.index(groups[one.key]))
            if tuple(place) in found:
                raise AnalysisError("cells", f"[{i}]: this combination stands there twice")
            found[tuple(place)] = cell["share"]
        places = list(product(*(range(one.size) for one in strata)))
        if len(found) < len(places):
            raise AnalysisError("cells", f"every combination, {len(places)}, not {len(found)}")
        shares = _population("cells", "the cells", [found[place] for place in places])
        return tuple(one.key for one in strata), shares

    def number(self, name: str, least: int, most: int) -> int:
        given = self.members.pop(name, least)
        if type(given) is not int or not least <= given <= most:
            raise AnalysisError(name, f"a whole number from {least} to {most}")
        return given

    def nothing_else(self) -> None:
        for name in self.members:
            raise AnalysisError(str(name)[:50], "there is nothing of this name to ask")


@dataclass(frozen=True)
class View:
    """A table of reports with its axes, and the groups that may be shown of each division."""

    design: Design
    axes: Sequence[Axis]
    table: Counts  # the axes of questions first, then those of strata
    shown: Sequence[set[int]]  # of each division, positions among its groups

    @property
    def strata(self) -> list[str]:
        return [key for kind, key in self.axes if kind == "stratum"]

    def groups(self) -> list[tuple[tuple[int, ...], Counts]]:
        """Each group that may be shown, where all strata are one division: its place on their
        axes, and its own table.
        """
        (shown,) = self.shown
        depth = len(self.axes) - len(self.strata)
        shape = self.table.shape[depth:]
        flat = self.table.reshape(*self.table.shape[:depth], -1)
        places = list(product(*map(range, shape)))
        return [(places[i], flat[..., i]) for i in sorted(shown)]

    def levels(self) -> list[tuple[tuple[int | None, ...], Counts]]:
        """All reports, where each stratum is a division: by the groups shown of each, and the rest
        of it, None; with the table of each combination that occurs.
        """
        depth = len(self.axes) - len(self.strata)
        flat = self.table.reshape(*self.table.shape[:depth], -1)
        found: dict[tuple[int | None, ...], Counts] = {}
        for i, place in enumerate(product(*map(range, self.table.shape[depth:]))):
            table = flat[..., i]
            if table.any():
                level = tuple(
                    position if position in shown else None
                    for position, shown in zip(place, self.shown, strict=False)
                )
                found[level] = found[level] + table if level in found else table
        return sorted(found.items(), key=lambda one: [(i is None, i or 0) for i in one[0]])

    def blocks(self) -> list[joint.Block]:
        """Which of the questions' axes share a coin."""
        places: dict[str, tuple[float, list[int]]] = {}
        for position, (kind, key) in enumerate(self.axes):
            if kind == "question":
                block, _ = place_of(self.design, key)
                keep = block.keep / SCALE
                places.setdefault(block.key, (keep, []))[1].append(position)
        return [joint.Block(keep, tuple(axes)) for keep, axes in places.values()]


@dataclass(frozen=True)
class Crosstab:
    """The joint shares of two to four questions, over everybody or by one stratum."""

    kind: ClassVar[str] = "crosstab"
    questions: tuple[str, ...]
    strata: tuple[str, ...]

    @classmethod
    def read(cls, asked: Asked) -> Self:
        return cls(asked.questions("questions", 2, MOST_TABLE), asked.strata("strata", 1))

    def axes(self, design: Design) -> list[Axis]:
        return axes_of(self.questions, self.strata)

    def divisions(self) -> list[tuple[str, ...]]:
        return [self.strata]

    def figures(self, view: View) -> Figures:
        tables = []
        for place, table in view.groups():
            tables.append({"group": _group(view, place)} | self._table(table, view.blocks()))
        return {"tables": tables}

    def _table(self, table: Counts, blocks: list[joint.Block]) -> Figures:
        theta, covariance = joint.cells(table, blocks)
        fit = joint.mle(table, blocks)
        found = {
            "n": int(table.sum()),
            "counts": table.tolist(),
            "estimates": theta.tolist(),
            "standard_errors": covariance.standard_errors.tolist(),
            "bounded": fit.theta.tolist(),
            "bounded_converged": fit.converged,
            "conditional": self._conditional(table, blocks),
        }
        if len(self.questions) == 2:
            found["independence"] = _independence(joint.independence(table, blocks))
            if table.shape == (2, 2):
                found["association"] = _association(joint.association(table, blocks))
        return found

    def _conditional(self, table: Counts, blocks: list[joint.Block]) -> Figures | None:
        """For each question the shares of its options, given the answers to the others."""
        if table.size > MOST_CONDITIONAL:
            return None
        shares = {}
        for axis, key in enumerate(self.questions):
            found = joint.conditional(table, blocks, axis)
            shares[key] = {
                "estimates": plain_table(found.shares),
                "standard_errors": plain_table(found.standard_errors),
            }
        return shares


class Choice(NamedTuple):
    """One option of a question, as yes; the others together are no."""

    question: str
    option: int


@dataclass(frozen=True)
class Regression:
    """The log-odds of one option as it depends on strata, and on options of other questions."""

    kind: ClassVar[str] = "regression"
    outcome: Choice
    strata: tuple[str, ...]
    predictors: tuple[Choice, ...]

    @classmethod
    def read(cls, asked: Asked) -> Self:
        outcome = asked.choice("outcome", "option")
        strata = asked.strata("strata", MOST_TABLE)
        predictors = asked.predictors()
        if not strata and not predictors:
            raise AnalysisError("strata", "name at least one stratum, or a predictor")
        for one in predictors:
            if one.question == outcome.question:
                raise AnalysisError("predictors", f"{one.question} is what is to be explained")
            size = question_of(asked.design, one.question).size
            if sum(other.question == one.question for other in predictors) == size:
                raise AnalysisError(
                    "predictors", f"leave out one option of {one.question}, to be compared with"
                )
        return cls(outcome, strata, predictors)

    def axes(self, design: Design) -> list[Axis]:
        return axes_of([self.outcome.question, *self.others], self.strata)

    @property
    def others(self) -> dict[str, list[int]]:
        """The other questions, each with the options that are predictors."""
        found: dict[str, list[int]] = {}
        for choice in self.predictors:
            found.setdefault(choice.question, []).append(choice.option)
        return found

    def divisions(self) -> list[tuple[str, ...]]:
        """Each stratum by itself: there is a coefficient for each of its groups, and none for
        groups of several strata together.
        """
        return [(stratum,) for stratum in self.strata] or [()]

    def figures(self, view: View) -> Figures:
        groups = view.levels()
        names, rows = _dummies(view, [place for place, _ in groups])
        tables = [self._parted(table) for _, table in groups]
        fit: regression.Fit | regression.PredictorFit
        if not self.predictors:
            yes, all_ = [table[1].sum() for table in tables], [table.sum() for table in tables]
            outcome = channel_of(view.design, self.outcome.question)
            fit = regression.tallies(rows, yes, all_, outcome)
        else:
            asked = {self.outcome.question: [self.outcome.option], **self.others}
            options = [
                (question_of(view.design, key).size - len(chosen), *[1] * len(chosen))
                for key, chosen in asked.items()
            ]
            fit = regression.predictors(rows, np.stack(tables), view.blocks(), options)
            names += [
                _named(view.design, Choice(key, option))
                for key, chosen in self.others.items()
                for option in chosen
            ]
        return {
            "outcome": _named(view.design, self.outcome),
            "n": int(sum(table.sum() for table in tables)),
            "groups": len(groups),
            "converged": bool(fit.converged),
            "separated": bool(fit.separated),
            "log_likelihood": plain(fit.log_likelihood),
            "terms": [
                name | _term(joint.Effect(value, error), bool(fit.separated))
                for name, value, error in zip(
                    names, fit.coefficients, fit.standard_errors, strict=True
                )
            ],
        }

    def _parted(self, table: Counts) -> Counts:
        """The table of one group, by the outcome, no and yes, and by the options that matter."""
        for axis, chosen in enumerate([[self.outcome.option], *self.others.values()]):
            told = table.take(chosen, axis)
            rest = table.sum(axis, keepdims=True) - told.sum(axis, keepdims=True)
            table = np.concatenate([rest, told], axis)
        return table


@dataclass(frozen=True)
class Profiles:
    """Which kinds of people there are: latent classes of the answers to several questions."""

    kind: ClassVar[str] = "profiles"
    questions: tuple[str, ...]
    classes: int

    @classmethod
    def read(cls, asked: Asked) -> Self:
        questions = asked.questions("questions", 2, 20)
        return cls(questions, asked.number("classes", 2, MOST_CLASSES))

    def axes(self, design: Design) -> list[Axis]:
        return axes_of(self.questions, ())

    def divisions(self) -> list[tuple[str, ...]]:
        return [()]

    def figures(self, view: View) -> Figures:
        ((_, table),) = view.groups()
        patterns = np.argwhere(table)
        seed = int.from_bytes(hashlib.sha256(repr(self).encode()).digest()[:8])
        fit = profiles.fit(
            patterns, table[tuple(patterns.T)], view.blocks(), table.shape, self.classes, seed
        )
        return {
            "n": fit.people,
            "shares": fit.shares.tolist(),
            "share_errors": [plain(error) for error in fit.share_errors],
            "answers": {
                key: {
                    "probabilities": found.tolist(),
                    "standard_errors": [[plain(error) for error in row] for row in errors],
                }
                for key, found, errors in zip(
                    self.questions, fit.answers, fit.answer_errors, strict=True
                )
            },
            "log_likelihood": fit.log_likelihood,
            "parameters": fit.parameters,
            "bic": fit.bic,
            "converged": fit.converged,
            "starts": fit.starts,
            "agreeing": fit.agreeing,
            "warning": fit.warning,
        }


@dataclass(frozen=True)
class Weights:
    """The shares of one question, weighted to a population: raked to the margins of several strata,
    or post-stratified by one stratum or by the cells of several.

    Reports that leave one of these strata open are left out, and so are those in groups that the
    gate hides or that the population does not have.
    """

    kind: ClassVar[str] = "weights"
    question: str
    strata: tuple[str, ...]
    margins: tuple[tuple[float, ...], ...]  # of each stratum; or, one only, of all their cells

    @classmethod
    def read(cls, asked: Asked) -> Self:
        if not isinstance(asked.members.get("question"), str):
            raise AnalysisError("question", "the key of a question")
        asked.members["question"] = [asked.members["question"]]
        (question,) = asked.questions("question", 1, 1)
        given = [name for name in ("margins", "cells") if name in asked.members]
        if len(given) != 1:
            raise AnalysisError("margins", "the population's margins, or its cells")
        if given == ["margins"]:
            found = asked.margins()
            return cls(question, tuple(key for key, _ in found), tuple(one for _, one in found))
        strata, cells = asked.cells()
        return cls(question, strata, (cells,))

    def axes(self, design: Design) -> list[Axis]:
        return axes_of([self.question], self.strata)

    def divisions(self) -> list[tuple[str, ...]]:
        return [self.strata]

    def figures(self, view: View) -> Figures:
        raked = len(self.margins) > 1
        counts = self._counts(view)
        sizes = counts.sum(axis=0)
        channel = channel_of(view.design, self.question)
        options = question_of(view.design, self.question).options
        found = []
        for option, yes in zip(options, counts, strict=True):
            used = sizes > 0
            raw = weights.tallied(yes[used], sizes[used], np.ones(used.sum()), channel, LEVEL)
            if raked:
                try:
                    weighted = weights.rake(yes, sizes, self.margins, channel, LEVEL)
                except ValueError:
                    raise AnalysisError("margins", UNREACHABLE) from None
            else:
                shares = np.array(self.margins[0]).reshape(sizes.shape)[used]
                weighted = weights.poststratified(yes[used], sizes[used], shares, channel, LEVEL)
            found.append(
                {"option": option.key, "raw": _weighted(raw), "weighted": _weighted(weighted)}
            )
        return {
            "question": self.question,
            "strata": list(self.strata),
            "method": "raked" if raked else "post-stratified",
            "n": weighted.n,
            "design_effect": weighted.kish,
            "kish_size": weighted.n / weighted.kish,
            "options": found,
        }

    def _counts(self, view: View) -> Counts:
        """Reports by option and place on the strata, of the groups that count."""
        strata = [one for one in view.design.strata if one.key in self.strata]
        shape = [one.size for one in strata]
        counts = np.zeros((view.table.shape[0], *shape), dtype=np.int64)
        for place, table in view.groups():
            if all(position < size for position, size in zip(place, shape, strict=True)):
                for option, reports in enumerate(table):
                    counts[(option, *place)] = reports
        if len(self.margins) == 1:
            self._compare(np.array(self.margins[0]).reshape(shape), counts, strata)
            return counts
        for axis, margin in enumerate(self.margins):
            across = tuple(i for i in range(len(shape)) if i != axis)
            sums = np.expand_dims(np.array(margin), across)
            counts = np.where(sums > 0, counts, 0)
        for axis, margin in enumerate(self.margins):
            across = tuple(i + 1 for i in range(len(shape)) if i != axis)
            self._compare(np.array(margin), counts.sum(axis=across), [strata[axis]])
        return counts

    def _compare(self, shares: Any, counts: Counts, strata: list[Question]) -> None:
        """Whom the population does not have is left out; whom it has must have reported."""
        counts[:, shares == 0] = 0
        missing = np.argwhere((shares > 0) & (counts.sum(axis=0) == 0)).tolist()
        if missing:
            named = [
                " and ".join(one.options[i].text for one, i in zip(strata, place, strict=True))
                for place in missing[:3]
            ]
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            together = " in some combination with the other strata" if len(self.strata) > 1 else ""
            raise AnalysisError(
                "margins",
                f"too few reports{together}, or too few since an earlier release, to show any of: "
                f"{'; '.join(named)}{more}",
            )


UNREACHABLE = "no weights meet all of these margins, because some combinations have no reports"
KINDS: dict[str, type[Analysis]] = {
    kind.kind: kind for kind in (Crosstab, Regression, Profiles, Weights)
}


def read(asked: Any, design: Design) -> Analysis:
    """The analysis that a request describes; AnalysisError says what is wrong with it."""
    if not isinstance(asked, dict):
        raise AnalysisError("analysis", "an object with a kind")
    members = Asked(asked, design)
    kind = members.members.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AnalysisError("kind", f"one of {', '.join(KINDS)}")
    analysis = KINDS[kind].read(members)
    members.nothing_else()
    _check_asked_together(analysis.axes(design), design)
    cells = math.prod(sizes(analysis.axes(design), design))
    if cells > MOST_CELLS:
        raise AnalysisError(
            "questions", f"a table of {cells:,} cells; at most {MOST_CELLS:,}: ask about fewer"
        )
    return analysis


def _check_asked_together(axes: Sequence[Axis], design: Design) -> None:
    """A table of questions that nobody is asked together is empty for ever."""
    blocks = {place_of(design, key)[0].key for kind, key in axes if kind == "question"}
    if len(blocks) > design.ask:
        raise AnalysisError(
            "questions",
            f"nobody is asked all of these: they are in {len(blocks)} blocks, and each person is "
            f"asked {design.ask} of {len(design.blocks)}",
        )


def asked_together(analysis: Analysis, design: Design) -> float:
    """The part of the people whom chance asks all the questions of an analysis."""
    axes = analysis.axes(design)
    blocks = {place_of(design, key)[0].key for kind, key in axes if kind == "question"}
    others, ask = len(design.blocks) - len(blocks), design.ask
    return math.comb(others, ask - len(blocks)) / math.comb(len(design.blocks), ask)


def digest(asked: Mapping[str, Any]) -> str:
    """The same for the same question, in whatever order its members came."""
    return hashlib.sha256(canonical_json(dict(asked)).encode()).hexdigest()


def group_sizes(analysis: Analysis, design: Design, table: Counts) -> list[list[int]]:
    """How many reports each group of each division holds."""
    axes = analysis.axes(design)
    found = []
    for division in analysis.divisions():
        others = [i for i, (kind, key) in enumerate(axes) if kind == "question"]
        others += [
            i for i, axis in enumerate(axes) if axis[0] == "stratum" and axis[1] not in division
        ]
        found.append(table.sum(axis=tuple(others)).ravel().tolist())
    return found


def figures(
    analysis: Analysis,
    design: Design,
    table: Counts,
    crowd: int,
    shown: Sequence[set[int]] | None = None,
) -> Figures:
    """The estimates, from the groups that the gate shows; AnalysisError where there is none.

    Without `shown`, those of tables that stand alone.
    """
    found = group_sizes(analysis, design, table)
    shown = [gate.shown(sizes, crowd) for sizes in found] if shown is None else shown
    for division, sizes, visible in zip(analysis.divisions(), found, shown, strict=True):
        if not visible:
            where = f" in every group of {', '.join(division)}" if len(sizes) > 1 else ""
            raise AnalysisError(
                "reports", f"fewer than {crowd} reports have all of these questions{where}"
            )
    view = View(design, analysis.axes(design), table, shown)
    hidden = sum(
        bool(size) and i not in visible
        for sizes, visible in zip(found, shown, strict=True)
        for i, size in enumerate(sizes)
    )
    return analysis.figures(view) | {"hidden_groups": hidden}


# --- Places in a design ---------------------------------------------------------------------------


def axes_of(questions: Sequence[str], strata: Sequence[str]) -> list[Axis]:
    return [("question", key) for key in questions] + [("stratum", key) for key in strata]


def sizes(axes: Sequence[Axis], design: Design) -> list[int]:
    """The numbers of options along these axes; a stratum has one more, “not given”."""
    strata = {stratum.key: stratum.size + 1 for stratum in design.strata}
    return [
        question_of(design, key).size if kind == "question" else strata[key] for kind, key in axes
    ]


def place_of(design: Design, key: str) -> tuple[Block, int]:
    """The block of a question, and its position there."""
    return next(
        (block, i)
        for block in design.blocks
        for i, question in enumerate(block.questions)
        if question.key == key
    )


def question_of(design: Design, key: str) -> Question:
    block, i = place_of(design, key)
    return block.questions[i]


def channel_of(design: Design, key: str) -> Channel:
    block, i = place_of(design, key)
    return Channel(*block.mechanism.channel(i))


def _named(design: Design, choice: Choice) -> dict[str, Any]:
    option = question_of(design, choice.question).options[choice.option]
    return {"question": choice.question, "option": option.key}


def _group(view: View, place: Sequence[int]) -> dict[str, str | None]:
    """A group by the options of its strata."""
    named = zip(view.strata, place, strict=True)
    return {key: _option(view.design, key, position) for key, position in named}


def _option(design: Design, key: str, position: int) -> str | None:
    """The key of a stratum's option; None for “not given”."""
    stratum = next(stratum for stratum in design.strata if stratum.key == key)
    return stratum.options[position].key if position < stratum.size else None


def _dummies(
    view: View, places: Sequence[Sequence[int | None]]
) -> tuple[list[dict[str, Any]], list[list[float]]]:
    """An intercept, and a column for each group of each stratum but the first that occurs; None is
    the groups that are not shown, which are one.
    """
    names: list[dict[str, Any]] = [{"intercept": True}]
    columns: list[tuple[int, int | None]] = []
    for axis, key in enumerate(view.strata):
        occur = {place[axis] for place in places}
        first, *others = sorted(occur - {None}, key=lambda i: i or 0)
        for position in [*others, *([None] if None in occur else [])]:
            name: dict[str, Any] = {
                "stratum": key,
                "against": _option(view.design, key, first or 0),
            }
            rest = {"option": None, "rest": True}
            names.append(
                name
                | (rest if position is None else {"option": _option(view.design, key, position)})
            )
            columns.append((axis, position))
    rows = [
        [1.0, *(float(place[axis] == position) for axis, position in columns)] for place in places
    ]
    return names, rows


# --- Figures as JSON ------------------------------------------------------------------------------


def plain(value: float | None) -> float | None:
    """A number that JSON knows: what is not finite has no figure."""
    return float(value) if value is not None and math.isfinite(value) else None


def _effect(effect: joint.Effect) -> Figures:
    low, high = effect.interval(LEVEL)
    return {
        "estimate": plain(effect.value),
        "standard_error": plain(effect.standard_error),
        "interval": {"level": LEVEL, "low": plain(low), "high": plain(high)},
    }


def plain_table(values: NDArray[np.float64]) -> Any:
    """A table of such numbers."""
    if values.ndim == 0:
        return plain(float(values))
    return [plain_table(row) for row in values]


def _term(effect: joint.Effect, separated: bool) -> Figures:
    """A coefficient, with Wald's test; `runaway`: there is no maximum, and this is why."""
    found = _effect(effect)
    error = effect.standard_error
    p_value = 2 * float(ndtr(-abs(effect.value) / error)) if error > 0 else None
    return found | {
        "p_value": plain(p_value),
        "runaway": bool(separated and abs(effect.value) > RUNAWAY),
    }


def _weighted(found: weights.Weighted) -> Figures:
    return {
        "estimate": found.value,
        "standard_error": found.standard_error,
        "interval": {"level": LEVEL, "low": found.low, "high": found.high},
        "privacy_effect": found.privacy,
        "effective_size": found.effective_size,
    }


def _association(found: joint.Association) -> Figures:
    names = ("covariance", "risk_difference", "phi", "log_odds_ratio")
    effects = {name: getattr(found, name) for name in names}
    return {name: effect and _effect(effect) for name, effect in effects.items()}


def _independence(found: joint.Independence) -> Figures:
    def test(chi: joint.ChiSquare | None) -> Figures | None:
        return None if chi is None else chi._asdict()

    return {
        "p_value": found.p_value,
        "g2": test(found.g2),
        "x2": test(found.x2),
        "fisher": found.fisher,
        "cells": test(found.cells),
    }
