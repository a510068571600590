"""Generators: each value that one yields is a chunk, and the result is what it returns or all that it has yielded."""

import asyncio
import functools
import json
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Attach
from tests.fake import LIMIT, FakeServer
from toolwire._tool import make

pytestmark = pytest.mark.anyio
ENDED: list[str] = []


@dataclass
class Line:
    number: int


def count(to: int) -> Iterator[int]:
    yield from range(to)


async def count_later(to: int) -> AsyncIterator[int]:
    for number in range(to):
        await asyncio.sleep(0)
        yield number


def lines(to: int) -> Generator[Line, None, dict[str, int]]:
    for number in range(to):
        yield Line(number)
    return {"count": to}


def may_return(to: int, returned: bool) -> Generator[int, None, Any]:
    yield from range(to)
    return {"count": to} if returned else None


def gives(to: int) -> Iterator[int]:
    return iter(range(to))


async def gives_later(to: int) -> AsyncIterator[int]:
    return count_later(to)


def gives_async(to: int) -> AsyncIterator[int]:
    return count_later(to)


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def bare(to: int):  # type: ignore[no-untyped-def]
    yield from range(to)


class Counter:
    def of_object(self, to: int) -> Iterator[int]:
        yield from range(to)

    @classmethod
    async def of_class(cls, to: int) -> AsyncIterator[int]:
        for number in range(to):
            yield number

    def __call__(self, to: int) -> Iterator[int]:
        yield from range(to)


NUMBERS: tuple[list[Any], dict[str, Any]] = ([{"result": 0}, {"result": 1}], {"result": [0, 1]})
LINES: tuple[list[Any], dict[str, Any]] = ([{"number": 0}, {"number": 1}], {"count": 2})


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (count, NUMBERS), (count_later, NUMBERS), (lines, LINES), (gives, NUMBERS), (gives_later, NUMBERS),
        (gives_async, NUMBERS), (wrapped(count), NUMBERS), (wrapped(count_later), NUMBERS), (bare, NUMBERS),
        (Counter().of_object, NUMBERS), (Counter.of_class, NUMBERS), (Counter(), NUMBERS),
        (functools.partial(count, to=2), NUMBERS), (wrapped(lines), LINES),
    ],
)
async def test_each_value_is_a_chunk(server: FakeServer, attach: Attach, function: Any, expected: Any) -> None:
    await attach((function, {"name": "count"}))
    slot = await server.slot()
    given: dict[str, Any] = {} if isinstance(function, functools.partial) else {"to": 2}
    call_id = await slot.start("count", **given)
    chunks = [json.loads((await slot.receive("chunk")).data_json) for _ in range(2)]
    outcome = await slot.receive("outcome")
    assert outcome.call_id == call_id
    assert (chunks, json.loads(outcome.data_json)) == expected


def test_the_result_is_described_by_what_is_yielded() -> None:
    result = json.loads(make(count).offer.output_schema_json)["properties"]["result"]
    assert result == {"type": "array", "items": {"type": "integer"}}
    assert json.loads(make(lines).offer.output_schema_json)["additionalProperties"] == {"type": "integer"}


def forever() -> Iterator[int]:
    try:
        while True:
            yield 1
    finally:
        ENDED.append("thread")


async def forever_later() -> AsyncIterator[int]:
    try:
        while True:
            yield 1
            await asyncio.sleep(0)
    finally:
        ENDED.append("loop")


@pytest.mark.parametrize(("function", "where"), [(forever, "thread"), (forever_later, "loop")])
async def test_a_generator_is_stopped_with_its_call_and_leaves_its_blocks(
    server: FakeServer, attach: Attach, function: Any, where: str
) -> None:
    ENDED.clear()
    await attach((function, {"name": "forever"}))
    slot = await server.slot()
    call_id = await slot.start("forever")
    await slot.receive("chunk")
    await slot.cancel(call_id)
    while (came := await asyncio.wait_for(slot.inbox.get(), LIMIT)).HasField("chunk"):
        pass
    assert came.outcome.error.message == "The call was cancelled."
    assert [where] == ENDED


def broken() -> Iterator[Line]:
    yield Line(0)
    raise LookupError("in its middle")


def odd() -> Iterator[int]:
    yield object()  # type: ignore[misc]


@contextmanager
def managed() -> Iterator[dict[str, int]]:
    yield {}


@pytest.mark.parametrize("function", [broken, odd, managed])
async def test_what_fails_in_its_middle_has_no_result(server: FakeServer, attach: Attach, function: Any) -> None:
    await attach((function, {"name": "fail", "write": True}))
    slot = await server.slot()
    await slot.start("fail")
    if function is broken:
        await slot.receive("chunk")
    assert (await slot.outcome())[0] == "UNKNOWN"


def endless() -> Iterator[str]:
    while True:
        yield "x" * 1_000_000


async def test_a_generator_without_end_is_refused_as_another_large_result_is(
    server: FakeServer, attach: Attach
) -> None:
    await attach(endless)
    slot = await server.slot()
    await slot.start("endless")
    while (came := await asyncio.wait_for(slot.inbox.get(), LIMIT)).HasField("chunk"):
        pass
    assert came.outcome.WhichOneof("outcome") == "error"


async def waits_on_its_thread() -> Iterator[int]:
    def parts() -> Iterator[int]:
        FREE.wait(LIMIT)
        yield 1

    return parts()


FREE = threading.Event()


async def frees() -> str:
    """Frees the other. Use this beside it."""
    FREE.set()
    return "freed"


async def test_a_generator_of_an_async_function_holds_up_no_other(server: FakeServer, attach: Attach) -> None:
    FREE.clear()
    await attach((waits_on_its_thread, {"name": "waits"}), frees, slots=2)
    slot, other = await server.slot(), await server.slot()
    await slot.start("waits")
    assert await other.call("frees") == {"result": "freed"}
    await slot.receive("chunk")


async def test_what_a_generator_of_any_returns_is_its_result(server: FakeServer, attach: Attach) -> None:
    await attach(may_return)
    slot = await server.slot()
    for returned, result in ((True, {"count": 2}), (False, [0, 1])):
        await slot.start("may_return", to=2, returned=returned)
        assert [json.loads((await slot.receive("chunk")).data_json) for _ in range(2)] == [{"result": 0}, {"result": 1}]
        assert await slot.outcome() == {"result": result}
