"""Margins of a population as CSV: what is read, and the errors."""

from typing import Any

import pytest

from aggregation.analyses import registry
from aggregation.analyses.base import AnalysisError, AnalysisRequest
from aggregation.analyses.weights import margins
from aggregation.analyses.weights.computation import Weights
from aggregation.analyses.weights.margins import MarginsError
from survey import design as designs
from survey.design import Background, Option
from survey.design.kinds.choice import Choice
from survey.spreadsheets import csv_parts

SAYS = Option("prefer-not-to-say", "Prefer not to say")
DESIGN = designs.build(
    2.0,
    [Choice("q1", "Did you?", (Option("no", "No"), Option("yes", "Yes")))],
    [
        Background(
            Choice(
                "age", "How old?", (Option("young", "Under 30"), Option("old", "30, or over"), SAYS)
            ),
            3.0,
        ),
        Background(Choice("sex", "Sex", (Option("f", "=Female"), Option("m", "Male"), SAYS)), 3.0),
    ],
)
AGE = {"young": 0.3, "old": 0.7}
SEX = {"f": 0.5, "m": 0.5}


def read(text: str) -> Any:
    found = margins.read(text, DESIGN)
    registry.read({"kind": "weights", **found}, DESIGN)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "question,group,share\nage,young,0.3\nage,old,0.7",
        "\ufeffQuestion;Group;Share\r\nage;Under 30;0,3\r\n\r\nage;30, or over;0,7\r\n",
        'question,group,share\nHow old?,UNDER 30,.3\nage,"30, or over", 0.7 \n',
        "question\tgroup\tshare\nage\told\t0,7\nage\tyoung\t0.3\n",
    ],
    ids=["commas", "Excel in Europe", "by texts", "tabs"],
)
def test_spreadsheets_of_all_countries_are_read(text: str) -> None:
    assert read(text) == {"margins": {"age": AGE}}


def test_percent_and_counts_are_read() -> None:
    percent = read("question,group,share\nage,young,30 %\nage,old,70%\nsex,f,50\nsex,m,50")
    assert percent == {
        "margins": {"age": {"young": 30, "old": 70}, "sex": {key: 50 for key in SEX}}
    }
    counted = read("question,group,count\nage,young,3000\nage,old,7000")
    weights = Weights.read(AnalysisRequest({"question": "q1", **counted}, DESIGN))
    assert weights.population == ((0.3, 0.7, 0),)


def test_a_combination_has_one_column_per_question() -> None:
    text = "age,Sex,share\nyoung,f,0.1\nyoung,m,0.2\nold,f,0.4\nold,m,0.3"
    found = read(text)
    assert found["cells"][2] == {"groups": {"age": "old", "sex": "f"}, "share": 0.4}
    swapped = read("sex,age,share\nm,old,0.3\nf,young,0.1\nm,young,0.2\nf,old,0.4")
    both = [Weights.read(AnalysisRequest(one, DESIGN)) for one in (found, swapped)]
    assert both[0] == both[1] and both[0].population == ((0.1, 0.2, 0, 0.4, 0.3, 0, 0, 0, 0),)


def test_the_template_is_read_once_it_is_filled_in() -> None:
    text = b"".join(csv_parts(margins.template(DESIGN))).decode()
    assert "'=Female" in text  # spreadsheets must not read it as a formula
    with pytest.raises(MarginsError) as caught:
        read(text)
    assert caught.value.problems[0] == "Line 2: the share or count is missing."
    lines = text.splitlines()
    filled = [lines[0], *(line + "0.5" for line in lines[1:])]
    assert read("\n".join(filled))["margins"]["sex"] == SEX


HEAD = "question,group,share\n"
BAD = {
    "nothing": ("", "There is no CSV yet."),
    "only names": (HEAD, "no line after the column names"),
    "no names": ("age,young,0.3\nage,old,0.7", "Line 1: The first line names the columns"),
    "unknown question": (HEAD + "town,x,1", "no question “town”. Choose from age,"),
    "unknown column": ("town,share\nx,1", "Line 1: there is no question “town”"),
    "unknown group": (
        HEAD + "age,young,0.3\nage,older,0.7", "Line 3: there is no group “older” in age",
    ),
    "missing group": (HEAD + "age,young,1", "age: no share for 30, or over"),
    "twice": (HEAD + "age,old,1\nage,young,0\nage,old,0", "Line 4: “30, or over” of age appears"),
    "negative": (HEAD + "age,young,-0.3\nage,old,1.3", "Line 2: -0.3 is negative."),
    "all 0": (HEAD + "age,young,0\nage,old,0", "age: the shares add up to 0, not to 1"),
    "no number": (HEAD + "age,young,many\nage,old,1", "Line 2: “many” is not a number."),
    "infinite": (HEAD + "age,young,inf\nage,old,1e5", "Line 2: “inf” is not a number."),
    "columns": (HEAD + "age,young\nage,old,1", "Line 2: there must be 3 columns, as in"),
    "sum": (HEAD + "age,young,0.3\nage,old,0.6", "age: the shares add up to 0.9, not to 1"),
    "not CSV": (HEAD + 'age,"young,0.3\nage,old,0.7', "this is not CSV"),
    "combination missing": ("age,sex,share\nold,f,1", "3 of 4 combinations are missing"),
    "combination twice": (
        "age,share\nold,0.5\nold,0.5\nyoung,0", "Line 3: this combination appears twice.",
    ),
    "column twice": ("age,age,share\nold,old,1", "the same question appears twice"),
    "declined": (
        HEAD + "age,young,0.3\nage,old,0.6\nage,Prefer not to say,0.1",
        "Line 4: “Prefer not to say” has no share in a population. Delete this line.",
    ),
    "too long": (HEAD + "x" * 300_000, "More than 200,000 characters"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD.keys())
def test_an_error_is_reported_with_its_line(text: str, words: str) -> None:
    with pytest.raises((MarginsError, AnalysisError)) as caught:
        read(text)
    assert any(words in problem for problem in caught.value.args), caught.value.args


def test_a_table_of_too_many_combinations_is_refused_before_it_is_made() -> None:
    keys = [f"b{i}" for i in range(40)]
    options = (Option("no", "No"), Option("yes", "Yes"), SAYS)
    many = designs.build(
        2.0,
        [Choice("q1", "Did you?", options)],
        [Background(Choice(key, key, options), 1.0) for key in keys],
    )
    found = margins.read(",".join([*keys, "share"]) + "\n" + "no," * 40 + "1", many)
    with pytest.raises(AnalysisError, match="1,099,511,627,775 of 1,099,511,627,776 combinations"):
        registry.read({"kind": "weights", **found}, many)


def test_any_question_can_be_weighted_by() -> None:
    found = margins.read("question,group,share\nDid you?,No,0.9\nq1,Yes,0.1", DESIGN)
    assert found == {"margins": {"q1": {"no": 0.9, "yes": 0.1}}}


def test_only_the_first_ten_problems_are_listed() -> None:
    with pytest.raises(MarginsError) as caught:
        read(HEAD + "age,none,1\n" * 50)
    assert len(caught.value.problems) == 11 and caught.value.problems[-1] == "And 40 more."


def test_files_that_are_not_text_are_refused() -> None:
    assert margins.decode("question".encode("utf-16")) == "question"  # Excel's “Unicode text”
    assert margins.decode(b"\xef\xbb\xbfage") == "age"
    with pytest.raises(MarginsError, match="UTF-8"):
        margins.decode("Männer".encode("latin-1"))
