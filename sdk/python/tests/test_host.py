"""A host, as a server sees it: greeting, calls one after another, progress, cancellation, the end of a slot."""

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from tests.conftest import Attach
from tests.fake import LIMIT, FakeServer, read_outcome
from toolwire import Context, NotFound, RateLimited, Refused
from toolwire._call import Call
from toolwire._loop import ToolLoop
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import make

pytestmark = pytest.mark.anyio
WRITE = {"write": True}


def add(a: int, b: int) -> dict[str, int]:
    """Adds."""
    return {"sum": a + b}


async def echo(text: str) -> dict[str, str]:
    return {"text": text}


async def sleep(*, ctx: Context) -> dict[str, bool]:
    await ctx.progress("asleep")
    await asyncio.sleep(60)
    return {"slept": True}


async def test_offers_are_sent_once_and_only_to_a_server_that_does_not_know_them(
    server: FakeServer, attach: Attach
) -> None:
    await attach(add, echo, slots=3, token="secret")
    await server.count(3)
    first, *others = server.slots
    assert [len(hello.offers) for hello in first.hellos] == [0, 2]
    assert [len(hello.offers) for slot in others for hello in slot.hellos] == [0, 0]
    assert [offer.name for offer in first.hellos[1].offers] == ["add", "echo"]
    assert {hello.instance for slot in server.slots for hello in slot.hellos} == {first.hellos[0].instance}
    assert first.hellos[0].protocol == 1
    assert first.hellos[0].sdk.startswith("python/")
    assert first.metadata["authorization"] == "Bearer secret"


async def test_a_catalogue_is_named_by_what_it_offers(server: FakeServer, attach: Attach) -> None:
    hosts = [await attach(add), await attach(add), await attach((add, {"title": "Sum"}))]
    first, second, third = (host.shared.hello for host in hosts)
    assert first.catalogue_id == second.catalogue_id != third.catalogue_id
    assert first.instance != second.instance


async def test_a_slot_goes_on_to_the_next_call(server: FakeServer, attach: Attach) -> None:
    await attach(add, echo)
    slot = await server.slot()
    for number in range(50):
        assert await slot.call("add", a=number, b=1) == {"sum": number + 1}
        assert await slot.call("echo", text="é") == {"text": "é"}
    assert len(server.slots) == 1


async def test_the_context_says_on_whose_behalf(server: FakeServer, attach: Attach) -> None:
    seen: list[Context] = []

    def look(ctx: Context) -> None:
        seen.append(ctx)

    await attach(look)
    slot = await server.slot()
    call_id = await slot.start("look", timeout=2)
    assert await slot.outcome() == {}
    assert (seen[0].call_id, seen[0].user.id, seen[0].task_id) == (call_id, "riley", "task_1")
    assert seen[0].request_id
    assert 1 < seen[0].remaining <= 2


async def test_functions_that_block_run_side_by_side(server: FakeServer, attach: Attach) -> None:
    meeting = threading.Barrier(2, timeout=LIMIT)

    def meet() -> dict[str, bool]:
        meeting.wait()
        return {"met": True}

    await attach(meet, slots=2)
    slots = [await server.slot(), await server.slot()]
    assert await asyncio.gather(*(slot.call("meet") for slot in slots)) == [{"met": True}] * 2


async def test_ten_messages_of_progress_a_second_arrive_and_the_newest_is_among_them(
    server: FakeServer, attach: Attach
) -> None:
    async def flood(ctx: Context) -> None:
        for number in range(1000):
            await ctx.progress(f"step {number}", number / 1000)
        await asyncio.sleep(0.35)

    await attach(flood)
    slot = await server.slot()
    await slot.start("flood")
    first, second = await slot.receive("progress"), await slot.receive("progress")
    assert (first.message, first.fraction) == ("step 0", 0)
    assert (second.message, second.fraction) == ("step 999", 0.999)
    assert await slot.outcome() == {}


async def test_progress_that_waits_for_its_turn_never_follows_the_outcome(server: FakeServer, attach: Attach) -> None:
    async def quick(ctx: Context) -> None:
        for number in range(3):
            await ctx.progress(str(number))

    await attach(quick)
    slot = await server.slot()
    for _ in range(3):
        await slot.start("quick")
        assert (await slot.receive("progress")).message == "0"
        assert await slot.outcome() == {}
    await asyncio.sleep(0.2)
    assert slot.inbox.empty()


async def test_chunks_and_progress_come_from_threads_too(server: FakeServer, attach: Attach) -> None:
    def stream(count: int, ctx: Context) -> dict[str, int]:
        ctx.progress("begun")
        for number in range(count):
            ctx.chunk({"number": number})
        return {"count": count}

    await attach(stream)
    slot = await server.slot()
    await slot.start("stream", count=3)
    assert not (await slot.receive("progress")).HasField("fraction")
    assert [(await slot.receive("chunk")).data_json for _ in range(3)] == [f'{{"number":{n}}}' for n in range(3)]
    assert await slot.outcome() == {"count": 3}


