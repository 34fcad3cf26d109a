"""The questions of a plan in a few words."""

import pytest

from aggregation.planner.notation import NotationError, read, write
from survey.design import build
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several

EVERY_KIND = "2 yes/no, 1 choice of 4, 1 scale of 5, 1 number 0 to 60, 1 of 10 pick 3"


def test_every_kind_of_question_can_be_written() -> None:
    questions = read(EVERY_KIND)
    assert [one.kind for one in questions] == [
        "yes_no", "yes_no", "choice", "scale", "number", "several"
    ]  # fmt: skip
    number, several = questions[4:]
    assert isinstance(number, Number) and (number.least, number.most) == (0, 60)
    assert isinstance(several, Several) and (several.size, several.picks) == (10, 3)
    assert [option.score for option in questions[3].options] == [1, 2, 3, 4, 5]
    assert len(build(2, questions).questions) == 6


def test_follow_ups_are_in_brackets_after_the_question_they_depend_on() -> None:
    questions = read("yes/no [choice of 4 [2 yes/no], number], 2 scales of 3 [yes/no]")
    assert [(one.key, one.only_if and one.only_if[0]) for one in questions] == [
        ("q1", None), ("q2", "q1"), ("q3", "q2"), ("q4", "q2"), ("q5", "q1"),
        ("q6", None), ("q7", "q6"), ("q8", None), ("q9", "q8"),
    ]  # fmt: skip
    assert build(2, questions).places["q1"]


@pytest.mark.parametrize(
    "text",
    [
        EVERY_KIND,
        "1 yes/no [1 choice of 4, 1 scale of 5], 3 yes/no",
        "2 yes/no [1 choice of 4 [1 yes/no]]",
        "1 number -20 to 180000",
    ],
)
def test_what_is_written_is_read_as_the_same_questions(text: str) -> None:
    assert write(read(text)) == text
    assert read(write(read(text))) == read(text)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Yes/No", "1 yes/no"),
        ("5× yes/no,  3 x scales of 7,", "5 yes/no, 3 scale of 7"),
        ("2 of 4, of 6 pick 2", "2 choice of 4, 1 of 6 pick 2"),
        ("number, choice of 2", "1 number 0 to 100, 1 yes/no"),
        ("yes/no\n2 choice of 3\r\n", "1 yes/no, 2 choice of 3"),
        ("yes/no, choice of 3, yes/no", "2 yes/no, 1 choice of 3"),
    ],
)
def test_what_people_write_is_understood(text: str, again: str) -> None:
    assert write(read(text)) == again


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("two yes/no", "“two yes/no” is not a question. Write, for example, 2 yes/no"),
        ("yes/no; scale of 5", "is not a question"),
        ("of 4 pick 5", "“of 4 pick 5”: pick 1 to 4, the number of options."),
        ("scale of 30", "“scale of 30”: a question has 2 to 21 options."),
        ("number 9 to 1", "“number 9 to 1”: most must be above the least number, 9, not 1."),
        ("yes/no [", "Close every square bracket"),
        ("number [yes/no]", "“number” cannot have follow-ups; yes/no, choice and scale can."),
        ("yes/no [of 9 pick 2]", "cannot be a follow-up: it is alone in its block."),
        ("60 yes/no [yes/no]", "At most 100 questions, follow-ups included."),
        ("", "Name at least one question"),
    ],
)
def test_an_error_names_the_words_and_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(NotationError) as error:
        read(text)
    assert why in str(error.value)
