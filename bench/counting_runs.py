"""The measurements of bench.counting, in a process with a database."""

import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction

from aggregation.counting.planes import Packed, pack
from aggregation.counting.tables import recount, tables, tally
from aggregation.models import Batch
from aggregation.releases.collect import BATCH_SIZE, collect
from aggregation.releases.publish import publish
from bench.installation import Clock, in_turn
from survey import files
from survey.database import database
from survey.models import Survey, today

ROUNDS = 11
MILLION, TEN_MILLION = 10**6, 10**7
BEYOND = [10**8, 10**9]
QUESTIONS = 10
GROUPS = 5  # of a background question, besides “Prefer not to say”
SEED = 20


def measure(*sizes: str) -> None:
    print(f"\n{connection.display_name}; median of {ROUNDS} in turn")
    columns = np.random.default_rng(SEED).integers(0, 2, (QUESTIONS, TEN_MILLION), dtype=np.uint8)
    large = stored("large", columns)
    million = stored("million", columns[:, :MILLION])
    speed(large, columns)
    pairs(million, large)
    release(million, large)
    del columns
    growth([int(size) for size in sizes])


def opened(slug: str, groups: int = 0) -> Survey:
    keys = [f"q{i}" for i in range(QUESTIONS)]
    background = {"key": "g", "text": "?", "options": [f"Group {i}" for i in range(groups)]}
    data = {
        "slug": slug,
        "title": slug,
        "epsilon": 4,
        "questions": [{"key": key, "text": "?", "kind": "yes_no"} for key in keys],
        "background": [background] if groups else [],
        "blocks": [keys],
        "ask": 1,
    }
    survey = files.load(json.dumps(data))
    survey.open()
    return survey


def stored(slug: str, columns: Any) -> Survey:
    """Return a survey with these reports in batches, as the collector would have left them."""
    survey = opened(slug)
    for start in range(0, columns.shape[1], BATCH_SIZE):
        store(survey, columns[:, start : start + BATCH_SIZE].T)
    database().checkpoint()
    return survey


def store(survey: Survey, rows: Any) -> None:
    design = survey.frozen_design()
    data = pack(rows, design)
    counts = tally(data, len(rows), design)
    Batch.objects.create(
        survey=survey, reports=len(rows), made_on=today(), tally=counts, columns=data
    )


def batch_keys(survey: Survey) -> list[int]:
    return list(survey.batches.values_list("pk", flat=True))


def packed(survey: Survey) -> Iterator[Packed]:
    return Batch.objects.packed(batch_keys(survey))


# --- Output ---------------------------------------------------------------------------------------


def row(title: str, seconds: float, against: float | None = None) -> None:
    ratio = f"  {against / seconds:6.2f} of that speed" if against else ""
    print(f"  {title:52} {1000 * seconds:9.2f} ms{ratio}")


def figure(title: str, number: str) -> None:
    print(f"  {title:52} {number:>9}")


def show_bytes(survey: Survey) -> None:
    sizes = [(len(data), reports) for data, reports in packed(survey)]
    mean = sum(size for size, _ in sizes) / sum(reports for _, reports in sizes)
    figure("bytes of a report in its batch", f"{mean:.3f}")


# --- Speed ----------------------------------------------------------------------------------------


def speed(survey: Survey, columns: Any) -> None:
    design = survey.frozen_design()
    expected = [int(np.count_nonzero(column)) for column in columns]
    keys = batch_keys(survey)  # an analysis knows them as well
    found = recount(Batch.objects.packed(keys), design)
    if [found[question.key][""][0][1] for question in design.questions] != expected:
        raise RuntimeError("the tally is wrong")
    runs = {
        "numpy": lambda: [np.count_nonzero(column) for column in columns],
        "stored": lambda: recount(Batch.objects.packed(keys), design),
    }
    for name, clock in (("processor", processor()), ("clock", time.perf_counter)):
        spent = in_turn(runs, clock, ROUNDS)
        row(f"count_nonzero over bytes in memory, 10^7, {name}", spent["numpy"])
        row(f"tally from stored batches, {name}", spent["stored"], spent["numpy"])
    show_bytes(survey)


def processor() -> Clock:
    """Return a clock of the time of our processor and of PostgreSQL's process, if there is one."""
    if connection.vendor == "sqlite":
        return time.process_time
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        served = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")  # in nanoseconds
    return lambda: time.process_time() + int(served.read_text().split()[0]) / 1e9


def pairs(million: Survey, large: Survey) -> None:
    """Measure all 45 tables of two questions, in memory, where a tally is ten counts."""
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
        ROUNDS,
    )
    row("tally in memory", found["tally"])
    row(f"all {len(wanted)} tables of two, in memory", found["pairs"])
    figure("  time of the tally", f"{found['pairs'] / found['tally']:.1f} times")
    figure("  time for 10^6 reports", f"{found['pairs'] / found['fewer']:.1f} times")


# --- Releases -------------------------------------------------------------------------------------


def release(million: Survey, large: Survey) -> None:
    def publish_and_roll_back(survey: Survey) -> None:
        with transaction.atomic():
            publish(survey)
            transaction.set_rollback(True)  # or there would be nothing to publish next time

    runs = {
        "10^6": lambda: publish_and_roll_back(million),
        "10^7": lambda: publish_and_roll_back(large),
    }
    found = in_turn(runs, time.perf_counter, ROUNDS)
    for name, spent in found.items():
        row(f"release of {name} reports, by the clock", spent)
    figure("  time for 10^6 reports", f"{found['10^7'] / found['10^6']:.2f} times")


# --- Growth ---------------------------------------------------------------------------------------


def growth(sizes: list[int]) -> None:
    """Measure a survey with a background question that grows to these numbers of reports.

    As in operation, a full batch arrives, is collected and vacuumed; a crowd stays behind.
    """
    survey = opened("growth", GROUPS)

    def move() -> None:
        collect(survey)
        database().vacuum(["survey_report"], wait=False)

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
        batch = (bytes_of("aggregation_batch") - before) / held
        released = seconds(lambda: publish(survey))
        print(
            f"  {size:>13,} {inbox:6.1f} {ids:6.1f} {batch:6.2f}  |"
            f"  {1e6 * inserted / new:6.2f}  {1e6 * moved / new:6.2f}  |  {1000 * released:6.1f}"
        )
    show_bytes(survey)
    for size in BEYOND:
        print(
            f"  {size:>13,}: at that slope {ids * size / 1e9:.0f} GB of ids,"
            f" {batch * size / 1e9:.1f} GB of batches, {moved / new * size / 3600:.1f} h of moving"
        )


def insert(survey: Survey, reports: int) -> None:
    """Fill the inbox in the fastest way; bench.ingest measures how reports really arrive."""
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
    most = [2] * QUESTIONS + [GROUPS + 1]
    for start in range(0, reports, size):
        number = min(size, reports - start)
        contents = random.integers(0, most, (number, len(most)), dtype=np.uint8)
        yield [(UUID(bytes=os.urandom(16), version=4), one.tobytes()) for one in contents]


def seconds(run: Callable[[], Any]) -> float:
    return in_turn({"": run}, time.perf_counter, 1)[""]


def bytes_of(table: str) -> int:
    """Return the size of a table with its indexes and the values stored outside of it."""
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
