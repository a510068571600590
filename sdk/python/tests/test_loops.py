"""What coroutines of tools do to the loop that they run on: each call has its outcome, and the host loses no slot."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Attach
from tests.fake import LIMIT, FakeServer
from tests.test_host import WRITE, add, echo
from toolwire import Context

pytestmark = pytest.mark.anyio
RELEASE, BLOCKED = threading.Event(), threading.Event()


@pytest.fixture(autouse=True)
def release() -> Iterator[None]:
    RELEASE.clear()
    BLOCKED.clear()
    yield
    RELEASE.set()


def raise_in_callback(error: type[BaseException]) -> Any:
    def throw() -> None:
        raise error

    return lambda loop: loop.call_soon(throw)


def break_loop(loop: Any) -> None:
    """Closes it, as another thread can between two of its runs."""
    loop._thread_id = None
    loop.close()


def set_another_loop(_: Any) -> None:
    other = asyncio.new_event_loop()
    asyncio.set_event_loop(other)
    other.close()


def stop_again_and_again(loop: Any, times: int = 100) -> None:
    loop.stop()
    if times:
        loop.call_soon(stop_again_and_again, loop, times - 1)


def cancel_all(_: Any) -> None:
    for task in asyncio.all_tasks():
        task.cancel()


def raise_of_handler(loop: Any) -> None:
    def exit_always(*_: object) -> None:
        raise SystemExit

    loop.set_exception_handler(exit_always)
    loop.call_soon(lambda: 1 / 0)


# What each does, and how its call ends.
HARMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "stops it": (lambda loop: loop.stop(), {"done": True}),
    "stops it again and again": (stop_again_and_again, {"done": True}),
    "closes it": (lambda loop: loop.close(), "UNKNOWN"),
    "breaks it": (break_loop, "UNKNOWN"),
    "exits": (lambda _: sys.exit(3), "UNKNOWN"),
    "exits in a callback": (lambda loop: loop.call_soon(sys.exit, 3), {"done": True}),
    "interrupts in a callback": (raise_in_callback(KeyboardInterrupt), {"done": True}),
    "raises in a callback": (raise_in_callback(RuntimeError), {"done": True}),
    "exits in a handler of errors": (raise_of_handler, {"done": True}),
    "cancels all tasks": (cancel_all, "CANCELLED"),
    "sets another loop": (set_another_loop, {"done": True}),
    "forgets that it runs": (lambda _: asyncio._set_running_loop(None), {"done": True}),
    "makes no tasks": (lambda loop: loop.set_task_factory(lambda *_, **__: None), {"done": True}),
    "runs it once more": (lambda loop: loop.run_forever(), "UNKNOWN"),
}


@pytest.mark.parametrize("harm", HARMS)
async def test_a_loop_that_a_tool_harms_runs_the_next_call(server: FakeServer, attach: Attach, harm: str) -> None:
    act, expected = HARMS[harm]

    async def harm_loop() -> dict[str, bool]:
        act(asyncio.get_running_loop())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return {"done": True}

    await attach(harm_loop, add, echo)
    slot = await server.slot()
    for _ in range(3):
        end = await slot.call("harm_loop")
        assert (end[0] if isinstance(end, tuple) else end) == expected
        assert await slot.call("echo", text="a") == {"text": "a"}
        assert await slot.call("add", a=1, b=1) == {"sum": 2}
    assert len(server.slots) == 1


async def wait(ctx: Context) -> dict[str, bool]:
    """Waits on its loop."""
    await ctx.progress("waits")
    await asyncio.get_running_loop().run_in_executor(None, RELEASE.wait, LIMIT)
    return {"waited": True}


async def test_a_call_outlives_that_its_loop_is_stopped(server: FakeServer, attach: Attach) -> None:
    async def stop() -> None:
        asyncio.get_running_loop().stop()

    await attach(wait, stop, slots=2)
    first, second = await server.slot(), await server.slot()
    await first.start("wait")
    await first.receive("progress")
    assert await second.call("stop") == {}
    RELEASE.set()
    assert await first.outcome() == {"waited": True}


async def test_calls_on_a_loop_that_breaks_end_at_once(server: FakeServer, attach: Attach) -> None:
    async def close() -> None:
        break_loop(asyncio.get_running_loop())

    await attach(wait, close, slots=2)
    first, second = await server.slot(), await server.slot()
    await first.start("wait")
    await first.receive("progress")
    await second.start("close")
    assert await first.outcome() == ("UNKNOWN", "The call failed in its program.")


def block() -> dict[str, bool]:
    """Blocks the thread that it is called on."""
    BLOCKED.set()
    return {"released": RELEASE.wait(LIMIT)}


async def block_loop(ctx: Context) -> dict[str, bool]:
    await ctx.progress("blocks")
    return block()


async def test_a_blocked_loop_holds_up_its_coroutines_alone(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture
) -> None:
    begun: list[str] = []

    async def begin() -> None:
        begun.append("begun")

    await attach(block_loop, (begin, WRITE), add, slots=3)
    first, second, third = [await server.slot() for _ in range(3)]
    await first.start("block_loop")
    await first.receive("progress")
    # What begins before it is blocked ends only after it.
    assert await asyncio.to_thread(BLOCKED.wait, LIMIT)
    assert await third.call("add", a=1, b=1) == {"sum": 2}
    assert (await second.call("begin", timeout=0.1))[0] == "TIMEOUT"
    assert "begin waited in vain for the loop" in caplog.text
    RELEASE.set()
    assert await first.outcome() == {"released": True}
    assert await second.call("begin") == {}
    assert begun == ["begun"]


async def test_a_host_whose_loop_is_blocked_leaves(server: FakeServer, attach: Attach) -> None:
    host = await attach(block_loop)
    slot = await server.slot()
    await slot.start("block_loop")
    await slot.receive("progress")
    leaving = asyncio.ensure_future(host.leave(0.1))
    await slot.receive("leaving")
    assert (await slot.outcome())[0] == "CANCELLED"
    await asyncio.wait_for(leaving, LIMIT)
    assert not RELEASE.is_set()


async def test_tasks_that_tools_have_left_are_cancelled_as_the_host_leaves(server: FakeServer, attach: Attach) -> None:
    left: list[asyncio.Task[Any]] = []

    async def leave_task() -> None:
        left.append(asyncio.create_task(asyncio.sleep(60)))

    host = await attach(leave_task)
    slot = await server.slot()
    assert await slot.call("leave_task") == {}
    await slot.leave()
    await host.leave(0)
    assert left[0].cancelled()


async def test_code_of_a_tool_never_runs_on_the_loop_of_the_host(server: FakeServer, attach: Attach) -> None:
    host_thread, seen = threading.get_ident(), set()

    class Text(Exception):
        def __str__(self) -> str:
            seen.add(threading.get_ident())
            return "text"

    class Map(dict[str, Any]):
        def items(self) -> Any:
            seen.add(threading.get_ident())
            return super().items()

    async def fail(ctx: Context) -> dict[str, Any]:
        message: Any = Text()
        await ctx.progress(message)
        await ctx.chunk(Map(a=1))
        raise Text

    async def give() -> dict[str, Any]:
        return Map(a=1)

    await attach(fail, give)
    slot = await server.slot()
    await slot.start("fail")
    for kind in ("progress", "chunk"):
        await slot.receive(kind)
    assert (await slot.outcome())[0] == "UNKNOWN"
    assert await slot.call("give") == {"a": 1}
    assert seen
    assert host_thread not in seen
