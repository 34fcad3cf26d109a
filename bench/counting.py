"""How fast reports are counted, what they cost, and how that grows.

`make bench`, or `python -m bench.counting`; `python -m bench.counting growth 10000000` measures the
growth up to that many reports instead of a million, which takes a quarter of an hour, and
`python -m bench.counting groups` releases with many background questions, in SQLite only. Ratios
are measured side by side in one run, in turn, and are of medians. Time is the processor's, that of
PostgreSQL's process included where it does a part of the work, or the clock's where that is said.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from aggregation.counting.planes import Packed, pack
from aggregation.counting.tables import recount, tables, tally
from aggregation.statistics import proportion
from aggregation.statistics.proportion import Channel
from survey.design import Question, build, options_from_texts
from tests.support import packages
from tests.support.services import ROOT, Candor, PostgreSQL

ROUNDS = 11
MILLION, TEN_MILLION = 10**6, 10**7
GROWTH = [MILLION // 4, MILLION]
BEYOND = [10**8, 10**9]
QUESTIONS = 10
BACKGROUND, GROUPS = 10, 5  # background questions, and groups beside “Prefer not to say”
SEED = 20
Clock = Callable[[], float]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["measure"]:
        measure([int(number) for number in arguments[1:]])
        return
    if arguments[:1] == ["groups"]:
        on_its_own([], "measure_groups")
        return
    if arguments[:1] == ["measure_groups"]:
        groups()
        return
    most = int(arguments[1]) if arguments[:1] == ["growth"] else 0
    sizes = [most // 10, most] if most else GROWTH
    print("Counting: ten yes/no questions in one block")
    on_its_own(sizes)
    if packages.NEEDS["PostgreSQL"].here():
        with PostgreSQL(durable=True) as server:
            on_its_own(sizes, DATABASE_URL=server.create_database())
    else:
        print("PostgreSQL is not installed: left out.")
    if not most:
        compare()


def on_its_own(sizes: list[int], what: str = "measure", **environment: str) -> None:
    """Measure in a process with a database of its own."""
    candor = Candor(None, **environment)
    candor.var.mkdir()
    try:
        candor.manage("migrate", "--verbosity=0")
        subprocess.run(
            [sys.executable, "-m", "bench.counting", what, *map(str, sizes)],
            cwd=ROOT, env=candor.env, check=True,
        )  # fmt: skip
    finally:
        candor._remove()


def in_turn(
    runs: Mapping[str, Callable[[], object]], clock: Clock, rounds: int = ROUNDS
) -> dict[str, float]:
    """The median of each, taken in turn so that a busy machine harms all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            began = clock()
            run()
            times[name].append(clock() - began)
    return {name: statistics.median(some) for name, some in times.items()}


# --- In a process that has a database -------------------------------------------------------------


