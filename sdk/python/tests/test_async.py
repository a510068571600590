"""AsyncToolwire against the server that TOOLWIRE_BINARY names: what an event loop does to calls and to a client."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.fake import LIMIT, until
from tests.processes import SDK
from toolwire import Accepted, AsyncToolwire, Chunk, Closed, Context, Unavailable
from toolwire._stubs.toolwire.v1 import call_pb2
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
needs_server = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
pytestmark = pytest.mark.anyio
MANY = 30


class Tools:
    """What runs now, and what was stopped."""

    running = stopped = 0


async def meet() -> dict[str, int]:
    """Ends once all calls are under way."""
    Tools.running += 1
    while Tools.running < MANY:
        await asyncio.sleep(0.01)
    return {"running": Tools.running}


async def wait(*, ctx: Context) -> dict[str, str]:
    """Never ends."""
    Tools.running += 1
    try:
        await ctx.chunk({"begun": True})
        await asyncio.Event().wait()
    finally:
        Tools.stopped += 1
    return {}


@pytest.fixture
async def tools() -> AsyncIterator[AsyncToolwire]:
    Tools.running = Tools.stopped = 0
    async with AsyncToolwire.local(meet, wait, slots=MANY) as client:
        yield client


async def ends(tools: AsyncToolwire) -> list[str]:
    """Those of all calls, by the server's own records, once none runs."""
    for _ in range(1000):
        listed: pb.ListCallsResponse = await tools._rpc.unary(pb.ListCallsRequest(), LIMIT)
        found = [call_pb2.CallState.Name(it.state).removeprefix("CALL_STATE_") for it in listed.calls]
        if "RUNNING" not in found:
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(found)


@needs_server
async def test_calls_of_a_gather_are_under_way_at_once(tools: AsyncToolwire) -> None:
    results = await asyncio.gather(*(tools.call("meet") for _ in range(MANY)))
    assert [it.data for it in results] == [{"running": MANY}] * MANY


async def cancel_the_task(tools: AsyncToolwire) -> None:
    task = asyncio.create_task(tools.call("wait"))
    await until(lambda: Tools.running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def let_a_timeout_pass(tools: AsyncToolwire) -> None:
    async def call() -> None:
        await tools.call("wait")

    task = asyncio.create_task(asyncio.wait_for(call(), 0.5))
    with pytest.raises(asyncio.TimeoutError):
        await task


async def leave_a_stream(tools: AsyncToolwire) -> None:
    async for event in tools.stream("wait"):
        if isinstance(event, Chunk):
            break


async def close_a_stream(tools: AsyncToolwire) -> None:
    events = tools.stream("wait")
    assert isinstance(await anext(events), Accepted)
    await until(lambda: Tools.running)
    await events.aclose()


async def cancel_a_stream(tools: AsyncToolwire) -> None:
    async def read() -> None:
        async for _ in tools.stream("wait"):
            pass

    task = asyncio.create_task(read())
    await until(lambda: Tools.running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancel_a_text(tools: AsyncToolwire) -> None:
    task = asyncio.create_task(tools.call_text("wait"))
    await until(lambda: Tools.running)
    task.cancel()
    await asyncio.wait([task])


@needs_server
@pytest.mark.parametrize(
    "leave",
    [cancel_the_task, let_a_timeout_pass, leave_a_stream, close_a_stream, cancel_a_stream, cancel_a_text],
)
async def test_what_is_left_is_cancelled_in_the_server(
    tools: AsyncToolwire, leave: Callable[[AsyncToolwire], Awaitable[None]]
) -> None:
    await leave(tools)
    # The function hears of it, and the record of the call says it.
    await until(lambda: Tools.stopped)
    assert await ends(tools) == ["CANCELLED"]
    assert Tools.running == 1


@needs_server
async def test_calls_under_way_are_told_that_their_client_is_closed(tools: AsyncToolwire) -> None:
    call = asyncio.create_task(tools.call("wait", request_id="0196f1c2-7a4b-7c3d-8e5f-0123456789ab"))

    async def read() -> None:
        async for _ in tools.stream("wait"):
            pass

    stream = asyncio.create_task(read())
    await until(lambda: Tools.running == 2)
    other = AsyncToolwire.connect(tools.url)
    await tools._rpc.close()
    for task in (call, stream):
        with pytest.raises(Closed, match=f"this client of {tools.url} is closed") as closed:
            await task
        assert (closed.value.code, closed.value.retryable) == ("CLOSED", False)
    await until(lambda: Tools.stopped == 2)
    assert await ends(other) == ["CANCELLED"] * 2
    await other.close()


async def test_a_client_that_is_closed_says_so() -> None:
    client = AsyncToolwire.connect("http://127.0.0.1:1")
    assert repr(client) == "AsyncToolwire(http://127.0.0.1:1, without a token)"
    await client.close()
    await client.close()
    for ask in (client.list_tools(), client.call("a"), client.tasks.get("a"), anext(client.stream("a"))):
        with pytest.raises(Closed):
            await ask
    assert repr(client).endswith(", closed)")


def test_a_second_loop_is_told_to_make_a_client_of_its_own() -> None:
    client = AsyncToolwire.connect("http://127.0.0.1:1", retries=0)

    async def ask() -> Any:
        await client.call("a", timeout=1)

    with pytest.raises(Unavailable):
        asyncio.run(ask())
    for work in (ask, client.close):
        with pytest.raises(RuntimeError, match="belongs to another event loop: make one in each loop"):
            asyncio.run(work())


FORKS = '''
import asyncio, os
from toolwire import AsyncToolwire, ToolwireError

async def call(client):
    try:
        await client.call("a", timeout=5)
    except ToolwireError:
        return "asked"
    except RuntimeError as error:
        return str(error)

async def main():
    client = AsyncToolwire.connect("http://127.0.0.1:1", retries=0)
    print(await call(client), flush=True)
    if os.fork() == 0:
        try:
            for each in (client, None):
                asyncio._set_running_loop(None)
                made = each or AsyncToolwire.connect("http://127.0.0.1:1", retries=0)
                print(asyncio.new_event_loop().run_until_complete(call(made)), flush=True)
        finally:
            os._exit(0)
    os.wait()
    print(await call(client), flush=True)

asyncio.run(main())
'''


def test_a_forked_process_is_told_instead_of_waiting_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(SDK)},
    )
    first, of_parents, own, last = done.stdout.splitlines()
    assert first == last == "asked", done.stderr
    assert "belongs to another event loop: make one in each loop, and in each process" in of_parents
    assert "was forked from one that serves tools or has an AsyncToolwire" in own