async def test_cancel_reaches_a_coroutine_at_once(server: FakeServer, attach: Attach) -> None:
    await attach(sleep, add, slots=2)
    slot, other = await server.slot(), await server.slot()
    for _ in range(3):
        call_id = await slot.start("sleep")
        await slot.receive("progress")
        await slot.cancel(call_id)
        outcome = asyncio.ensure_future(slot.outcome())
        # A machine under load slows these too: 100 of them take 0.1 s on one that is not.
        for _ in range(100):
            await other.call("add", a=1, b=1)
        assert outcome.done()
        assert await outcome == ("CANCELLED", "The call was cancelled.")


async def test_cancel_that_comes_with_its_call_keeps_the_function_from_being_begun() -> None:
    async def note() -> None:
        raise AssertionError("begun")

    async def send(_: host_pb2.WorkRequest) -> None:
        raise AssertionError("sent")

    call = Call(host_pb2.Start(call_id="1", tool="note"), make(note), send)
    running = asyncio.ensure_future(call.run(ThreadPoolExecutor(), ToolLoop("unused")))
    call.cancel(host_pb2.CANCEL_REASON_REQUESTED)
    assert read_outcome(await running)[0] == "CANCELLED"


async def test_cancel_of_a_call_that_has_ended_is_ignored(server: FakeServer, attach: Attach) -> None:
    await attach(add, sleep)
    slot = await server.slot()
    ended = await slot.start("add", a=1, b=1)
    await slot.outcome()
    running = await slot.start("sleep")
    await slot.receive("progress")
    await slot.cancel(ended)
    await asyncio.sleep(0.05)
    assert slot.inbox.empty()
    await slot.cancel(running)
    assert (await slot.outcome())[0] == "CANCELLED"


async def test_what_was_done_although_it_was_cancelled_is_said(server: FakeServer, attach: Attach) -> None:
    async def finish(ctx: Context) -> dict[str, bool]:
        try:
            await ctx.progress("begun")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return {"cancelled": ctx.cancelled}
        return {}

    await attach((finish, WRITE))
    slot = await server.slot()
    call_id = await slot.start("finish")
    await slot.receive("progress")
    await slot.cancel(call_id)
    assert await slot.outcome() == {"cancelled": True}


async def test_a_cancelled_write_of_progress_does_not_take_the_stream_with_it(
    server: FakeServer, attach: Attach
) -> None:
    async def stream(ctx: Context) -> None:
        while True:
            await ctx.chunk({"text": "x" * 100_000})

    await attach(stream)
    slot = await server.slot()
    call_id = await slot.start("stream")
    await slot.receive("chunk")
    await slot.cancel(call_id)
    while (message := await asyncio.wait_for(slot.inbox.get(), LIMIT)).HasField("chunk"):
        pass
    assert read_outcome(message.outcome)[0] == "CANCELLED"
    assert len(server.slots) == 1


async def test_the_deadline_is_counted_from_the_arrival(server: FakeServer, attach: Attach) -> None:
    await attach(sleep)
    slot = await server.slot()
    began = time.monotonic()
    await slot.start("sleep", timeout=0.2)
    await slot.receive("progress")
    assert (await slot.outcome())[0] == "TIMEOUT"
    assert 0.19 < time.monotonic() - began < LIMIT / 2


async def test_a_function_in_a_thread_sees_that_it_is_to_stop_and_keeps_its_slot(
    server: FakeServer, attach: Attach
) -> None:
    def count(polite: bool, ctx: Context) -> dict[str, bool]:
        while not ctx.cancelled:
            time.sleep(0.005)
        if polite:
            return {"stopped": True}
        ctx.progress("still here")
        raise AssertionError("unreachable: a call that is to stop cannot go on")

    await attach(count)
    slot = await server.slot()
    assert await slot.call("count", timeout=0.1, polite=True) == {"stopped": True}
    assert (await slot.call("count", timeout=0.1, polite=False))[0] == "TIMEOUT"


def fail(how: str) -> Any:
    if how == "not found":
        NotFound("no such order").throw()
    if how == "limited":
        raise RateLimited("too much", retry_after=2)
    if how == "exit":
        raise SystemExit(3)
    if how == "stop":
        raise StopIteration
    if how == "cancelled":
        raise asyncio.CancelledError
    return {
        "set": {"a": object()}, "nan": {"a": float("nan")}, "surrogate": {"a": "\ud800"}, "list": [1, 2],
        "large": {"a": "x" * 3_200_000}, "wide": {"a": "é" * 1_600_000}, "fits": {"a": "x" * 3_000_000},
    }.get(how) or 1 / 0


