"""How long the files of a finished survey take, and how much memory, at a million reports.

`python -m bench.exports [REPORTS]`. The survey has six questions of ten options and two background
questions, so that most reports differ. Each file is made in a process of its own. Compare its peak
of memory with that of the first file, which has no reports.
"""

import sys

from bench.installation import call, installation

FILES = (
    "citation.bib estimates.csv estimates.dta estimates.sav "
    "reports.csv reports.dta reports.sav everything.zip"
).split()
SURVEY = {
    "slug": "long",
    "title": "Six questions of ten options",
    "epsilon": 6,
    "questions": [
        {"key": f"q{i}", "text": f"Question {i}?", "kind": "choice",
         "options": [f"Option {j}" for j in range(10)]}
        for i in range(6)
    ],
    "background": [
        {"key": f"s{i}", "text": f"Background {i}", "options": [f"Group {j}" for j in range(5)]}
        for i in range(2)
    ],
}  # fmt: skip


def main(reports: int) -> None:
    with installation(SURVEY) as candor:
        call(candor, "bench.export_files", "fill", reports)
        print(f"{reports:,} reports, each file in a process of its own")
        for name in FILES:
            call(candor, "bench.export_files", "make", name)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
