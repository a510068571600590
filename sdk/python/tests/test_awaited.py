"""What is to be awaited is awaited, whatever declared it; what cannot be carried out is refused where it stands."""

import asyncio
import concurrent.futures
import contextlib
import functools
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Attach
from tests.fake import LIMIT, FakeServer
from toolwire import Context
from toolwire._hosting import choose_tools
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import REGISTRY, make, tool

pytestmark = pytest.mark.anyio
WRITE = {"write": True}
RAN: list[str] = []


async def pay(order: str) -> dict[str, str]:
    """Pays."""
    await asyncio.sleep(0)
    RAN.append(order)
    return {"paid": order}


def pass_on(function: Any) -> Any:
    """A decorator that knows nothing of coroutines."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def run_and_wait(function: Any) -> Any:
    """A decorator that makes a function that blocks of a coroutine."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return asyncio.run(function(*args, **kwargs))

    return call


def plain(order: str) -> dict[str, str]:
    return pay(order)  # type: ignore[return-value]


def says_awaitable(order: str) -> Awaitable[dict[str, str]]:
    return asyncio.ensure_future(pay(order))


def says_coroutine(order: str) -> Coroutine[Any, Any, dict[str, str]]:
    return pay(order)


def says_task(order: str) -> "asyncio.Task[dict[str, str]]":
    return asyncio.create_task(pay(order))


def says_future(order: str) -> "concurrent.futures.Future[dict[str, str]]":
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, pay(order))


def gives_future(order: str) -> dict[str, str]:
    return says_future(order)  # type: ignore[return-value]


async def gives_coroutine(order: str) -> dict[str, str]:
    return pay(order)  # type: ignore[return-value]


class Later:
    """What is awaited and is neither coroutine nor future."""

    def __init__(self, order: str) -> None:
        self.order = order

    def __await__(self) -> Generator[Any, None, Any]:
        return pay(self.order).__await__()


def gives_object(order: str) -> dict[str, str]:
    return Later(order)  # type: ignore[return-value]


class Shop:
    @staticmethod
    async def sent(order: str) -> dict[str, str]:
        return await pay(order)

    @classmethod
    async def of_class(cls, order: str) -> dict[str, str]:
        return await pay(order)

    async def of_object(self, order: str) -> dict[str, str]:
        return await pay(order)

    async def __call__(self, order: str) -> dict[str, str]:
        return await pay(order)


class Blocking:
    def __call__(self, order: str) -> dict[str, str]:
        """Pays, and blocks."""
        RAN.append(order)
        return {"paid": order}


FORMS: dict[str, Any] = {
    "coroutine": pay, "wrapped": pass_on(pay), "wrapped_twice": pass_on(pass_on(pay)),
    "carried_out": run_and_wait(pay),
    "plain": plain, "says_awaitable": says_awaitable, "says_coroutine": says_coroutine, "says_task": says_task,
    "says_future": says_future, "gives_future": gives_future, "gives_coroutine": gives_coroutine,
    "gives_object": gives_object,
    "static": Shop.sent, "static_object": vars(Shop)["sent"], "of_class": Shop.of_class, "of_object": Shop().of_object,
    "object": Shop(), "blocking_object": Blocking(), "partial": functools.partial(pay),
    "partial_of_wrapped": functools.partial(pass_on(pay)),
    "partial_of_object": functools.partial(Shop()), "wrapped_object": pass_on(Shop().of_object),
    "cached": functools.lru_cache(plain),
}


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_to_be_awaited_is_awaited_whatever_declared_it(
    server: FakeServer, attach: Attach, form: str
) -> None:
    RAN.clear()
    await attach((FORMS[form], {"name": form, **WRITE}))
    slot = await server.slot()
    assert await slot.call(form, order="A-1") == {"paid": "A-1"}
    assert RAN == ["A-1"]


async def test_what_a_partial_gives_no_caller_gives(server: FakeServer, attach: Attach) -> None:
    async def move(account: str, amount: int, *, ctx: Context) -> dict[str, Any]:
        """Moves money."""
        return {"account": account, "amount": amount, "call": bool(ctx.call_id)}

    made = make(functools.partial(move, account="mine"), name="move")
    assert '"account"' not in made.offer.input_schema_json
    assert made.offer.description == "Moves money."
    mine, own = functools.partial(move, account="mine"), functools.partial(move, "own")
    await attach((mine, {"name": "move"}), (own, {"name": "own"}))
    slot = await server.slot()
    assert await slot.call("move", amount=1) == {"account": "mine", "amount": 1, "call": True}
    assert await slot.call("own", amount=1) == {"account": "own", "amount": 1, "call": True}
    assert (await slot.call("move", amount=1, account="other"))[0] == "INVALID_ARGUMENT"


async def test_a_call_is_stopped_while_what_a_function_gave_is_awaited(server: FakeServer, attach: Attach) -> None:
    async def sleep(ctx: Context) -> dict[str, bool]:
        await ctx.progress("asleep")
        await asyncio.sleep(60)
        return {"slept": True}

    await attach(pass_on(sleep))
    slot = await server.slot()
    call_id = await slot.start("sleep")
    await slot.receive("progress")
    await slot.cancel(call_id)
    assert (await slot.outcome())[0] == "CANCELLED"