async def fail_async(how: str) -> Any:
    return fail(how)


@pytest.mark.parametrize("tool", ["fail", "fail_async"])
@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("not found", "NOT_FOUND"), ("limited", "RATE_LIMITED"), ("exit", "UNKNOWN"), ("stop", "UNKNOWN"),
        ("raise", "UNKNOWN"), ("cancelled", "CANCELLED"), ("set", "PARSE_ERROR"), ("nan", "PARSE_ERROR"),
        ("surrogate", "PARSE_ERROR"), ("large", "RESULT_TOO_LARGE"), ("wide", "RESULT_TOO_LARGE"),
    ],
)
async def test_a_failure_is_an_outcome_and_the_host_goes_on(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture, tool: str, how: str, code: str
) -> None:
    await attach(fail, fail_async)
    slot = await server.slot()
    call_id = await slot.start(tool, how=how)
    error = (await slot.receive("outcome")).error
    assert host_pb2.WorkRequest(outcome=host_pb2.Outcome(call_id=call_id, error=error)).ByteSize() < 500
    assert f"TOOL_ERROR_CODE_{code}" in str(error)
    assert "ZeroDivision" not in error.message
    if code == "RATE_LIMITED":
        assert error.retryable
        assert error.retry_after.ToMilliseconds() == 2000
    if code in ("UNKNOWN", "PARSE_ERROR"):
        assert call_id in caplog.text, "an operator finds it by its call"
    assert await slot.call(tool, how="list") == {"result": [1, 2]}
    assert len((await slot.call(tool, how="fits"))["result"]["a"]) == 3_000_000


async def test_arguments_that_no_type_reads_and_tools_that_are_not_offered_are_outcomes(
    server: FakeServer, attach: Attach
) -> None:
    await attach(add)
    slot = await server.slot()
    assert (await slot.call("add", a="x", b=1))[0] == "INVALID_ARGUMENT"
    for raw in ("[1]", "{", '{"a": NaN, "b": 1}', '{"a": 1, "b": 1, "c": 1}', '{"a": 1}', "[" * 100_000):
        assert (await slot.call("add", raw=raw))[0] == "INVALID_ARGUMENT", raw[:20]
    assert (await slot.call("subtract"))[0] == "UNAVAILABLE"


async def test_pings_are_answered_while_idle_and_while_busy(server: FakeServer, attach: Attach) -> None:
    await attach(sleep)
    slot = await server.slot()
    await slot.send(ping=host_pb2.Ping())
    await slot.receive("pong")
    await slot.start("sleep")
    await slot.receive("progress")
    await slot.send(ping=host_pb2.Ping())
    await slot.receive("pong")


async def test_a_second_call_on_a_busy_slot_ends_the_stream(server: FakeServer, attach: Attach) -> None:
    await attach(sleep)
    slot = await server.slot()
    await slot.start("sleep")
    await slot.receive("progress")
    await slot.start("sleep")
    await server.count(2)


@pytest.mark.parametrize("code", ["UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION"])
async def test_a_host_that_the_server_will_not_have_is_told_why(
    server: FakeServer, attach: Attach, code: str
) -> None:
    server.refusal = grpc.StatusCode[code], "REASON"
    host = await attach(add, slots=16, join=False)
    with pytest.raises(Refused, match="REASON: refused") as refused:
        await host.join()
    assert (refused.value.status, refused.value.reason) == (code, "REASON")
    await asyncio.wait_for(host.leave(LIMIT), LIMIT / 2)


async def test_a_server_that_has_no_room_is_asked_again(server: FakeServer, attach: Attach) -> None:
    server.refusal = grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_SLOTS"
    host = await attach(add, join=False)
    await asyncio.sleep(0.3)
    server.refusal = None
    await asyncio.wait_for(host.join(), LIMIT)


async def test_verdicts_are_logged_once(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture
) -> None:
    problem = host_pb2.Problem(pointer="/name", rule="owned-by-another", description="is a tool of billing")
    state = host_pb2.VERDICT_STATE_REFUSED
    server.verdicts = [host_pb2.Verdict(tool="add", state=state, problems=[problem])]
    with caplog.at_level(logging.WARNING, "toolwire"):
        await attach(add, echo, slots=3)
        await server.count(3)
    refused, hint = [record.getMessage() for record in caplog.records]
    assert refused.startswith("refused: add: /name is a tool of billing (")
    assert refused.endswith(f"{add.__code__.co_filename}:{add.__code__.co_firstlineno})")
    assert hint.startswith("a provider keeps the names of its tools for 10 minutes after its programs have ended")
