"""Group commit: reports that arrive together share a transaction and are judged separately."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, connections, transaction

from survey.collect import inbox as inboxes
from survey.collect.inbox import Inbox
from survey.collect.protocol import Full
from survey.models import Arrival, Recorded, Report, Survey
from tests.support import builders
from tests.support.services import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]


@pytest.fixture
def survey() -> Survey:
    return builders.opened()


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Close the thread's connection at the end, so that the database can be dropped."""
    made = Inbox()
    yield made
    made.thread.submit(lambda: connection.close()).result()
    made.thread.shutdown()


def arrival(survey: Survey, content: bytes = b"\1\3\0", pk: str = "") -> Arrival:
    return Arrival(pk or str(uuid4()), content, survey.pk)


def store(inbox: Inbox, requests: Sequence[Sequence[Arrival]]) -> list[Any]:
    """Send all requests at once; return each one's outcomes or exception."""

    async def at_once() -> list[Any]:
        return await asyncio.gather(*map(inbox.store, requests), return_exceptions=True)

    return asyncio.run(at_once())


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record how many requests each write contains."""
    sizes: list[int] = []
    write = inboxes.write

    def counted(requests: Sequence[Sequence[Arrival]]) -> Any:
        sizes.append(len(requests))
        return write(requests)

    monkeypatch.setattr(inboxes, "write", counted)
    return sizes


def test_reports_that_arrive_together_are_written_together(
    survey: Survey, inbox: Inbox, groups: list[int]
) -> None:
    sent = [arrival(survey) for _ in range(300)]
    assert store(inbox, [[one] for one in sent]) == [["stored"]] * 300
    assert set(map(str, Report.objects.values_list("pk", flat=True))) == {one.id for one in sent}
    assert groups == [300]
    assert inbox.waiting == 0 and not inbox.groups


def test_reports_that_arrive_during_a_write_wait_for_the_next(
    survey: Survey, inbox: Inbox, groups: list[int]
) -> None:
    async def one_after_the_other() -> list[Recorded]:
        first = asyncio.create_task(inbox.store([arrival(survey)]))
        await asyncio.sleep(0)  # the writer takes it
        await asyncio.sleep(0)
        rest = [asyncio.create_task(inbox.store([arrival(survey)])) for _ in range(5)]
        return [(await task)[0] for task in [first, *rest]]

    assert asyncio.run(one_after_the_other()) == ["stored"] * 6
    assert groups == [1, 5]


def test_a_transaction_has_a_largest_size(
    survey: Survey, inbox: Inbox, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "MOST_WRITTEN", 10)
    requests = [[arrival(survey) for _ in range(4)] for _ in range(5)]
    requests.append([arrival(survey) for _ in range(25)])  # more than it, alone
    assert store(inbox, requests) == [["stored"] * len(them) for them in requests]
    assert groups == [2, 2, 1, 1]


def test_one_id_many_times_at_once_is_stored_once(survey: Survey, inbox: Inbox) -> None:
    pk = str(uuid4())
    requests = [[arrival(survey, pk=pk)] for _ in range(50)]
    requests.insert(20, [arrival(survey, b"\0\3\0", pk)])
    outcomes = [outcome for (outcome,) in store(inbox, requests)]
    assert outcomes == ["stored"] + ["known"] * 50
    assert bytes(Report.objects.get().content or b"") == b"\1\3\0"


def test_each_report_gets_the_outcome_of_its_own_survey(survey: Survey, inbox: Inbox) -> None:
    closed = builders.opened(slug="closed")
    closed.close()
    requests = [
        [arrival(survey)],
        [arrival(closed)],
        [Arrival(str(uuid4()), b"\0", 999_999)],  # removed since this process looked
        [arrival(survey), arrival(closed)],
    ]
    expected = [["stored"], ["closed"], ["closed"], ["stored", "closed"]]
    assert store(inbox, requests) == expected
    assert Report.objects.count() == 2


def test_a_report_that_fails_fails_alone(survey: Survey, inbox: Inbox) -> None:
    """Checked content cannot fail, but if it does, it fails alone."""
    bad = Arrival(str(uuid4()), b"\1", 2**80)
    outcomes = store(inbox, [[arrival(survey)], [bad], [arrival(survey)]])
    assert outcomes[0] == outcomes[2] == ["stored"]
    assert isinstance(outcomes[1], Exception)
    assert Report.objects.count() == 2


def test_a_group_is_stored_in_the_order_of_its_ids(survey: Survey, inbox: Inbox) -> None:
    """Ids are random, so their order reveals nothing; the order of arrival would."""
    sent = [arrival(survey) for _ in range(200)]
    store(inbox, [[one] for one in sent])
    place = "ctid" if connection.vendor == "postgresql" else "rowid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM survey_report ORDER BY {place}")
        stored = [str(UUID(str(pk))) for (pk,) in cursor.fetchall()]
    assert stored == sorted(one.id for one in sent) != [one.id for one in sent]


def test_a_full_inbox_refuses_further_reports(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "MOST_WAITING", 10)
    outcomes = store(inbox, [[arrival(survey)] for _ in range(25)])
    assert outcomes[:10] == [["stored"]] * 10
    assert all(isinstance(outcome, Full) for outcome in outcomes[10:])
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


def test_a_backlog_that_no_worker_moves_is_bounded(
    survey: Survey, inbox: Inbox, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "backlog", inboxes.Backlog())
    monkeypatch.setattr(inboxes, "LOOK_SECONDS", 0.0)
    settings.INBOX_REPORTS = 3
    outcomes = [store(inbox, [[arrival(survey)]])[0] for _ in range(6)]
    assert outcomes[:4] == [["stored"]] * 4  # one more than the bound, and then no other
    assert all(isinstance(outcome, Full) for outcome in outcomes[4:])
    Report.objects.update(content=None)  # as a worker would, in a batch
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


def test_a_failing_store_fails_everyone_and_then_recovers(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Report.objects.record
    calls: list[int] = []

    def broken(reports: Sequence[Arrival]) -> list[Recorded]:
        calls.append(len(reports))
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Report.objects, "record", broken)
        outcomes = store(inbox, [[arrival(survey)] for _ in range(4)])
    assert all(isinstance(outcome, OperationalError) for outcome in outcomes)
    assert calls == [4]  # a dead store is not asked again for each
    assert Report.objects.record == record
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


def test_a_hanging_store_is_given_up_after_a_while(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender retries; it does no harm if the report was stored after all."""
    release = threading.Event()
    record = Report.objects.record

    def slow(reports: Sequence[Arrival]) -> list[Recorded]:
        release.wait()
        return record(reports)

    monkeypatch.setattr(inboxes, "COMMIT_SECONDS", 0.1)
    one = arrival(survey)

    async def impatient() -> tuple[Any, Any]:
        with monkeypatch.context() as patch:
            patch.setattr(Report.objects, "record", slow)
            first = await asyncio.gather(inbox.store([one]), return_exceptions=True)
            release.set()
            if inbox.writer:
                await inbox.writer
        monkeypatch.setattr(inboxes, "COMMIT_SECONDS", 20)
        return first[0], await inbox.store([one])

    first, again = asyncio.run(impatient())
    assert isinstance(first, TimeoutError) and again == ["known"]


