"""Compute the published estimates of a release again, and compare.

    python3 estimate.py [folder] > again.csv

The folder (this one, unless another is named) holds estimates.csv and codebook.csv, and reports.csv
where it may be taken home. With the reports, everything is counted anew; groups that are not told
apart in them, and all without reports.csv, start from the published counts.
Needs Python 3.10 or later and nothing else. The status is 0 if all is as published, else 1.
"""

import csv
import math
import sys
from collections import Counter
from pathlib import Path

Key = tuple[str, str, str, str]  # question, position of the option, stratum, position of the group
TOLERANCE = 1e-9


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def estimate(count: int, n: int, a: float, b: float) -> tuple[float, float]:
    """The unbiased share, and its standard error, when `count` of `n` reports have an option."""
    value = (count / n - b) / (a - b)
    return value, math.sqrt(count * (n - count) / (n - 1)) / (n * (a - b))


class Codebook:
    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.column = {(row["kind"], row["key"]): row["column"] for row in rows}
        self.position = {(row["kind"], row["key"], row["option"]): row["position"] for row in rows}
        self.channel = {
            row["key"]: (float(row["a"]), float(row["b"]))
            for row in rows
            if row["kind"] == "question"
        }

    def columns(self, kind: str, header: list[str]) -> list[tuple[str, int]]:
        """The questions or strata that are there, with the places of their columns."""
        return [
            (key, header.index(column))
            for (of, key), column in self.column.items()
            if of == kind and column in header
        ]


def count_reports(path: Path, codebook: Codebook) -> tuple[Counter[Key], set[str]]:
    """How many reports have each option, over everybody and in each group; and which strata."""
    counts: Counter[Key] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines)
        questions = codebook.columns("question", header)
        strata = codebook.columns("stratum", header)
        last = header.index("count")
        for line in lines:
            times = int(line[last])
            groups = [("", ""), *((key, line[place]) for key, place in strata)]
            for question, place in questions:
                if line[place] == "":
                    continue  # this question was not asked
                for stratum, group in groups:
                    counts[question, line[place], stratum, group] += times
                    counts[question, "", stratum, group] += times  # of all options together
    return counts, {key for key, _ in strata}


def counted(
    row: dict[str, str], codebook: Codebook, counts: Counter[Key] | None, strata: set[str]
) -> tuple[int, int]:
    """How many reports have the option of a published row, and of how many."""
    stratum = row["stratum"]
    published = int(row["count"]), int(row["n"])
    if counts is None or (stratum and stratum not in strata):
        return published
    question = row["question"]
    option = codebook.position["question", question, row["option"]]
    group = codebook.position.get(("stratum", stratum, row["group"]), "")  # "": not given
    n = counts[question, "", stratum, group]
    if stratum and not n:  # not told apart: nobody is in a group of its own
        return published
    return counts[question, option, stratum, group], n


def main(folder: Path) -> int:
    codebook = Codebook(read(folder / "codebook.csv"))
    counts: Counter[Key] | None = None
    strata: set[str] = set()
    if (folder / "reports.csv").exists():
        counts, strata = count_reports(folder / "reports.csv", codebook)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("question option stratum group n count estimate standard_error".split())
    worst, rows = 0.0, 0
    for row in read(folder / "estimates.csv"):
        if row["suppressed"] == "1":
            continue
        count, n = counted(row, codebook, counts, strata)
        value, error = estimate(count, n, *codebook.channel[row["question"]])
        names = (row["question"], row["option"], row["stratum"], row["group"])
        out.writerow([*names, n, count, repr(value), repr(error)])
        same = (count, n) == (int(row["count"]), int(row["n"]))
        off = max(abs(value - float(row["estimate"])), abs(error - float(row["standard_error"])))
        worst, rows = max(worst, off if same else math.inf), rows + 1
    source = "published counts" if counts is None else "reports"
    verdict = "as published" if worst <= TOLERANCE else "NOT as published"
    print(
        f"{rows} estimates from {source}: {verdict}; largest difference {worst:.3g}.",
        file=sys.stderr,
    )
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
