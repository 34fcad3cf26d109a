"""The files for Stata and SPSS, read back by ReadStat and PSPP."""

import csv
import io
import json
import re
import struct
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyreadstat
import pytest

from aggregation.exports import codebook, columns, estimate_files, files, reports, spss, stata
from aggregation.exports.columns import Column, Table
from aggregation.models import Estimate, Release
from aggregation.releases.publish import make_release
from survey import simulation
from survey.design import ABSENT
from tests.support import builders, pspp
from tests.support.exports import EVERY_KIND, HOSTILE, OF_REPORTS, get, table

FORMS = {"dta": (stata.parts, pyreadstat.read_dta), "sav": (spss.parts, pyreadstat.read_sav)}
TEXTS = [
    *HOSTILE, "هل تثق بمديرك؟ " * 40, "שלום", "日本語のとても長い文" * 30, "x" * 254, "x" * 255,
    "x" * 256, "x" * 503, "x" * 505, "x" * 511, "é" * 127 + "aé", "🙂" * 500, "y" * 2045,
]  # fmt: skip


def read(data: bytes, form: str, path: Path) -> tuple[dict[str, list[Any]], Any]:
    file = path / f"file.{form}"
    file.write_bytes(data)
    found, meta = FORMS[form][1](str(file), output_format="dict", user_missing=True)
    return {name: list(values) for name, values in found.items()}, meta


def none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def made(form: str, found: list[Column], piece: list[Any], pieces: int = 1, **more: Any) -> bytes:
    cuts = [np.array_split(values, pieces) for values in piece]
    given = [list(some) for some in zip(*cuts, strict=True)]
    made_at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    told = {"notes": ["A note."]} | more
    whole = Table("A title", made_at, told.pop("notes"), found, len(piece[0]), given, **told)
    return b"".join(FORMS[form][0](whole))


# --- Any table ------------------------------------------------------------------------------------


def every_kind(seed: int) -> tuple[list[Column], list[list[Any]], list[Any]]:
    """Return columns of every kind, their values, and the same values as part of a table."""
    random = Random(seed)
    codes = [random.choice([*range(100), ABSENT]) for _ in range(500)]
    whole = [random.choice([0, 1, 151, 152, 253, 254, 255, 10**6, 2**31 - 100])
             for _ in range(500)]  # fmt: skip
    real = [random.choice([float("nan"), -0.25, 0.0, 1.0, -99.0, -100.0, 151.0, 152.0, 1 / 3, 1e-9])
            for _ in range(500)]  # fmt: skip
    texts = [random.choice([*TEXTS, ""]) for _ in range(500)]
    short = [random.choice(["", "a", "12345678", "αβγδ"]) for _ in range(500)]
    found = [
        Column("code", "code", "A code", {i: f"Option {i}" for i in range(100)}),
        Column("text", "text", "Texts", width=columns.width(texts)),
        Column("whole", "whole", "Numbers"),
        Column("short", "text", "Short texts", width=columns.width(short)),
        Column("real", "real", "Shares"),
    ]
    piece = [
        np.array(codes, np.uint8), columns.text_array(texts, found[1].width),
        np.array(whole), columns.text_array(short, found[3].width), np.array(real),
    ]  # fmt: skip
    return found, [codes, texts, whole, short, real], piece


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", [1, 7])
def test_every_kind_of_value_comes_back(form: str, pieces: int, tmp_path: Path) -> None:
    found, (codes, texts, whole, short, real), piece = every_kind(pieces)
    values, meta = read(made(form, found, piece, pieces), form, tmp_path)
    assert list(values) == ["code", "text", "whole", "short", "real"]
    assert meta.number_rows == 500
    for code, again in zip(codes, values["code"], strict=True):
        assert none(again) if code == ABSENT else again == code
    for one, again in zip([*whole, *real], [*values["whole"], *values["real"]], strict=True):
        assert none(again) if none(one) else again == one
    for name, some in (("text", texts), ("short", short)):
        for one, again in zip(some, values[name], strict=True):
            assert again.rstrip(" ") == one.rstrip(" ")
    assert meta.variable_value_labels["code"] == {i: f"Option {i}" for i in range(100)}


