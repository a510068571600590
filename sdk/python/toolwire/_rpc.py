"""Calls of the contract's services, without generated code, by a channel of `grpc` or of `grpc.aio`."""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import cache
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from toolwire._fork import keep_from_children
from toolwire._target import Target
from toolwire._threads import in_thread
from toolwire.errors import Closed, Refused

T = TypeVar("T")


class Connection:
    """A channel of grpc.aio, for a single event loop: that of the first call. What fails raises Refused.

    The method of a call is the one that takes its request. A cancelled task cancels its call in the server.
    """

    _grpc: Any

    def __init__(self, target: Target) -> None:
        self.target, self.is_closed = target, False
        self._channel: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        if self._channel:
            self._check_loop()
        self.is_closed = True
        if self._channel:
            self._release()
            await self._channel.close()

    async def unary(self, request: Message, timeout: float) -> Any:
        call = self._begin(request, timeout)
        async with self._translate():
            return await call

    async def stream(self, request: Message, timeout: float) -> AsyncGenerator[Any, None]:
        """The call is cancelled when the generator is closed."""
        call = self._begin(request, timeout)
        try:
            async with self._translate():
                async for message in call:
                    yield message
        finally:
            call.cancel()

    async def pages(self, request: Any) -> AsyncGenerator[Any, None]:
        """The pages of a list."""
        while True:
            page = await self.unary(request, 30)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """What blocks, on a thread that may."""
        return await in_thread(work)

    def _open(self) -> Any:
        if not self._channel:
            import grpc.aio

            self._grpc, self._loop = grpc, asyncio.get_running_loop()
            self._channel = self.target.channel(grpc.aio, self.target.authority)
            # A child that is forked has no thread of grpc.aio, and would wait for ever.
            self._release = keep_from_children(lambda: None)
            # Of one that nobody has closed too.
            weakref.finalize(self, self._release)
        self._check_loop()
        return self._channel

    def _begin(self, request: Message, timeout: float) -> Any:
        if self.is_closed:
            raise self._closed()
        channel, (descriptor, answer) = self._open(), _method(request.DESCRIPTOR)
        kind = channel.unary_stream if descriptor.server_streaming else channel.unary_unary
        path = f"/{descriptor.containing_service.full_name}/{descriptor.name}"
        method = kind(path, type(request).SerializeToString, answer.FromString)
        return method(request, timeout=timeout, metadata=self.target.metadata)

    def _check_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError(
                "this AsyncToolwire belongs to another event loop: make one in each loop, and in each process"
            )

    def _closed(self) -> Closed:
        return Closed(f"this client of {self.target.url} is closed")

    @contextlib.asynccontextmanager
    async def _translate(self) -> AsyncIterator[None]:
        """Raises what a program is told of a call that ends."""
        try:
            yield
        except self._grpc.RpcError as error:
            explained = await self.target.explain(Refused.of(error), self.in_thread)
            raise (self._closed() if self.is_closed else explained) from None
        except asyncio.CancelledError:
            # The end of a channel cancels the tasks that wait for its calls, for which nobody has asked.
            asked = getattr(asyncio.current_task(), "cancelling", lambda: 0)()
            if self.is_closed and not asked:
                raise self._closed() from None
            raise


class BlockingConnection(Connection):
    """One whose methods never suspend: they block the thread that calls them, and may be called on any."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        # Not before it is needed: a host imports gRPC in its own way.
        import grpc

        self._grpc, self._channel = grpc, target.channel(grpc, target.authority)

    async def close(self) -> None:
        self.is_closed = True
        self._channel.close()

    async def unary(self, request: Message, timeout: float) -> Any:
        async with self._translate():
            return self._begin(request, timeout)

    async def stream(self, request: Message, timeout: float) -> AsyncGenerator[Any, None]:
        call = self._begin(request, timeout)
        try:
            async with self._translate():
                for message in call:
                    yield message
        finally:
            call.cancel()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251

    async def in_thread(self, work: Callable[[], T]) -> T:
        return work()

    def _open(self) -> Any:
        return self._channel

    def _begin(self, request: Message, timeout: float) -> Any:
        try:
            return super()._begin(request, timeout)
        except ValueError as error:
            # Of a channel that another thread closed meanwhile.
            if not self.is_closed:
                raise
            raise self._closed() from error


@cache
def _method(request: Any) -> tuple[Any, Any]:
    """The method that takes a message of this descriptor, and its response: no two methods share one."""
    methods = (it for service in request.file.services_by_name.values() for it in service.methods)
    method = next(it for it in methods if it.input_type == request)
    return method, GetMessageClass(method.output_type)
