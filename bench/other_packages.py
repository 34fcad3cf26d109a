"""How long other packages take for the same shares: `make bench`, or as a module.

The same reports and the same ε. Ours come from packed batches and have intervals; theirs come from
a list, which they read fastest, and have none. Both packages are installed into a temporary folder
for this run, and left out if that fails. Times are the processor's; nobody uses more than one.
"""

import json
import math
import subprocess
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np

from aggregation.counting.planes import pack
from aggregation.counting.tables import recount
from aggregation.statistics import proportion
from aggregation.statistics.proportion import Channel
from bench.installation import in_turn
from survey.design import KINDS, build, options_from_texts

REPORTS, OPTIONS, EPSILON = 10**6, 5, 2.0
SEED = 20
MORE, FEWER = 99, 3  # rounds of what takes a millisecond, and of what takes a quarter of a second
INSTALL_SECONDS = 600
UNDECLARED = ["scikit-learn", "statsmodels"]  # pure-ldp imports these but does not require them

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
    question = KINDS["choice"](
        "q", "?", options_from_texts([f"Option {i}" for i in range(OPTIONS)])
    )
    design = build(EPSILON, [question])
    channel = Channel(*design.blocks[0].mechanism.channel(0))
    rng = np.random.default_rng(SEED)
    keep = math.expm1(EPSILON) / (math.expm1(EPSILON) + OPTIONS)
    answers = rng.choice(OPTIONS, size=REPORTS, p=[0.5, 0.3, 0.15, 0.05, 0.0])
    kept = rng.random(REPORTS) < keep
    reports = np.where(kept, answers, rng.integers(0, OPTIONS, REPORTS)).astype(np.uint8)
    cut = [reports[i : i + 65_536, None] for i in range(0, REPORTS, 65_536)]
    parts = [(pack(rows, design), len(rows)) for rows in cut]

    def shares() -> list[proportion.Estimate]:
        counts = recount(parts, design)["q"][""][0]
        return proportion.estimates(counts, sum(counts), channel)

    ours = in_turn({"": shares}, time.process_time, MORE)[""]
    print(f"{OPTIONS} shares from {REPORTS:,} reports; processor, median of {MORE} or {FEWER}")
    show("Candor, with exact intervals", ours, ours, [one.value for one in shares()])
    for name, (spent, found) in others(reports).items():
        show(name, spent, ours, found)


def show(name: str, spent: float, ours: float, values: list[float]) -> None:
    text = " ".join(f"{value:+.4f}" for value in values)
    print(f"  {name:30} {1000 * spent:9.2f} ms  {spent / ours:7.1f} times   {text}")


def others(reports: Any) -> dict[str, Any]:
    """Return the median time and the shares of each of the other packages."""
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        python, file = Path(folder) / "bin" / "python", Path(folder) / "reports.npy"
        install = [python, "-m", "pip", "install", "--quiet", "pure-ldp", "multi-freq-ldpy"]
        count = [python, "-c", OTHERS, file, str(OPTIONS), str(EPSILON), str(FEWER)]
        try:
            venv.create(folder, with_pip=True)
            run([*install, *UNDECLARED])
            np.save(file, reports)
            return dict(json.loads(run(count).splitlines()[-1]))
        except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
            reason = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1:]
            print(f"  pure-ldp and multi-freq-ldpy could not be installed or run: {reason}")
            return {}


def run(command: list[Any]) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS
    ).stdout


if __name__ == "__main__":
    main()
