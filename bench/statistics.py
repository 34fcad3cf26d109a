"""How fast the statistics are, and how much faster than two packages for the same estimates.

`make bench`, or `python -m bench.statistics`. Every figure is the median of several runs. The two
packages, pure-ldp and multi-freq-ldpy, are installed for this run only, into a virtual environment
in the temporary folder that is removed afterwards; where that fails they are left out.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from aggregation.statistics import joint, privacy, proportion, regression, sequence
from aggregation.statistics.proportion import Channel

ROUNDS = 9
FEWER = 3  # of what takes seconds
MORE = 99  # of what takes a few milliseconds and is compared
TWO_COINS = Channel(0.75, 0.25)
REPORTS, OPTIONS, EPSILON, SEED = 10**6, 5, 2.0, 20
PATIENCE = 600  # seconds for installing
UNDECLARED = ["scikit-learn", "statsmodels"]  # pure-ldp imports these without asking for them

# What the other interpreter runs. Both packages count in a loop, fastest over a list.
OTHERS = """
import json, statistics, sys, time
import numpy as np
reports = np.load(sys.argv[1]).tolist()
options, epsilon, rounds = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])

from pure_ldp.frequency_oracles.direct_encoding import DEServer
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI

def pure():
    server = DEServer(epsilon, options, index_mapper=lambda x: x)
    for report in reports:
        server.aggregate(report)
    return [server.estimate(x, suppress_warnings=True) / len(reports) for x in range(options)]

def multi():
    return GRR_Aggregator_MI(reports, options, epsilon)

found = {}
for name, run in (("pure-ldp", pure), ("multi-freq-ldpy", multi)):
    times = []
    for _ in range(rounds):
        began = time.process_time()
        shares = run()
        times.append(time.process_time() - began)
    found[name] = [statistics.median(times), [float(share) for share in shares]]
print(json.dumps(found))
"""


def main() -> None:
    print("Statistics")
    for title, rounds, run in tasks():
        print(f"  {title:58} {1000 * median(run, rounds):9.2f} ms, median of {rounds}")
    compare()


def tasks() -> list[tuple[str, int, Callable[[], Any]]]:
    X, y = survey(10_000, 6)
    strata = np.column_stack([np.ones(64), np.random.default_rng(1).normal(size=(64, 5))])
    counts, sizes = np.full(64, 5 * 10**6), np.full(64, 15 * 10**6)
    counts = counts + np.arange(64) * 10**4
    table = np.random.default_rng(2).multinomial(10**6, np.full(1024, 1 / 1024)).reshape((2,) * 10)
    return [
        ("default interval, n = 10^9", ROUNDS, lambda: one_interval(10**9)),
        ("10^4 default intervals, n = 10^5, in one call", FEWER, many_intervals),
        ("10^4 intervals for every look, n = 10^5, in one call", FEWER, many_sequences),
        ("joint cells of 10 yes/no questions in two blocks", ROUNDS, lambda: cells(table)),
        ("logistic regression, 10^4 rows, 6 columns", ROUNDS, lambda: fit(X, y)),
        (
            "logistic regression, 10^9 people in 64 strata, 6 columns",
            ROUNDS,
            lambda: regression.tallies(strata, counts, sizes, TWO_COINS),
        ),
        ("shuffling, exact, n = 10^6", ROUNDS, lambda: privacy.shuffled(math.log(3), 10**6, 1e-6)),
    ]


def survey(rows: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(SEED)
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, columns - 1))])
    share = expit(X @ np.linspace(-1, 0.5, columns))
    return X, (rng.random(rows) < 0.25 + 0.5 * share).astype(int)


def one_interval(n: int) -> Any:
    return proportion.interval(3 * n // 10, n, TWO_COINS)


def many_intervals() -> Any:
    # Counts within the channel's range only: those beyond it are clamped and cost half.
    return proportion.intervals(range(25_000, 75_000, 5), 10**5, TWO_COINS)


def many_sequences() -> Any:
    return sequence.intervals(range(25_000, 75_000, 5), 10**5, TWO_COINS)


def cells(table: Any) -> Any:
    return joint.cells(table, [(0.5, range(5)), (0.5, range(5, 10))])


def fit(X: Any, y: Any) -> Any:
    found = regression.logistic(X, y, TWO_COINS)
    if not found.converged:
        raise RuntimeError("the fit did not converge")
    return found


def median(
    run: Callable[[], Any], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    times = []
    for _ in range(rounds):
        began = clock()
        run()
        times.append(clock() - began)
    return statistics.median(times)


# --- against other packages ---------------------------------------------------------------------


def compare() -> None:
    """The same reports, the same epsilon: ours with intervals, theirs without.

    In time of the processor, since they run one after the other and what else the machine does
    would change the ratio; nobody uses more than one.
    """
    rng = np.random.default_rng(SEED)
    truth = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    keep = math.expm1(EPSILON) / (math.expm1(EPSILON) + OPTIONS)
    answers = rng.choice(OPTIONS, size=REPORTS, p=truth)
    kept = rng.random(REPORTS) < keep
    reports = np.where(kept, answers, rng.integers(0, OPTIONS, REPORTS))
    channel = Channel(keep + (1 - keep) / OPTIONS, (1 - keep) / OPTIONS)
    column = reports.astype(np.uint8)  # as a batch holds it
    ours = median(lambda: shares(column, channel), MORE, time.process_time)
    values = [one.value for one in shares(column, channel)]
    print(f"\n{OPTIONS} shares from {REPORTS:,} reports; processor, median of {MORE} or {FEWER}")
    show("Candor, with exact intervals", ours, ours, values)
    for name, (seconds, found) in others(reports).items():
        show(name, seconds, ours, found)


def shares(column: Any, channel: Channel) -> list[proportion.Estimate]:
    tally = [np.count_nonzero(column == option) for option in range(OPTIONS)]  # as batches.tally
    return proportion.estimates(tally, len(column), channel)


def show(name: str, seconds: float, ours: float, values: list[float]) -> None:
    text = " ".join(f"{value:+.4f}" for value in values)
    print(f"  {name:30} {1000 * seconds:9.2f} ms  {seconds / ours:7.1f} times   {text}")


def others(reports: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        try:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            packages = ["pure-ldp", "multi-freq-ldpy", *UNDECLARED]
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *packages],
                check=True, capture_output=True, timeout=PATIENCE,
            )  # fmt: skip
            file = Path(folder) / "reports.npy"
            np.save(file, reports)
            done = subprocess.run(
                [python, "-c", OTHERS, str(file), str(OPTIONS), str(EPSILON), str(FEWER)],
                check=True, capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
            return dict(json.loads(done.stdout.splitlines()[-1]))
        except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
            reason = getattr(error, "stderr", None) or str(error)
            text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
            last = text.strip().splitlines()[-1:] or ["no reason given"]
            print(f"  pure-ldp and multi-freq-ldpy could not be installed or run: {last[0][:200]}")
            return {}


if __name__ == "__main__":
    sys.exit(main())
