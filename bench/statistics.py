"""How fast the statistics are.

`make bench`, or `python -m bench.statistics`. Every figure is the median of several runs.
bench.other_packages compares the estimation of shares with other packages.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from aggregation.statistics import joint, privacy, proportion, regression, sequence
from aggregation.statistics.proportion import Channel
from bench.installation import in_turn

ROUNDS = 9
FEWER = 3  # for what takes seconds
TWO_COINS = Channel(0.75, 0.25)
SEED = 20


def main() -> None:
    print("Statistics")
    for title, rounds, run in tasks():
        seconds = in_turn({"": run}, time.perf_counter, rounds)[""]
        print(f"  {title:58} {1000 * seconds:9.2f} ms, median of {rounds}")


def tasks() -> list[tuple[str, int, Callable[[], Any]]]:
    X, y = survey(10_000, 6)
    groups = np.column_stack([np.ones(64), np.random.default_rng(1).normal(size=(64, 5))])
    counts, sizes = np.full(64, 5 * 10**6), np.full(64, 15 * 10**6)
    counts = counts + np.arange(64) * 10**4
    table = np.random.default_rng(2).multinomial(10**6, np.full(1024, 1 / 1024)).reshape((2,) * 10)
    # Only counts within the channel's range, because others are clamped and take half the time.
    many = range(25_000, 75_000, 5)
    return [
        (
            "default interval, n = 10^9",
            ROUNDS,
            lambda: proportion.interval(3 * 10**8, 10**9, TWO_COINS),
        ),
        (
            "10^4 default intervals, n = 10^5, in one call",
            FEWER,
            lambda: proportion.intervals(many, 10**5, TWO_COINS),
        ),
        (
            "10^4 intervals for every look, n = 10^5, in one call",
            FEWER,
            lambda: sequence.intervals(many, 10**5, TWO_COINS),
        ),
        (
            "joint cells of 10 yes/no questions in two blocks",
            ROUNDS,
            lambda: joint.cells(table, [(0.5, range(5)), (0.5, range(5, 10))]),
        ),
        ("logistic regression, 10^4 rows, 6 columns", ROUNDS, lambda: fit(X, y)),
        (
            "logistic regression, 10^9 people in 64 groups, 6 columns",
            ROUNDS,
            lambda: regression.tallies(groups, counts, sizes, TWO_COINS),
        ),
        ("shuffling, exact, n = 10^6", ROUNDS, lambda: privacy.shuffled(math.log(3), 10**6, 1e-6)),
    ]


def survey(rows: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(SEED)
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, columns - 1))])
    share = expit(X @ np.linspace(-1, 0.5, columns))
    return X, (rng.random(rows) < 0.25 + 0.5 * share).astype(int)


def fit(X: Any, y: Any) -> Any:
    found = regression.logistic(X, y, TWO_COINS)
    if not found.converged:
        raise RuntimeError("the fit did not converge")
    return found


if __name__ == "__main__":
    main()
