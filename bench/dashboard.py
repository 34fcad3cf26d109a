"""The time that the server spends on one dashboard: 20 questions, a million reports.

The requirement is less than 60 ms of processor time and 100 kB for 20 questions by 10 groups: the
page by the background question of the survey "groups". The survey "wide" has 10 of these.

`make bench`, or `python -m bench.dashboard`. Pages are requested through Django's own handler with
all middleware, a logged-in researcher and the real database, but without the network. Times are
medians, next to those of the health check, which does nearly nothing. The million reports are
twenty thousand, fifty times. No plan is cached.
"""

import json
from typing import Any

from bench.installation import call, databases, installation

PEOPLE = 20_000
TIMES = 50  # how often each is counted
QUESTIONS = [{"key": f"q{i}", "text": f"Question {i}?", "kind": "yes_no"} for i in range(20)]


def background(key: str, groups: int) -> dict[str, Any]:
    return {"key": key, "text": key, "options": [f"Group {j}" for j in range(groups)]}


WIDE = {
    "slug": "wide",
    "title": "Twenty questions, ten background questions",
    "epsilon": 4,
    "questions": QUESTIONS,
    "background": [background(f"g{i}", 5) for i in range(10)],
}
GROUPS = {
    "slug": "groups",
    "title": "Twenty questions, ten groups",
    "epsilon": 4,
    "questions": QUESTIONS,
    "background": [background("g0", 9)],  # and those who prefer not to say
}


def main() -> None:
    print(f"One dashboard, 20 questions, {TIMES * PEOPLE:,} reports")
    for title, environment in databases():
        with installation(WIDE, **environment) as candor:
            candor.manage("import_survey", "-", "--open", stdin=json.dumps(GROUPS))
            for survey in (WIDE, GROUPS):
                candor.manage("simulate", str(survey["slug"]), "--people", str(PEOPLE))
            print(f"\n{title}")
            call(candor, "bench.dashboard_pages", "measure", TIMES)


if __name__ == "__main__":
    main()