@pytest.mark.postgresql
def test_a_group_that_finds_its_connection_ended_is_stored_on_another(
    survey: Survey, inbox: Inbox, groups: list[int]
) -> None:
    """After a restart of the database, nobody has to retry."""
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]
    pid = inbox.thread.submit(lambda: connection.connection.info.backend_pid).result()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        assert cursor.fetchone() == (True,)
    assert store(inbox, [[arrival(survey)] for _ in range(3)]) == [["stored"]] * 3
    assert groups == [1, 3]


def test_a_group_is_tried_twice_and_not_more_often(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def broken(reports: Sequence[Arrival]) -> list[Recorded]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        calls.append(len(reports))
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Report.objects, "record", broken)
        patch.setattr(type(connections["default"]), "is_usable", lambda _: False)
        (outcome,) = store(inbox, [[arrival(survey)]])
    assert isinstance(outcome, OperationalError) and calls == [1, 1]
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


# --- Faults outside the write ---------------------------------------------------------------------


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


def test_a_fault_in_taking_reports_ends_with_those_who_wait(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(inbox, "_take", fail)
        outcomes = store(inbox, [[arrival(survey)] for _ in range(3)])
    assert [type(outcome) for outcome in outcomes] == [ZeroDivisionError] * 3
    assert inbox.waiting == 0 and not inbox.groups
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


@pytest.mark.parametrize("outcomes", [fail, lambda _: [], lambda _: None], ids=["", "few", "none"])
def test_a_fault_of_the_writer_ends_with_those_who_wait(
    survey: Survey, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, outcomes: Callable[..., Any]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(inboxes, "write", outcomes)
        found = store(inbox, [[arrival(survey)] for _ in range(3)])
    assert all(isinstance(outcome, Exception) for outcome in found)
    assert inbox.waiting == 0 and not inbox.groups
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]


def test_a_request_that_cannot_be_told_harms_no_other(survey: Survey, inbox: Inbox) -> None:
    """Its event loop may have ended; its report is stored anyway."""

    class Deaf(asyncio.Future[list[Recorded]]):
        def set_result(self, result: list[Recorded]) -> None:
            raise RuntimeError("Event loop is closed")

        set_exception = set_result  # type: ignore[assignment]

    async def among_others() -> list[Any]:
        first = asyncio.create_task(inbox.store([arrival(survey)]))
        await asyncio.sleep(0)  # handed in
        inbox.groups.append(([arrival(survey)], Deaf()))
        inbox.waiting += 1
        return [await first, await inbox.store([arrival(survey)])]

    assert asyncio.run(among_others()) == [["stored"], ["stored"]]
    assert inbox.waiting == 0 and not inbox.groups
    assert store(inbox, [[arrival(survey)]]) == [["stored"]]
    assert Report.objects.count() == 4


def test_a_writer_that_is_cancelled_is_followed_by_another(survey: Survey, inbox: Inbox) -> None:
    async def cancelled() -> list[Recorded]:
        first = asyncio.create_task(inbox.store([arrival(survey)]))
        await asyncio.sleep(0)
        assert inbox.writer
        inbox.writer.cancel()
        await asyncio.wait([inbox.writer])
        first.cancel()
        return await inbox.store([arrival(survey)])

    assert asyncio.run(cancelled()) == ["stored"]
    assert inbox.waiting == 0 and not inbox.groups


# --- The end --------------------------------------------------------------------------------------


def test_draining_waits_for_all_that_was_handed_in(
    survey: Survey, inbox: Inbox, groups: list[int]
) -> None:
    going_on = threading.Event()
    inbox.thread.submit(going_on.wait)

    async def end() -> None:
        senders = [asyncio.create_task(inbox.store([arrival(survey)])) for _ in range(3)]
        await asyncio.sleep(0)
        drained = asyncio.create_task(inbox.drain())
        await asyncio.sleep(0)
        senders.append(asyncio.create_task(inbox.store([arrival(survey)])))  # during it
        for _ in range(10):
            await asyncio.sleep(0)
        assert not drained.done()
        going_on.set()
        await drained
        assert inbox.waiting == 0 and not inbox.groups
        for sender in senders:
            assert await sender == ["stored"]

    asyncio.run(end())
    assert Report.objects.count() == 4 and sum(groups) == 4


def test_an_empty_inbox_is_drained_at_once(inbox: Inbox) -> None:
    asyncio.run(inbox.drain())


# --- A survey that closes at the same moment ------------------------------------------------------


def in_thread(call: Callable[[], Any]) -> "Future[Any]":
    """Run it in a thread and close the thread's connection afterwards."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)
        finally:
            connection.close()

    threading.Thread(target=run).start()
    return done


# SQLite has one writer at a time.


def await_waiting() -> None:
    """Wait until someone waits for one of our locks."""

    def blocked() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND datname = current_database()"
            )
            return cursor.fetchone() is not None

    wait_until(blocked, 60, "somebody who waits for us")


@pytest.mark.postgresql
def test_a_report_that_waits_for_a_closing_survey_is_too_late(survey: Survey) -> None:
    with transaction.atomic():
        survey.close()
        late = in_thread(lambda: Report.objects.record([arrival(survey)]))
        await_waiting()
        assert not late.done()
    assert late.result() == ["closed"]
    assert not Report.objects.exists()


@pytest.mark.postgresql
def test_a_closing_survey_waits_for_what_is_being_stored(survey: Survey) -> None:
    with transaction.atomic():
        assert Report.objects.record([arrival(survey)]) == ["stored"]
        closed = in_thread(lambda: Survey.objects.get(pk=survey.pk).close())
        await_waiting()
        assert not closed.done()
    closed.result()
    assert survey.pending().count() == 1


@pytest.mark.postgresql
def test_a_release_does_not_hold_up_reports(survey: Survey) -> None:
    with transaction.atomic():
        survey.hold()
        stored = in_thread(lambda: Report.objects.record([arrival(survey)]))
        assert stored.result() == ["stored"]
