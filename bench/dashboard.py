"""The time that the server spends on one dashboard: 20 questions by 10, a million reports.

`make bench`, or `python -m bench.dashboard`. Pages are requested through Django's own handler with
all middleware, a logged-in researcher and the real database, but without the network. Times are
medians, next to those of the health check, which does nearly nothing. The million reports are
twenty thousand, fifty times. No plan is cached.
"""

from bench.installation import call, databases, installation

PEOPLE = 20_000
TIMES = 50  # how often each is counted
SURVEY = {
    "slug": "wide",
    "title": "Twenty questions, ten background questions",
    "epsilon": 4,
    "questions": [{"key": f"q{i}", "text": f"Question {i}?", "kind": "yes_no"} for i in range(20)],
    "background": [
        {"key": f"g{i}", "text": f"Background {i}", "options": [f"Group {j}" for j in range(5)]}
        for i in range(10)
    ],
}


def main() -> None:
    print(f"One dashboard, 20 questions by 10 background questions, {TIMES * PEOPLE:,} reports")
    for title, environment in databases():
        with installation(SURVEY, **environment) as candor:
            candor.manage("simulate", "wide", "--people", str(PEOPLE))
            print(f"\n{title}")
            call(candor, "bench.dashboard_pages", "measure", TIMES)


if __name__ == "__main__":
    main()
