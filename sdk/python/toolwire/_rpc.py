"""Calls of the contract's services, without generated code, by a channel of `grpc` or of `grpc.aio`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import cache
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from toolwire._fork import keep_from_children
from toolwire._target import Target
from toolwire.errors import Closed, Refused, ToolwireError, refusal

T = TypeVar("T")


class Connection(ABC):
    """A channel to a server. What fails raises Refused. The method is the one that takes the request."""

    def __init__(self, target: Target) -> None:
        self.target, self.is_closed = target, False

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def unary(self, request: Message, timeout: float) -> Any: ...

    @abstractmethod
    def stream(self, request: Message, timeout: float) -> AsyncGenerator[Any, None]:
        """The call is cancelled when the generator is closed."""

    @abstractmethod
    async def pause(self, seconds: float) -> None: ...

    @abstractmethod
    async def in_thread(self, work: Callable[[], T]) -> T:
        """What blocks, on a thread that may."""

    async def pages(self, request: Any) -> AsyncGenerator[Any, None]:
        """The pages of a list."""
        while True:
            page = await self.unary(request, 30)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _method(self, channel: Any, request: Message) -> Any:
        descriptor, answer = _method(request.DESCRIPTOR)
        kind = channel.unary_stream if descriptor.server_streaming else channel.unary_unary
        path = f"/{descriptor.containing_service.full_name}/{descriptor.name}"
        return kind(path, type(request).SerializeToString, answer.FromString)

    async def _error(self, error: Any) -> ToolwireError:
        """Of a call that failed, what a program is told."""
        if self.is_closed:
            return _closed(self.target)
        refused, target = Refused.of(error), self.target
        if refused.status != "UNAVAILABLE" or refused.reason:
            return refused
        is_https = target.url.startswith("https:")
        speaks_tls = await self.in_thread(target.speaks_tls)
        hint = f"no answer of a server at {target.url}: start it, or name another by TOOLWIRE_SERVER"
        is_final = False
        if speaks_tls is not None and speaks_tls != is_https:
            protocol, scheme = ("TLS", "https") if speaks_tls else ("no TLS", "http")
            hint, is_final = f"the server at {target.url} speaks {protocol}: name it {scheme}://…", True
        elif "CERTIFICATE" in refused.message:
            hint = f"the certificate of {target.url} is not trusted: name that of its signer by TOOLWIRE_CA"
            is_final = True
        explained = refusal(refused.status, f"{hint} ({refused.message})")
        explained.retryable = not is_final
        return explained


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
        try:
            return self._begin(request, timeout)
        except self._grpc.RpcError as error:
            raise await self._error(error) from None

    async def stream(self, request: Message, timeout: float) -> AsyncGenerator[Any, None]:
        call = self._begin(request, timeout)
        try:
            for message in call:
                yield message
        except self._grpc.RpcError as error:
            raise await self._error(error) from None
        finally:
            call.cancel()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251

    async def in_thread(self, work: Callable[[], T]) -> T:
        return work()

    def _begin(self, request: Message, timeout: float) -> Any:
        if self.is_closed:
            raise _closed(self.target)
        try:
            return self._method(self._channel, request)(request, timeout=timeout, metadata=self.target.metadata)
        except ValueError as error:
            # Of a channel that another thread closed meanwhile.
            if not self.is_closed:
                raise
            raise _closed(self.target) from error


class AsyncConnection(Connection):
    """One for a single event loop: that of the first call. A cancelled task cancels its call in the server."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
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
        with self._tell_closing():
            call = self._begin(request, timeout)
            try:
                return await call
            except self._grpc.RpcError as error:
                raise await self._error(error) from None

    async def stream(self, request: Message, timeout: float) -> AsyncGenerator[Any, None]:
        call = self._begin(request, timeout)
        try:
            with self._tell_closing():
                async for message in call:
                    yield message
        except self._grpc.RpcError as error:
            raise await self._error(error) from None
        finally:
            call.cancel()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)

    def _begin(self, request: Message, timeout: float) -> Any:
        if self.is_closed:
            raise _closed(self.target)
        if not self._channel:
            import grpc.aio

            self._grpc, self._loop = grpc, asyncio.get_running_loop()
            self._channel = self.target.channel(grpc.aio, self.target.authority)
            # A child that is forked has no thread of grpc.aio, and would wait for ever.
            self._release = keep_from_children(lambda: None)
        self._check_loop()
        return self._method(self._channel, request)(request, timeout=timeout, metadata=self.target.metadata)

    def _check_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError(
                "this AsyncToolwire belongs to another event loop: make one in each loop, and in each process"
            )

    @contextlib.contextmanager
    def _tell_closing(self) -> Iterator[None]:
        """The end of a channel cancels the tasks that wait for its calls, for which nobody has asked."""
        try:
            yield
        except asyncio.CancelledError:
            asked = getattr(asyncio.current_task(), "cancelling", lambda: 0)()
            if self.is_closed and not asked:
                raise _closed(self.target) from None
            raise


def _closed(target: Target) -> Closed:
    return Closed(f"this client of {target.url} is closed")


@cache
def _method(request: Any) -> tuple[Any, Any]:
    """The method that takes a message of this descriptor, and its response: no two methods share one."""
    methods = (it for service in request.file.services_by_name.values() for it in service.methods)
    method = next(it for it in methods if it.input_type == request)
    return method, GetMessageClass(method.output_type)