def measure(sizes: list[int]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.db import connection

    print(f"\n{connection.display_name}; median of {ROUNDS} in turn")
    columns = np.random.default_rng(SEED).integers(0, 2, (QUESTIONS, TEN_MILLION), dtype=np.uint8)
    large = stored("large", columns)
    million = stored("million", columns[:, :MILLION])
    speed(large, columns)
    pairs(million, large)
    release(million, large)
    del columns
    growth(sizes)


def opened(slug: str, questions: int = QUESTIONS, background: int = 0) -> Any:
    from survey import files

    asked = [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(questions)]
    keys = [question["key"] for question in asked]
    texts = [f"Group {i}" for i in range(GROUPS)]
    data = {
        "slug": slug,
        "title": slug,
        "epsilon": 4,
        "questions": asked,
        "background": [{"key": f"g{i}", "text": "?", "options": texts} for i in range(background)],
        "blocks": [keys[start : start + QUESTIONS] for start in range(0, questions, QUESTIONS)],
        "ask": -(-questions // QUESTIONS),
    }
    survey = files.load(json.dumps(data))
    survey.open()
    return survey


def stored(slug: str, columns: Any) -> Any:
    """A survey with these reports in batches, as moves would have left them."""
    from aggregation.releases.collect import BATCH_SIZE
    from survey.database import database

    survey = opened(slug)
    for start in range(0, columns.shape[1], BATCH_SIZE):
        store(survey, columns[:, start : start + BATCH_SIZE].T)
    database().checkpoint()
    return survey


def store(survey: Any, rows: Any) -> None:
    from aggregation.models import Batch
    from survey.models import today

    design = survey.frozen_design()
    data = pack(rows, design)
    counts = tally(data, len(rows), design)
    Batch.objects.create(
        survey=survey, reports=len(rows), made_on=today(), tally=counts, columns=data
    )


def packed(survey: Any) -> Iterator[Packed]:
    from aggregation.models import Batch

    return Batch.objects.packed(list(survey.batches.values_list("pk", flat=True)))


def bytes_a_report(survey: Any) -> float:
    """Return what a report takes in its batch."""
    sizes = [(len(data), reports) for data, reports in packed(survey)]
    return sum(size for size, _ in sizes) / sum(reports for _, reports in sizes)


def speed(survey: Any, columns: Any) -> None:
    from aggregation.models import Batch

    design = survey.frozen_design()
    expected = [int(np.count_nonzero(column)) for column in columns]
    keys = list(survey.batches.values_list("pk", flat=True))  # a part of an analysis knows its own
    found = recount(Batch.objects.packed(keys), design)
    if [found[question.key][""][0][1] for question in design.questions] != expected:
        raise RuntimeError("the tally is wrong")
    runs = {
        "numpy": lambda: [np.count_nonzero(column) for column in columns],
        "stored": lambda: recount(Batch.objects.packed(keys), design),
    }
    for name, clock in (("processor", processor()), ("clock", time.perf_counter)):
        spent = in_turn(runs, clock)
        row(f"count_nonzero over bytes in memory, 10^7, {name}", spent["numpy"])
        row(f"tally from stored batches, {name}", spent["stored"], spent["numpy"], "of that speed")
    print(f"  {'bytes of a report in its batch':52} {bytes_a_report(survey):9.3f}")


def processor() -> Clock:
    """The time of our processor, and of the process that serves us, if there is one."""
    from django.db import connection

    if connection.vendor == "sqlite":
        return time.process_time
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        served = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")  # in nanoseconds

    def both() -> float:
        return time.process_time() + int(served.read_text().split()[0]) / 1e9

    return both


def pairs(million: Any, large: Any) -> None:
    """All 45 tables of two questions, in memory, where a tally is ten counts."""
    design = large.frozen_design()
    wanted = list(combinations([question.key for question in design.questions], 2))
    some, many = list(packed(million)), list(packed(large))
    found = in_turn(
        {
            "tally": lambda: recount(many, design),
            "pairs": lambda: tables(many, design, wanted),
            "fewer": lambda: tables(some, design, wanted),
        },
        time.process_time,
    )
    row("tally in memory", found["tally"])
    row(f"all {len(wanted)} tables of two, in memory", found["pairs"])
    print(f"  {'  time of the tally':52} {found['pairs'] / found['tally']:9.1f} times")
    print(f"  {'  time for 10^6 reports':52} {found['pairs'] / found['fewer']:9.1f} times")


def publish_in_vain(survey: Any) -> None:
    from django.db import transaction

    from aggregation.releases.publish import publish

    with transaction.atomic():
        publish(survey)
        transaction.set_rollback(True)  # or there would be nothing to publish next time


def groups() -> None:
    """Releases of twenty questions by ten background questions: the first, and one more batch."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from aggregation.releases.collect import BATCH_SIZE
    from aggregation.releases.publish import publish
    from survey.database import database

    rng = np.random.default_rng(SEED)

    def some(number: int) -> Any:
        asked = rng.integers(0, 2, (number, 2 * QUESTIONS), dtype=np.uint8)
        return np.hstack([asked, rng.integers(0, GROUPS, (number, BACKGROUND), dtype=np.uint8)])

    print(
        f"\n{2 * QUESTIONS} yes/no questions, {BACKGROUND} background questions of {GROUPS} groups"
    )
    made = {}
    for name, reports in {"10^6": MILLION, "10^7": TEN_MILLION}.items():
        survey = made[name] = opened(name.replace("^", ""), 2 * QUESTIONS, BACKGROUND)
        for start in range(0, reports, BATCH_SIZE):
            store(survey, some(min(BATCH_SIZE, reports - start)))
        database().checkpoint()
        began = time.process_time()
        publish(survey)
        row(f"first release, of {name} reports at once", time.process_time() - began)
        store(survey, some(BATCH_SIZE))
    found = in_turn(
        {name: partial(publish_in_vain, s) for name, s in made.items()}, time.process_time
    )
    for name, spent in found.items():
        row(f"the next release, of {name} and a batch more", spent)
    print(f"  {'  time for 10^6 reports':52} {found['10^7'] / found['10^6']:9.2f} times")


def release(million: Any, large: Any) -> None:
    both = {"million": million, "large": large}
    runs = {name: partial(publish_in_vain, s) for name, s in both.items()}
    found = in_turn(runs, time.perf_counter)
    row("release of 10^6 reports, by the clock", found["million"])
    row("release of 10^7 reports, by the clock", found["large"])
    print(f"  {'  time for 10^6 reports':52} {found['large'] / found['million']:9.2f} times")


def row(title: str, seconds: float, against: float | None = None, what: str = "") -> None:
    ratio = f"  {against / seconds:6.2f} {what}" if against else ""
    print(f"  {title:52} {1000 * seconds:9.2f} ms{ratio}")


# --- Growth ---------------------------------------------------------------------------------------


def growth(sizes: list[int]) -> None:
    """One survey that grows: what it has cost when so many reports have come in.

    With a background question. As in operation: a full batch comes in, is moved, and what it
    leaves is vacuumed; a crowd stays behind.
    """
    from aggregation.releases.collect import BATCH_SIZE, collect
    from aggregation.releases.publish import publish
    from survey.database import database

    def move() -> None:
        collect(survey)
        database().vacuum(["survey_report"], wait=False)

    survey = opened("growth", background=1)
    before, nothing = bytes_of("aggregation_batch"), bytes_of("survey_report")
    print("\n  growth, with a background question of 6 options: bytes and microseconds a report,")
    print("  by the clock, at the end of each line")
    print(f"  {'reports':>13}  inbox    ids  batch  |  insert    move  |  release, ms")
    held, inbox = 0, 0.0
    for size in sizes:
        inserted = moved = 0.0
        new = size - held
        while held < size:
            some = min(BATCH_SIZE, size - held)
            inserted += seconds(partial(insert, survey, some))
            inbox = inbox or (bytes_of("survey_report") - nothing) / some
            moved += seconds(move)
            held += some
        ids = bytes_of("survey_report") / held
        packed = (bytes_of("aggregation_batch") - before) / held
        released = seconds(lambda: publish(survey))
        print(
            f"  {size:>13,} {inbox:6.1f} {ids:6.1f} {packed:6.2f}  |"
            f"  {1e6 * inserted / new:6.2f}  {1e6 * moved / new:6.2f}  |  {1000 * released:6.1f}"
        )
    print(f"  {'bytes of a report in its batch':52} {bytes_a_report(survey):9.3f}")
    for size in BEYOND:
        print(
            f"  {size:>13,}: at that slope {ids * size / 1e9:.0f} GB of ids,"
            f" {packed * size / 1e9:.1f} GB of batches, {moved / new * size / 3600:.1f} h of moving"
        )


def insert(survey: Any, reports: int) -> None:
    """Fill the inbox by the fastest way there is; what ingest takes is bench.ingest's business."""
    from django.db import connection, transaction

    table = "survey_report (id, survey_id, content)"
    for some in chunks(reports, 50_000):
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                values = [(pk.hex, survey.pk, content) for pk, content in some]
                cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s)", values)
            else:
                with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    for pk, content in some:
                        copy.write_row((pk, survey.pk, content))


def chunks(reports: int, size: int) -> Iterator[list[tuple[UUID, bytes]]]:
    random = np.random.default_rng(SEED)
    for start in range(0, reports, size):
        number = min(size, reports - start)
        ids = os.urandom(16 * number)
        most = [2] * QUESTIONS + [GROUPS + 1]
        contents = random.integers(0, most, (number, len(most)), dtype=np.uint8)
        yield [
            (UUID(bytes=ids[16 * i : 16 * i + 16], version=4), contents[i].tobytes())
            for i in range(number)
        ]


def seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def bytes_of(table: str) -> int:
    """With its indexes, and what it keeps outside."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT sum(pgsize) FROM dbstat WHERE name IN"
                " (SELECT name FROM sqlite_master WHERE tbl_name = %s) AND aggregate = TRUE",
                [table],
            )
        else:
            cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [table])
        return int(cursor.fetchone()[0] or 0)


# --- Against other packages -----------------------------------------------------------------------

OPTIONS, EPSILON = 5, 2.0
MORE, FEWER = 99, 3  # rounds of what takes a millisecond, and of what takes a quarter of a second
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


def compare() -> None:
    """The same reports, the same epsilon: ours from packed batches and with intervals.

    Theirs are from a list, which they read fastest, and without intervals. The two packages are
    installed for this run only, into a folder that is removed afterwards; where that fails they are
    left out. By the processor, since they run one after the other; nobody uses more than one.
    """
    question = Question("q", "?", options_from_texts([f"Option {i}" for i in range(OPTIONS)]))
    design = build(EPSILON, [question])
    channel = Channel(*design.blocks[0].mechanism.channel(0))
    rng = np.random.default_rng(SEED)
    keep = math.expm1(EPSILON) / (math.expm1(EPSILON) + OPTIONS)
    answers = rng.choice(OPTIONS, size=MILLION, p=[0.5, 0.3, 0.15, 0.05, 0.0])
    kept = rng.random(MILLION) < keep
    reports = np.where(kept, answers, rng.integers(0, OPTIONS, MILLION)).astype(np.uint8)
    cut = [reports[i : i + 65_536, None] for i in range(0, MILLION, 65_536)]
    parts = [(pack(rows, design), len(rows)) for rows in cut]

    def shares() -> list[proportion.Estimate]:
        counts = recount(parts, design)["q"][""][0]
        return proportion.estimates(counts, sum(counts), channel)

    ours = in_turn({"ours": shares}, time.process_time, MORE)["ours"]
    print(f"\n{OPTIONS} shares from {MILLION:,} reports; processor, median of {MORE} or {FEWER}")
    show("Candor, with exact intervals", ours, ours, [one.value for one in shares()])
    for name, (spent, found) in others(reports).items():
        show(name, spent, ours, found)


def show(name: str, spent: float, ours: float, values: list[float]) -> None:
    text = " ".join(f"{value:+.4f}" for value in values)
    print(f"  {name:30} {1000 * spent:9.2f} ms  {spent / ours:7.1f} times   {text}")


def others(reports: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        try:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            wanted = ["pure-ldp", "multi-freq-ldpy", *UNDECLARED]
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *wanted],
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
    main(sys.argv[1:])
