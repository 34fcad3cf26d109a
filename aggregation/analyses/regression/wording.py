"""The findings of a regression, as log-odds and odds ratios."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.analyses.base import Figures
from aggregation.analyses.wording import Findings, figure, listed
from aggregation.svg import tracks, whiskers
from aggregation.svg.axis import Axis, Point, nice, signed
from survey.spreadsheets import Line


@dataclass(frozen=True)
class Term:
    """A coefficient with its picture. Its figures are None if it is not determined."""

    label: str
    about: str  # the question
    against: str
    estimate: float | None
    error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    picture: SafeString

    @property
    def odds_ratios(self) -> list[float | None]:
        values = (self.estimate, self.low, self.high)
        return [None if value is None else math.exp(min(value, 700)) for value in values]

    @property
    def odds(self) -> list[str]:
        return [figure(value) for value in self.odds_ratios if value is not None]


@dataclass(frozen=True)
class RegressionFindings(Findings):
    title = "Regression"
    introduction = "How the odds of an answer depend on groups and on other answers."
    template = "aggregation/analyses/regression/result.html"

    @property
    def description(self) -> str:
        by = [
            self._answer(one["question"], one["option"])
            if one.get("option")
            else self.quoted(one["question"])
            for one in self.asked["predictors"]
        ]
        outcome = self._answer(self.asked["outcome"], self.asked.get("option"))
        return f"{outcome} on {listed(by)}"

    def _answer(self, question: str, option: str | None) -> str:
        text = self.option(question, option) if option else self.options(question)[-1]
        return f"“{text}” to {self.quoted(question)}"

    @property
    def outcome(self) -> str:
        found = self.figures["outcome"]
        return self._answer(found["question"], found["option"])

    @property
    def references(self) -> list[str]:
        """The reference of each question."""
        return list(dict.fromkeys(f"{term.about} {term.against}" for term in self.terms))

    @property
    def axis(self) -> Axis:
        ends = [
            float(term["interval"][end])
            for term in self.figures["terms"][1:]
            for end in ("low", "high")
            if term["interval"][end] is not None
        ]
        low, high = max(min([-1.0, *ends]), -8.0), min(max([1.0, *ends]), 8.0)
        low, high = math.floor(2 * low) / 2, math.ceil(2 * high) / 2
        ticks = [(tick, signed(tick)) for tick in nice(low, high, 6)]
        return Axis(low, high, ticks, zero=0.0)

    @property
    def baseline(self) -> Term:
        return self._term(self.figures["terms"][0], self.axis)

    @property
    def baseline_share(self) -> float | None:
        value = self.figures["terms"][0]["estimate"]
        return None if value is None else 1 / (1 + math.exp(-min(max(value, -700), 700)))

    @property
    def open(self) -> list[str]:
        """The coefficients that are not determined."""
        found = [f"“{term.label}” ({term.about})" for term in self.terms if term.low is None]
        return ["the baseline", *found] if self.baseline.low is None else found

    @property
    def terms(self) -> list[Term]:
        axis = self.axis
        return [self._term(term, axis) for term in self.figures["terms"][1:]]

    @property
    def example(self) -> Term | None:
        """The clearest coefficient."""
        usable = [term for term in self.terms if term.p_value is not None]
        return min(usable, key=lambda term: term.p_value or 0.0, default=None)

    def _term(self, term: Figures, axis: Axis) -> Term:
        low, high = term["interval"]["low"], term["interval"]["high"]
        label, about, against = self._label(term)
        picture = tracks.NOTHING
        if low is not None and high is not None:
            words = (
                f"{label}: log-odds {term['estimate']:.2f}, 95 % interval {low:.2f} to {high:.2f}"
            )
            picture = tracks.track([Point(term["estimate"], low, high)], words, axis)
        return Term(
            label, about, against, term["estimate"], term["standard_error"], low, high,
            term.get("p_value"), picture,
        )  # fmt: skip

    def _label(self, term: Figures) -> tuple[str, str, str]:
        if "intercept" in term:
            return "Baseline", "", ""
        key, against = term["question"], term["against"]
        return (
            self.option(key, term["option"]),
            self.text(key),
            self.option(key, against) if against else "any other answer",
        )

    @property
    def drawn(self) -> bool:
        return any(term.low is not None for term in self.terms)

    def lines(self) -> Iterator[Line]:
        yield (
            "question term against estimate standard_error low high p_value "
            "odds_ratio odds_low odds_high"
        ).split()
        for term in [self.baseline, *self.terms]:
            yield [
                term.about, term.label, term.against, term.estimate, term.error,
                term.low, term.high, term.p_value, *term.odds_ratios,
            ]  # fmt: skip

    def picture(self, name: str) -> bytes | None:
        rows: list[whiskers.Row] = []
        about = ""
        for term in self.terms:
            if term.low is None or term.high is None:
                continue
            if term.about != about:
                about = term.about
                rows.append(whiskers.Row(about))
            label = f"{term.label} (against {term.against})"
            figures = (term.odds[0], f"{term.odds[1]} to {term.odds[2]}")
            rows.append(whiskers.Row(label, [Point(term.estimate, term.low, term.high)], figures))
        if not rows or name != "figure.svg":
            return None
        notes = ["Coefficients as log-odds with 95 % intervals, and odds ratios on the right."]
        names = ("Odds ratio", "95\u00a0% interval")
        return whiskers.picture(self.description, notes, self.axis, rows, names, "Log-odds")
