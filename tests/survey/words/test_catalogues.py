"""The catalogues of the server's texts: every language says everything, with right numbers."""

import json
import re
import subprocess
from datetime import date
from typing import Any

import pytest

from survey.words import CATALOGUES, ENGLISH, catalogue, plural
from tests.support.services import ROOT
from tests.support.words import leaves

OTHERS = [tag for tag in CATALOGUES if tag != "en"]


def names(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}", text))


def node(program: str, given: Any) -> Any:
    """Run a program that maps the JSON on its input, with Unicode's own data."""
    text = "let text = '';\nfor await (const part of process.stdin) text += part;\n"
    text += f"const given = JSON.parse(text);\nconsole.log(JSON.stringify({program}));"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", text],
        input=json.dumps(given), capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("tag", OTHERS)
def test_every_language_has_every_text_with_the_same_names(tag: str) -> None:
    english, other = dict(leaves(ENGLISH.texts)), dict(leaves(CATALOGUES[tag].texts))
    assert list(other) == list(english)
    for path, text in other.items():
        original = english[path]
        wanted = names(original if isinstance(original, str) else original["other"])
        if isinstance(text, str):
            assert names(text) == wanted, path
            continue
        for form, one in text.items():
            exact = {"{count}"} if form in ("zero", "one", "two") else set()
            assert wanted - exact <= names(one) <= wanted, (path, form)
    same = [path for path, text in other.items() if text == english[path]]
    assert set(same) <= {"design.block"}  # “Block {key}” in German


@pytest.mark.parametrize("tag", CATALOGUES)
def test_no_text_is_empty_or_untidy(tag: str) -> None:
    for path, text in leaves(CATALOGUES[tag].texts):
        for one in [text] if isinstance(text, str) else text.values():
            assert one and one == one.strip() and not re.search(r" {2}|'|\"|\.\.\.", one), path
            assert not re.search(r"\blies?\b|Lüge|mentir|mensonge|mentira|كذب|e\^", one), path


def test_every_text_is_used() -> None:
    files = [*ROOT.glob("templates/**/*.html")]
    for room in ("survey", "aggregation", "operations"):
        files += [path for path in ROOT.glob(f"{room}/**/*.py") if path.parent.name != "words"]
    files += [ROOT / "survey/words/protection.py", ROOT / "survey/words/errors.py"]
    found = set(re.findall(r"\w+", "\n".join(path.read_text() for path in files)))
    found |= {"hardly", "guess", "nearly"}  # grades: survey/design/odds.py
    unused = [path for path, _ in leaves(ENGLISH.texts) if not set(path.split(".")) <= found]
    assert unused == []


@pytest.mark.node
@pytest.mark.once
def test_plurals_follow_unicode() -> None:
    counts = [*range(250), 1000, 1003, 1011, 1_000_000, 1_000_001, 3_000_000]
    program = "given[0].map((tag) => given[1].map((n) => new Intl.PluralRules(tag).select(n)))"
    found = node(program, [list(CATALOGUES), counts])
    assert [[plural(tag, count) for count in counts] for tag in CATALOGUES] == found
    program = "given.map((tag) => new Intl.PluralRules(tag).resolvedOptions().pluralCategories)"
    for tag, forms in zip(CATALOGUES, node(program, list(CATALOGUES)), strict=True):
        for path, text in leaves(CATALOGUES[tag].texts):
            assert isinstance(text, str) or set(text) == set(forms), (tag, path)


@pytest.mark.node
@pytest.mark.once
def test_numbers_are_written_as_browsers_write_them() -> None:
    numbers = [0, 7, 999, 1000, 1234, 9999, 10_000, 1_234_567]
    cases = [(float(one), 0) for one in numbers]
    cases += [(one, digits) for one in (0.1, 12.34, 1234.56, 98765.4, -3.3) for digits in (1, 2)]
    program = """given[0].map((tag) => given[1].map(([value, digits]) =>
      new Intl.NumberFormat(tag, {numberingSystem: "latn", minimumFractionDigits: digits,
        maximumFractionDigits: digits}).format(value)))"""
    found = node(program, [list(CATALOGUES), cases])
    for tag, written in zip(CATALOGUES, found, strict=True):
        mine = [CATALOGUES[tag].number(*case) for case in cases]
        assert mine == [one.replace("\u200e", "").replace("-", "−") for one in written], tag
    assert ENGLISH.number(-0.01, 1) == "0.0"


def test_days_are_written_in_the_language() -> None:
    day = date(2026, 3, 9)
    written = {tag: words.date(day) for tag, words in CATALOGUES.items()}
    assert written == {
        "en": "9 March 2026", "de": "9. März 2026", "es": "9 de marzo de 2026",
        "fr": "9 mars 2026", "ar": "9 مارس، 2026",
    }  # fmt: skip


def test_a_text_is_filled_in_once() -> None:
    german = CATALOGUES["de"]
    assert german.fill("{a} {b}", a="{b}", b=1234) == "{b} 1.234"
    deleted = german["design"]["deleted_after"]
    assert "1 Tag nach" in german.fill(deleted, count=1)
    assert "30 Tage nach" in german.fill(deleted, count=30)


def test_a_variant_of_a_language_gets_its_texts_and_others_get_english() -> None:
    assert catalogue("de-AT").tag == "de"
    assert catalogue("pt").tag == "en"
