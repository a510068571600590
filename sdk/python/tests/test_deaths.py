"""What the server refuses is not said again, and what dies of the host itself is noticed and replaced."""

import asyncio
import logging
from typing import Any

import grpc
import pytest

from tests.conftest import Attach
from tests.fake import FakeServer, FakeSlot, read_outcome, until
from tests.test_host import WRITE, add
from toolwire import NotFound
from toolwire._call import Call
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target

pytestmark = pytest.mark.anyio
REFUSED = [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE]
DONE = ("PARSE_ERROR", "The write was done. The server did not take its result.")


def pay(size: int) -> dict[str, str]:
    return {"text": "x" * size}


def fail(size: int) -> None:
    raise NotFound("x" * size)


async def late_on(slot: FakeSlot) -> Any:
    return read_outcome((await slot.receive("late")).outcome)


@pytest.mark.parametrize("code", REFUSED)
async def test_an_outcome_that_the_server_refuses_is_said_again_in_short_and_then_no_more(
    server: FakeServer, attach: Attach, code: grpc.StatusCode
) -> None:
    host = await attach((pay, WRITE), (fail, WRITE), add)
    for tool, short in [("pay", DONE), ("fail", ("NOT_FOUND", "The call failed; the server did not take its error."))]:
        slot = await server.slot()
        await slot.start(tool, size=100_000)
        await slot.receive("outcome")
        slot.kill(code)
        again = await server.slot()
        assert await late_on(again) == short
        again.kill(code)
        last = await server.slot()
        assert await last.call("add", a=1, b=1) == {"sum": 2}
        assert last.inbox.empty()
        assert not host.shared.lates
        last.kill()


async def test_of_several_ends_the_largest_is_the_one_that_is_refused(server: FakeServer, attach: Attach) -> None:
    host = await attach((pay, WRITE), slots=2)
    first, second = await server.slot(), await server.slot()
    for slot, size in ((first, 10), (second, 1_000_000)):
        await slot.start("pay", size=size)
        await slot.receive("outcome")
    first.kill()
    assert await late_on(second) == {"text": "x" * 10}
    second.kill(grpc.StatusCode.RESOURCE_EXHAUSTED)
    slots = [await server.slot(), await server.slot()]
    await until(lambda: sum(slot.inbox.qsize() for slot in slots) == 2)
    lates = [read_outcome(slot.inbox.get_nowait().late.outcome) for slot in slots for _ in range(slot.inbox.qsize())]
    assert sorted(lates, key=str) == sorted([DONE, {"text": "x" * 10}], key=str)
    assert len(host.shared.lates) == 2


async def test_an_outcome_that_was_lost_with_its_connection_is_said_again_as_it_is(
    server: FakeServer, attach: Attach
) -> None:
    await attach((pay, WRITE))
    slot = await server.slot()
    await slot.start("pay", size=10)
    await slot.receive("outcome")
    slot.kill()
    for _ in range(3):
        again = await server.slot()
        assert await late_on(again) == {"text": "x" * 10}
        again.kill()


async def test_a_call_whose_task_dies_ends_with_its_slot_which_is_opened_again(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await attach(add)
    run = Call.run

    async def die(*_: Any) -> host_pb2.Outcome:
        monkeypatch.setattr(Call, "run", run)
        raise RuntimeError("dead")

    monkeypatch.setattr(Call, "run", die)
    slot = await server.slot()
    call_id = await slot.start("add", a=1, b=1)
    again = await server.slot()
    assert await again.call("add", a=1, b=1) == {"sum": 2}
    assert f"the task of call {call_id} ended" in caplog.text


async def test_slots_whose_tasks_are_cancelled_are_opened_again(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture
) -> None:
    host = await attach(add, slots=3)
    await server.count(3)
    (site,) = host._sites.values()
    for task in list(site.slots.values()):
        task.cancel()
    await server.count(6)
    assert await server.slots[-1].call("add", a=1, b=1) == {"sum": 2}
    assert len(site.slots) == 3
    assert "a slot ended, and is opened again" in caplog.text


async def test_a_slot_whose_server_answers_what_cannot_be_read_is_opened_again(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def odd(_: Any) -> Any:
        monkeypatch.undo()
        raise ValueError("odd metadata")

    await attach(add)
    monkeypatch.setattr("toolwire._slot.Refused.of", odd)
    (await server.slot()).kill()
    assert await (await server.slot()).call("add", a=1, b=1) == {"sum": 2}
    assert "a slot broke, and is opened again" in caplog.text


@pytest.mark.parametrize("error", [UnicodeError("label too long"), RuntimeError("odd"), asyncio.CancelledError()])
async def test_what_keeps_the_slots_is_begun_again(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    error: BaseException,
) -> None:
    addresses = Target.addresses

    async def odd(_: Target) -> set[str]:
        monkeypatch.setattr(Target, "addresses", addresses)
        raise error

    monkeypatch.setattr(Target, "addresses", odd)
    monkeypatch.setattr("toolwire._host.TICK", 0.05)
    with caplog.at_level(logging.ERROR, "toolwire"):
        await attach(add)
    assert await (await server.slot()).call("add", a=1, b=1) == {"sum": 2}
    assert "the task that keeps the slots ended" in caplog.text
