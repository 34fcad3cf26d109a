"""Compute the published estimates of a release again, and compare.

    python3 estimate.py [folder] > again.csv

The folder (this one, unless another is named) holds estimates.csv and codebook.csv, and maybe
reports.csv. With the reports, everything is counted anew; without them, the computation starts from
the published counts. The formulas are those of codebook.json.
Needs Python 3.10 or later and nothing else. The status is 0 if all is as published, else 1.
"""

import csv
import math
import sys
from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path

Row = dict[str, str]
Channel = tuple[float, float]  # a, b
Figures = tuple[float, float]  # a share and its standard error
# The question, the background question or "", and the positions of the group and the option.
Counts = Counter[tuple[str, str, str, str]]
TOLERANCE = 1e-9


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def share(count: int, n: int, channel: Channel) -> Figures:
    """Estimate the share of people for whom an option is true: `count` of `n` reports have it."""
    a, b = channel
    value = (count / n - b) / (a - b)
    return value, math.sqrt(count * (n - count) / (n - 1)) / (n * (a - b))


def share_in_group(rows: list[Row], counts: list[int], at: int, channels: list[Channel]) -> Figures:
    """Estimate the share of an option within a group, both those of `rows[at]`.

    `counts` are the reports by group and option, and `channels` those of the question and of the
    background question.
    """
    (a, b), (a_by, b_by) = channels
    n = sum(counts)
    u = [((row["option"] == rows[at]["option"]) - b) / (a - b) for row in rows]
    w = [((row["group"] == rows[at]["group"]) - b_by) / (a_by - b_by) for row in rows]
    cells = list(zip(counts, u, w, strict=True))
    size = math.fsum(x * w for x, _, w in cells)
    value = math.fsum(x * u * w for x, u, w in cells) / size
    spread = math.fsum(x * ((u - value) * w) ** 2 for x, u, w in cells)
    return value, math.sqrt(n / (n - 1) * spread) / size


class Codebook:
    def __init__(self, rows: list[Row]) -> None:
        self.column = {row["key"]: row["column"] for row in rows}
        self.background = {row["key"] for row in rows if row["background"] == "1"}
        self.position = {(row["key"], row["option"]): row["position"] for row in rows}
        self.channel = {row["key"]: (float(row["a"]), float(row["b"])) for row in rows}


def count_reports(path: Path, codebook: Codebook) -> Counts:
    """Count the reports with each option, over everybody and by each background question."""
    counts: Counts = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines)
        places = {key: header.index(column) for key, column in codebook.column.items()}
        for line in lines:
            times = int(line[-1])
            groups = [(key, line[places[key]]) for key in codebook.background]
            for question, place in places.items():
                if line[place] == "":
                    continue  # this question was not asked
                for by, group in [("", ""), *groups]:
                    counts[question, by, group, line[place]] += times
    return counts


def main(folder: Path) -> int:
    codebook = Codebook(read(folder / "codebook.csv"))
    reports = folder / "reports.csv"
    found = count_reports(reports, codebook) if reports.exists() else None
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("question option by group n count estimate standard_error".split())
    worst, number = 0.0, 0
    published = read(folder / "estimates.csv")
    for (question, by), some in groupby(published, itemgetter("question", "by")):
        rows = list(some)
        channels = [codebook.channel[key] for key in (question, by) if key]
        counts = [int(row["count"]) for row in rows]
        if found is not None:
            counts = [
                found[
                    question,
                    by,
                    codebook.position.get((by, row["group"]), ""),
                    codebook.position[question, row["option"]],
                ]
                for row in rows
            ]
        n = sum(counts)
        for at, (row, count) in enumerate(zip(rows, counts, strict=True)):
            off = 0.0 if (count, n) == (int(row["count"]), int(row["n"])) else math.inf
            shown = ["", ""]
            if row["standard_error"]:  # else there are too few people to tell
                value, error = (
                    share_in_group(rows, counts, at, channels) if by else share(count, n, *channels)
                )
                off = max(off, abs(value - float(row["estimate"])))
                off = max(off, abs(error - float(row["standard_error"])))
                shown = [repr(value), repr(error)]
            out.writerow([question, row["option"], by, row["group"], n, count, *shown])
            worst, number = max(worst, off), number + 1
    source = "published counts" if found is None else "reports"
    verdict = "as published" if worst <= TOLERANCE else "NOT as published"
    print(
        f"{number} estimates from {source}: {verdict}; largest difference {worst:.3g}.",
        file=sys.stderr,
    )
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
