"""The findings of a regression: log-odds and odds ratios, or differences of means."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.analyses.base import Figures, mean_of, question_of
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

    @property
    def gap(self) -> tuple[str, str]:
        """How far a mean is from that of the reference: “2.10” and “lower”."""
        value = self.estimate or 0.0
        return f"{abs(value):,.2f}", "lower" if value < 0 else "higher"

    @property
    def differences(self) -> list[str]:
        """The estimate and its limits with their signs."""
        values = [one for one in (self.estimate, self.low, self.high) if one is not None]
        return [f"{value:+,.2f}".replace("-", "−") for value in values]


@dataclass(frozen=True)
class RegressionFindings(Findings):
    title = "Regression"
    introduction = "How groups and other answers are associated with an answer, or with a mean."
    template = "aggregation/analyses/regression/result.html"

    @property
    def description(self) -> str:
        return f"{self.outcome} by {listed([*map(self._predictor, self.asked['predictors'])])}"

    def _predictor(self, one: Figures) -> str:
        key = one["question"]
        if one.get("option"):
            return self._answer(key, one["option"])
        if one.get("from"):
            last = [option for option in question_of(self.design, key).options if option.score
                    is not None][-1]  # fmt: skip
            return f"“{self._range(key, one['from'], last.key)}” to {self.quoted(key)}"
        return self.quoted(key)

    def _answer(self, question: str, option: str | None) -> str:
        last = question_of(self.design, question).options[-1].text
        return f"“{self.option(question, option) if option else last}” to {self.quoted(question)}"

    def _range(self, question: str, first: str | None, last: str | None) -> str:
        return " to ".join(dict.fromkeys(self.option(question, one) for one in (first, last)))

    @property
    def of_mean(self) -> bool:
        """Whether a mean is explained, and not one answer."""
        question = question_of(self.design, self.asked["outcome"])
        return "option" not in self.asked and mean_of(question) is not None

    @property
    def outcome(self) -> str:
        key = self.asked["outcome"]
        if self.of_mean:
            return f"Mean of {self.quoted(key)}"
        return self._answer(key, self.asked.get("option"))

    @property
    def about(self) -> str:
        """The question to explain."""
        return self.quoted(self.asked["outcome"])

    @property
    def of_follow_up(self) -> bool:
        """Whether not everybody was asked the question to explain."""
        return question_of(self.design, self.asked["outcome"]).only_if is not None

    @property
    def unit(self) -> str:
        """The unit of a mean, with a space before it."""
        unit = getattr(question_of(self.design, self.asked["outcome"]), "unit", "")
        return f" {unit}" if unit else ""

    @property
    def share(self) -> float:
        """The part of the people whom a mean is about, at most all."""
        return min(max(float(self.figures["share"]), 0.0), 1.0)

    @property
    def left_out(self) -> bool:
        """Whether a mean is only about some people: some were not asked, or gave no number."""
        keys = [self.asked["outcome"], *(one["question"] for one in self.asked["predictors"])]
        mean = mean_of(question_of(self.design, keys[0]))
        some = mean is not None and mean.among is not None
        return some or any(question_of(self.design, key).only_if for key in keys)

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
        if self.of_mean:
            reach = max(map(abs, ends), default=1.0) or 1.0
            step = 10.0 ** math.floor(math.log10(reach)) / 2
            low = step * math.floor(min([0.0, *ends]) / step)
            high = step * math.ceil(max([0.0, *ends]) / step)
        else:
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
            what = "difference" if self.of_mean else "log-odds"
            words = f"{label}: {what} {term['estimate']:.2f}, 95 % interval {low:.2f} to {high:.2f}"
            picture = tracks.track([Point(term["estimate"], low, high)], words, axis)
        return Term(
            label, about, against, term["estimate"], term["standard_error"], low, high,
            term.get("p_value"), picture,
        )  # fmt: skip

    def _label(self, term: Figures) -> tuple[str, str, str]:
        if "intercept" in term:
            return "Baseline", "", ""
        key, against = term["question"], "any other answer"
        if term["against"]:
            against = self._range(key, term["against"], term.get("against_to", term["against"]))
        label = self._range(key, term["option"], term.get("option_to", term["option"]))
        return label, self.text(key), against

    @property
    def drawn(self) -> bool:
        return any(term.low is not None for term in self.terms)

    def lines(self) -> Iterator[Line]:
        columns = "question term against estimate standard_error low high p_value"
        yield (columns if self.of_mean else f"{columns} odds_ratio odds_low odds_high").split()
        for term in [self.baseline, *self.terms]:
            yield [
                term.about, term.label, term.against, term.estimate, term.error,
                term.low, term.high, term.p_value,
                *([] if self.of_mean else term.odds_ratios),
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
            shown = term.differences if self.of_mean else term.odds
            figures = (shown[0], f"{shown[1]} to {shown[2]}")
            rows.append(whiskers.Row(label, [Point(term.estimate, term.low, term.high)], figures))
        if not rows or name != "figure.svg":
            return None
        if self.of_mean:
            notes = ["Differences of means, all else equal, with 95 % intervals."]
            unit = f"Difference{self.unit and f' in{self.unit}'}"
            names = ("Difference", "95\u00a0% interval")
            return whiskers.picture(self.description, notes, self.axis, rows, names, unit)
        notes = ["Coefficients as log-odds with 95 % intervals, and odds ratios on the right."]
        names = ("Odds ratio", "95\u00a0% interval")
        return whiskers.picture(self.description, notes, self.axis, rows, names, "Log-odds")