WIDTHS = [*range(250, 262), 503, 504, 505, 509, 510, 511, 1020, 2045]


def of_width(width: int) -> tuple[list[Column], list[str], list[Any]]:
    """Return a column of long texts and one after it, the texts, and both as part of a table."""
    texts = ["".join(chr(97 + (i + j) % 26) for i in range(width - j)) for j in range(4)]
    found = [
        Column("long", "text", "", width=width),
        Column("after", "whole", "After it", width=1),
    ]
    return found, texts, [columns.text_array(texts, width), np.arange(4)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_text_of_any_length_comes_back_beside_others(
    form: str, width: int, tmp_path: Path
) -> None:
    """SPSS splits long texts: one wrong byte would spoil the following columns."""
    found, texts, piece = of_width(width)
    values, _ = read(made(form, found, piece), form, tmp_path)
    assert values == {"long": texts, "after": [0, 1, 2, 3]}


def hostile(form: str) -> bytes:
    """Return a file whose labels, attributes and notes are all hostile."""
    values = dict(enumerate(TEXTS))
    found = [
        Column(f"c{i}", "code", text, values, {"a": text, "text": text})
        for i, text in enumerate(TEXTS)
    ]
    return made(form, found, [np.zeros(3, np.uint8)] * len(found), notes=TEXTS)


@pytest.mark.parametrize("form", FORMS)
def test_hostile_labels_are_labels(form: str, tmp_path: Path) -> None:
    values = dict(enumerate(TEXTS))
    data = hostile(form)
    _, meta = read(data, form, tmp_path)
    for i, text in enumerate(TEXTS):
        flat = " ".join(text.split())
        shown = meta.column_names_to_labels[f"c{i}"]
        assert flat.startswith(shown) and len(shown) >= min(len(flat), 60)
        for code, label in meta.variable_value_labels[f"c{i}"].items():
            flat = " ".join(values[code].split())
            assert flat.startswith(label) and len(label.encode()) >= min(len(flat.encode()), 117)
    told = "".join(meta.notes)
    for text in TEXTS:
        assert "".join(text.split()) in "".join(told.split())
    attributes = list(own_attributes(data, form).values())
    flat_texts = [" ".join(text.split()) for text in TEXTS]
    assert attributes == [{"a": text, "text": text} for text in flat_texts]


def own_attributes(data: bytes, form: str) -> dict[str, dict[str, str]]:
    """Return the characteristics or attributes, which ReadStat ignores."""
    found: dict[str, dict[str, str]] = {}
    if form == "dta":
        for part in re.findall(rb"<ch>(.*?)</ch>", data, re.DOTALL):
            assert struct.unpack("<I", part[:4])[0] == len(part) - 4
            name, key = (part[i : i + 129].split(b"\0")[0].decode() for i in (4, 133))
            if not key.startswith("note"):
                found.setdefault(name, {})[key] = part[262:-1].decode()
        assert found
        return {name: notes for name, notes in found.items() if name != "_dta"}
    record = struct.pack("<3i", 7, 18, 1)
    start = data.index(record) + 16
    text = data[start : start + struct.unpack("<i", data[start - 4 : start])[0]].decode()
    for name, notes in re.findall(r"(?:^|/)(\w+):((?:\w+\('[^\n]*'\n\))+)", text):
        found[name] = dict(re.findall(r"(\w+)\('([^\n]*)'\n\)", notes))
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_table_without_rows_is_a_file(form: str, tmp_path: Path) -> None:
    found = [Column("a", "whole", "A"), Column("b", "text", "B", width=300)]
    data = made(form, found, [np.array([], np.int64), columns.text_array([], 300)])
    values, meta = read(data, form, tmp_path)
    assert values == {"a": [], "b": []} and meta.column_labels == ["A", "B"]


@pytest.mark.slow
@pytest.mark.pspp
def test_pspp_reads_every_kind_of_value(tmp_path: Path) -> None:
    found, given, piece = every_kind(3)
    (tmp_path / "kinds.sav").write_bytes(made("sav", found, piece, pieces=7))
    for width in WIDTHS:
        (tmp_path / f"{width}.sav").write_bytes(made("sav", *of_width(width)[::2]))
    empty = made("sav", found, [values[:0] for values in piece])
    (tmp_path / "empty.sav").write_bytes(empty)
    seen = pspp.read(tmp_path, ["kinds", "empty", *map(str, WIDTHS)])
    assert seen["kinds"].header == seen["empty"].header == [one.name for one in found]
    assert seen["empty"].rows == []
    nothing = {"code": ABSENT, "real": float("nan")}
    for one, values, again in zip(found, given, zip(*seen["kinds"].rows, strict=True), strict=True):
        if one.kind == "text":
            assert [text.rstrip() for text in again] == [text.rstrip() for text in values]
            continue
        numbers = [float(text) if text != " " else nothing[one.kind] for text in again]
        assert numbers == pytest.approx(values, nan_ok=True)
    for width in WIDTHS:
        rows = [[text, str(i)] for i, text in enumerate(of_width(width)[1])]
        assert seen[str(width)].rows == rows


@pytest.mark.slow
@pytest.mark.pspp
def test_pspp_reads_hostile_labels_attributes_and_documents(tmp_path: Path) -> None:
    (tmp_path / "hostile.sav").write_bytes(hostile("sav"))
    seen = pspp.read(tmp_path, ["hostile"])["hostile"]
    labels, attributes = seen.nested("Value Labels"), seen.nested(pspp.ATTRIBUTES)
    flat = [" ".join(text.split()) for text in TEXTS]
    for i, text in enumerate(flat):
        variable = seen.variables[f"c{i}"]
        assert variable["Label"].encode() == columns.cut(text, 250).strip()
        assert attributes[f"c{i}"] == {"a": text, "text": text}
        assert labels[f"c{i}"] == {
            str(j): columns.cut(one, 120).decode() for j, one in enumerate(flat)
        }
    assert "".join(seen.documents.split()) == "".join("".join(flat).split())


def test_the_map_of_stata_says_where_everything_is() -> None:
    found = [Column("a", "whole", "A", {}), Column("b", "code", "B", {0: "x"})]
    data = made("dta", found, [np.arange(5), np.zeros(5, np.uint8)])
    start = data.index(b"<map>") + 5
    places = struct.unpack("<14Q", data[start : start + 112])
    names = (
        "stata_dta map variable_types varnames sortlist formats value_label_names variable_labels "
        "characteristics data strls value_labels /stata_dta"
    ).split()
    for place, name in zip(places, names, strict=False):
        assert data[place:].startswith(f"<{name}>".encode())
    assert places[-1] == len(data)


# --- A release ------------------------------------------------------------------------------------

KEYS = ["q-1", "q_1", "Q_1", "1st", "count", "if", "a" * 50, "a" * 49 + "b", "str5", "TO", "byte"]


def odd_release() -> Release:
    """Return the release of a closed survey with two blocks and unusual keys and texts."""
    questions = [
        {"key": key, "text": text, "kind": "choice", "options": [text, "لا", "=1+1"]}
        for key, text in zip(KEYS, TEXTS[6:], strict=False)
    ]
    survey = builders.opened(questions=questions, blocks=[KEYS[:3], KEYS[3:]], ask=1, epsilon=4)
    random, sizes = Random(1), {"b1": 3, "b2": len(KEYS) - 3}
    sent = [
        builders.report(
            survey.frozen_design(),
            blocks={block: [random.randrange(3) for _ in range(size)], "g1": [age]},
        )
        for age, people in ((0, 60), (1, 30), (2, 5))
        for block, size in sizes.items()
        for _ in range(people)
    ]
    simulation.accept("small", {"reports": sent})
    survey.close()
    release = make_release(survey)
    assert release
    return release


@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
def test_the_reports_are_the_lines_of_the_csv(form: str, tmp_path: Path) -> None:
    release = odd_release()
    alice = builders.client(builders.alice(release.survey))
    document = json.loads(get(alice, "codebook.json", number=1))
    header, *lines = csv.reader(io.StringIO(get(alice, "reports.csv", number=1).decode()))
    data = get(alice, f"reports.{form}", number=1)
    values, meta = read(data, form, tmp_path)
    assert list(values) == header and meta.number_rows == len(lines)
    for i, name in enumerate(header):
        for line, again in zip(lines, values[name], strict=True):
            assert none(again) if line[i] == "" else again == int(line[i])
    assert {line[header.index("age")] for line in lines} == {"0", "1", "2"}
    assert any("" in line for line in lines)

    attributes = own_attributes(data, form)
    told = " ".join(" ".join(meta.notes).split())
    entries = {entry["column"]: entry for entry in document["variables"]}
    for name in header[:-1]:
        entry = entries[name]
        label = f"[randomized] {' '.join(entry['text'].split())}"
        shown = meta.column_names_to_labels[name]
        assert label.startswith(shown) and shown.startswith("[randomized] ")
        expected = {value["value"]: value["text"] for value in entry["values"]}
        labels = meta.variable_value_labels[name]
        assert labels.keys() == expected.keys()
        for value, text in expected.items():
            assert f"[randomized] {' '.join(text.split())}".startswith(labels[value])
            assert labels[value].startswith("[randomized] ")
        coin = entry["blocks"][0]
        channel = {name: str(coin[name]) for name in ("block", "epsilon", "keep")}
        for end in ("a", "b"):
            channel[end] = " ".join(repr(one[end]) for one in coin["channels"])
        channel["background"] = "yes" if name == "age" else "no"
        texts = {"key": entry["key"], "text": " ".join(entry["text"].split()), "kind": "choice"}
        assert attributes[name] == channel | texts
        assert f"{name}: background = {channel['background']}, kind = choice, " in told
        assert f"keep = {coin['keep']}, a = {channel['a']}, b = {channel['b']}" in told
    assert release.survey.design_hash in told and "(x / n - b) / (a - b)" in told
    if form == "sav":
        assert data[76:80] == struct.pack("<i", len(header))  # weighted by the last column


@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
def test_the_estimates_are_the_lines_of_the_csv(form: str, tmp_path: Path) -> None:
    question = {"key": "q2", "text": TEXTS[15], "kind": "choice", "options": HOSTILE[:5]}
    survey = builders.finished(40, questions=[question], blocks=[], epsilon=4)
    alice = builders.client(builders.alice(survey))
    lines = table(get(alice, "estimates.csv"))
    values, meta = read(get(alice, f"estimates.{form}"), form, tmp_path)
    names = [name if name != "by" else "grouped_by" for name in estimate_files.HEADER]
    assert list(values) == names and len(lines) == meta.number_rows > 10
    assert {line["by"] for line in lines} == {"", "age"}
    for i, line in enumerate(lines):
        for place, (name, (kind, _)) in enumerate(estimate_files.ABOUT.items()):
            again = values[names[place]][i]
            if kind == "text":
                # apostrophes keep spreadsheets from computing; SPSS has no spaces at an end
                assert again.replace("'", "").rstrip() == line[name].replace("'", "").rstrip()
            elif line[name] == "":
                assert none(again)
            else:
                assert again == float(line[name])
    assert meta.column_labels == [label for _, label in estimate_files.ABOUT.values()]
    variable = codebook.variables(survey.frozen_design())[0]
    channels = variable.channels(*variable.places[0])
    told = " ".join(" ".join(meta.notes).split())
    assert "q2: background = no, kind = choice, block = b1, epsilon = 4.0, " in told
    assert f"a = {' '.join(repr(one.a) for one in channels)}, b = " in told


@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_question_comes_back(form: str, tmp_path: Path) -> None:
    """Levels, "Not asked" and "Nothing picked" have labels; means and picks have no option."""
    survey = builders.finished(200, **EVERY_KIND)
    alice = builders.client(builders.alice(survey))
    header, *lines = csv.reader(io.StringIO(get(alice, "reports.csv").decode()))
    values, meta = read(get(alice, f"reports.{form}"), form, tmp_path)
    for i, name in enumerate(header):
        for line, again in zip(lines, values[name], strict=True):
            assert none(again) if line[i] == "" else again == int(line[i])
    labels = meta.variable_value_labels
    assert labels["who"] == {
        0: "[randomized] Boss", 1: "[randomized] Colleague", 2: "[randomized] Patient",
        3: "[randomized] Prefer not to say", 4: "[randomized] Not asked",
    }  # fmt: skip
    assert labels["days"][1] == "[randomized] 30 days"
    assert labels["pills"][5] == "[randomized] Nothing picked"
    told = own_attributes(get(alice, f"reports.{form}"), form)["harassed"]
    assert told["block"] == "b1 | b2" and told["a"].count("|") == 1

    estimates, _ = read(get(alice, f"estimates.{form}"), form, tmp_path)
    rows = list(Estimate.objects.filter(release__number=2))
    assert [one.strip() for one in estimates["measure"]] == [row.measure for row in rows]
    assert [one.strip() for one in estimates["option"]] == [row.option for row in rows]
    assert {row.measure for row in rows if not row.option} == {"mean", "picks"}
    for row, value in zip(rows, estimates["estimate"], strict=True):
        assert none(value) if row.value is None else value == row.value


@pytest.mark.slow
@pytest.mark.pspp
@pytest.mark.once
@pytest.mark.django_db
def test_pspp_reads_every_file_of_a_release(tmp_path: Path) -> None:
    """PSPP reads the files of a closed survey, and of one that was open with few reports."""
    odd = odd_release()
    ordinary = builders.finished(40, slug="ordinary")
    alice = builders.client(builders.alice(odd.survey, ordinary))
    tables: dict[str, list[dict[str, str]]] = {}
    for slug, number in (("small", 1), ("ordinary", 1), ("ordinary", 2)):
        for kind in ("estimates", "reports"):
            name = f"{slug}-{number}-{kind}"
            (tmp_path / f"{name}.sav").write_bytes(get(alice, f"{kind}.sav", slug, number))
            tables[name] = table(get(alice, f"{kind}.csv", slug, number))
    seen = pspp.read(tmp_path, tables, frequencies=True)
    for name, lines in tables.items():
        header = [one if one != "by" else "grouped_by" for one in lines[0]]
        assert seen[name].header == header
        for row, line in zip(seen[name].rows, lines, strict=True):
            for again, text in zip(row, line.values(), strict=True):
                # A number is written in another way, and CSV has apostrophes against formulas.
                same = again.replace("'", "").strip(" ") == text.replace("'", "").strip(" ")
                assert same or float(again) == pytest.approx(float(text), rel=1e-12)
        assert "(x / n - b) / (a - b)" in " ".join(seen[name].documents.split())
        if name.endswith("reports"):
            for variable in seen[name].header[:-1]:
                counts: Counter[str] = Counter()
                for line in lines:
                    counts[line[variable] or "."] += int(line["count"])
                assert seen[name].frequencies(variable) == counts
            assert list(seen[name].nested(pspp.ATTRIBUTES)) == seen[name].header[:-1]


@pytest.mark.django_db
def test_many_reports_are_merged_once_and_pass_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.finished(300)
    release = Release.objects.get(survey=survey, number=2)
    monkeypatch.setattr(reports, "LINES", 3)
    monkeypatch.setattr(reports, "IN_MEMORY", 10)
    told: list[float] = []
    export = files.Export(release, "http://testserver/", told.append)
    assert b"".join(files.FILES["everything.zip"].make(export))
    assert told == sorted(told) and told[-1] == 1 and len(set(told)) > 5
    in_pieces = {name: b"".join(files.FILES[name].make(export)) for name in OF_REPORTS}
    monkeypatch.undo()
    for name in OF_REPORTS[:2]:  # SPSS has its own pieces in the file
        at_once = files.FILES[name].make(files.Export(release, export.address))
        assert b"".join(at_once) == in_pieces[name]
