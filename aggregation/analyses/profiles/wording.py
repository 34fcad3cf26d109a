"""The findings of profiles: the probability of each answer within each profile."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from aggregation.analyses.base import question_of
from aggregation.analyses.profiles import picture
from aggregation.analyses.wording import Findings, Z, listed
from aggregation.svg import tracks
from aggregation.templatetags.figures import headline, percent
from survey.spreadsheets import Line


@dataclass(frozen=True)
class Probability:
    value: float
    half: float | None  # of the interval
    picture: SafeString

    @property
    def words(self) -> str:
        if self.half is not None:
            return headline(self.value, self.value - self.half, self.value + self.half)
        shown = percent(self.value)
        return f"near {shown}" if shown in (percent(0), percent(1)) else shown


@dataclass(frozen=True)
class ProfilesFindings(Findings):
    title = "Profiles"
    introduction = (
        "Which kinds of people there may be, according to their answers to several questions."
    )
    template = "aggregation/analyses/profiles/result.html"

    @property
    def description(self) -> str:
        texts = [self.quoted(key) for key in self.asked["questions"]]
        if len(texts) > 3:
            texts = [*texts[:2], f"{len(texts) - 2} more questions"]
        return f"{self.asked.get('classes', 2)} profiles from {listed(texts)}"

    @property
    def classes(self) -> list[Probability]:
        pairs = zip(self.figures["shares"], self.figures["share_errors"], strict=True)
        return [_probability(share, error) for share, error in pairs]

    @property
    def questions(self) -> list[tuple[str, list[tuple[str, list[Probability]]]]]:
        """The options of every question, each with its probability in every profile."""
        found = []
        for key, answers in self.figures["answers"].items():
            options = []
            for i, text in enumerate(self._answers(key)):
                pairs = zip(answers["probabilities"], answers["standard_errors"], strict=True)
                options.append((text, [_probability(p[i], error[i]) for p, error in pairs]))
            among = " (among those asked)" if question_of(self.design, key).only_if else ""
            found.append((self.text(key) + among, options))
        return found

    def _answers(self, key: str) -> list[str]:
        return [option.text for option in question_of(self.design, key).options]

    def lines(self) -> Iterator[Line]:
        yield "profile share share_error question option probability standard_error".split()
        for c, (share, error) in enumerate(
            zip(self.figures["shares"], self.figures["share_errors"], strict=True)
        ):
            for key, answers in self.figures["answers"].items():
                for i, text in enumerate(self._answers(key)):
                    p, e = answers["probabilities"][c][i], answers["standard_errors"][c][i]
                    yield [c + 1, share, error, self.text(key), text, p, e]

    def picture(self, name: str) -> bytes | None:
        if name != "figure.svg":
            return None
        parts = [
            (
                question,
                [(text, [(one.value, one.words) for one in shares]) for text, shares in options],
            )
            for question, options in self.questions
        ]
        notes = ["The probability of each answer within each profile."]
        return picture.picture(self.description, notes, [one.words for one in self.classes], parts)


def _probability(value: float, error: float | None) -> Probability:
    return Probability(value, None if error is None else Z * error, tracks.bar(value))