async def test_what_is_over_before_there_is_a_thread_is_never_begun(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    RAN.clear()
    release = threading.Event()

    def hold() -> None:
        release.wait(LIMIT)

    host = await attach(hold, (Blocking(), {"name": "pay", **WRITE}), slots=2)
    monkeypatch.setattr(host.shared, "threads", concurrent.futures.ThreadPoolExecutor(1))
    first, second = await server.slot(), await server.slot()
    await first.start("hold")
    call_id = await second.start("pay", order="A-1")
    await second.cancel(call_id)
    # Read after it.
    await second.send(ping=host_pb2.Ping())
    await second.receive("pong")
    release.set()
    assert (await second.outcome())[0] == "CANCELLED"
    assert RAN == []


async def test_what_is_over_before_it_is_awaited_is_never_begun(server: FakeServer, attach: Attach) -> None:
    RAN.clear()

    def slow(order: str, ctx: Context) -> dict[str, str]:
        while not ctx.cancelled:
            time.sleep(0.005)
        return pay(order)  # type: ignore[return-value]

    await attach((slow, WRITE))
    slot = await server.slot()
    assert (await slot.call("slow", timeout=0.05, order="A-1"))[0] == "TIMEOUT"
    assert RAN == []


def static_in_its_class() -> Any:
    class Store:
        @tool(**WRITE)  # type: ignore[call-overload, untyped-decorator]
        @staticmethod
        async def send_away(order: str) -> dict[str, str]:
            return await pay(order)

    return Store


async def test_a_static_method_keeps_its_options(server: FakeServer) -> None:
    store = static_in_its_class()
    try:
        (chosen_tool,) = choose_tools([store.send_away])
        assert not chosen_tool.reads
        assert chosen_tool.is_async
        assert await store.send_away("A-1") == {"paid": "A-1"}
    finally:
        del REGISTRY["send_away"]


@dataclass
class Order:
    """A call with fields, which no dict takes as a key."""

    account: str

    async def __call__(self, order: str) -> dict[str, str]:
        return await pay(order)

    def cancel(self, order: str) -> dict[str, str]:
        return {"cancelled": order}


async def test_objects_and_methods_keep_their_options() -> None:
    shop, decorate = Order("mine"), tool(write=True, name="order_again")
    assert decorate(shop) is shop
    tool(write=True)(shop.cancel)
    try:
        known = [(it.name, it.reads) for it in choose_tools([shop, shop.cancel])]
        assert known == [("order_again", False), ("cancel", False)]
    finally:
        del REGISTRY["order_again"], REGISTRY["cancel"]


class Endless:
    def __await__(self) -> Generator[Any, None, Any]:
        yield from ()
        return self


@contextlib.contextmanager
def managed() -> Iterator[dict[str, int]]:
    RAN.append("entered")
    yield {}


def gives(value: Any, hint: Any = dict) -> Any:
    def give() -> Any:
        return value() if callable(value) and not isinstance(value, type) else value

    give.__annotations__["return"] = hint
    return give


async def agenerate() -> AsyncIterator[int]:
    RAN.append("begun")
    yield 1


def generate() -> Iterator[int]:
    RAN.append("begun")
    yield 1


@pytest.mark.parametrize(
    "value",
    [
        Endless(), agenerate, generate, managed, lambda: map(RAN.append, ["x"]), lambda: (lambda: 1),
        lambda: functools.partial(pay),
    ],
)
async def test_a_write_of_which_nothing_is_known_to_be_done_does_not_say_that_it_was(
    server: FakeServer, attach: Attach, value: Any
) -> None:
    RAN.clear()
    await attach((gives(value), {"name": "give", **WRITE}))
    slot = await server.slot()
    assert (await slot.call("give"))[0] == "UNKNOWN"
    assert RAN == []


async def test_an_iterator_is_carried_out_where_the_hint_says_so(server: FakeServer, attach: Attach) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError("in its middle")

    def endless() -> Iterator[int]:
        while True:
            yield 1

    given: list[tuple[Callable[[], Any], Any]] = [(generate, [1]), (broken, "UNKNOWN"), (endless, "RESULT_TOO_LARGE")]
    await attach(*((gives(each, Iterable[int]), {"name": f"give_{n}", **WRITE}) for n, (each, _) in enumerate(given)))
    slot = await server.slot()
    for number, (_, expected) in enumerate(given):
        came = await slot.call(f"give_{number}")
        assert (came[0] if isinstance(came, tuple) else came["result"]) == expected


class Unready:
    """A class, as a tool."""

    @classmethod
    def of(cls, order: str) -> None:
        pass


def many(*args: Any, **kwargs: Any) -> Any:
    return pay(*args, **kwargs)


async def unresolved(order: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


def streams() -> dict[str, int]:  # type: ignore[misc]
    yield 1


class Streams:
    async def __call__(self) -> int:  # type: ignore[misc]
        yield 1


class Opaque:
    pass


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (streams, "it is a generator"),
        (functools.partial(streams), "it is a generator"), (Streams(), "it is a generator"),
        (vars(Unready)["of"], "a classmethod has no class yet"), (Unready, "it is no function"),
        (5, "it is no function"), (many, "no name that a caller"),
        (unresolved, "its hints cannot be read"),
        (gives(1, Callable[[], int]), "no JSON Schema"),
        (gives(1, AsyncIterator[Opaque]), "no JSON Schema"), (gives(1, Awaitable[Opaque]), "no JSON Schema"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_with_file_and_line(function: Any, said: str) -> None:
    # What is of no code has no place.
    place = r" \(\S+test_awaited.py:\d+\)" if hasattr(function, "__code__") else ""
    with pytest.raises((TypeError, ValueError), match=rf"^@tool of \w+: .*{said}.*{place}$"):
        make(function, name="tried")
