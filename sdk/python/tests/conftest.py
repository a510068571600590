"""A fake server, and hosts that are attached to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.fake import FakeServer
from toolwire._host import Attachment
from toolwire._target import Target
from toolwire._tool import make

Attach = Callable[..., Awaitable[Attachment]]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def one_loop() -> AsyncIterator[None]:
    """Keeps one loop for all tests: objects of grpc.aio end on theirs after the test that made them."""
    yield  # noqa: PT022


@pytest.fixture
async def server(one_loop: None) -> AsyncIterator[FakeServer]:
    opened = await FakeServer().open()
    yield opened
    await opened.close()


@pytest.fixture
async def attach(server: FakeServer) -> AsyncIterator[Attach]:
    """Attaches functions as tools: `await attach(function, …, slots=1)`. A tuple is a function and its options."""
    hosts = []

    async def attach(*functions: Any, slots: int = 1, join: bool = True, **options: Any) -> Attachment:
        pairs = [it if isinstance(it, tuple) else (it, {}) for it in functions]
        tools = [make(function, **said) for function, said in pairs]
        hosts.append(Attachment(tools, Target(server.url, options.pop("token", "")), slots=slots, **options))
        if join:
            await hosts[-1].join()
        return hosts[-1]

    yield attach
    for host in hosts:
        await host.leave(0)
