"""Streams to an address of the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import grpc.aio

from toolwire._log import log_error
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target

PATH = "/toolwire.host.v1.ToolHostService/Work"
# A connection takes about 100 streams, and grpc queues what is above.
STREAMS_OF_A_CHANNEL = 90
CHANNEL_OPTIONS = [
    # Channels of equal arguments share a connection otherwise.
    ("grpc.use_local_subchannel_pool", 1),
    # The pauses between attempts are those of the slots.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
    # How long an attempt may take.
    ("grpc.min_reconnect_backoff_ms", 5000),
]
# How many ticks a stream may be quiet, one each 10 s: the server pings after 60 s.
QUIET_GREETING, QUIET = 2, 9


class Aborted(Exception):
    """The stream was given up on this side."""


class Address:
    """An address of the server, with its channels."""

    def __init__(self, target: Target, name: str) -> None:
        self.name = name
        # Held while a slot is greeted.
        self.greeting = asyncio.Lock()
        self.target = target
        # Set when slots that pause need not.
        self.woken = asyncio.Event()
        self._channels: dict[int, Any] = {}

    def open(self, index: int) -> Stream:
        """Opens a stream for the slot of this index."""
        number = index // STREAMS_OF_A_CHANNEL
        if number not in self._channels:
            self._channels[number] = self.target.channel(grpc.aio, self.name, *CHANNEL_OPTIONS)
        work = self._channels[number].stream_stream(
            PATH, host_pb2.WorkRequest.SerializeToString, host_pb2.WorkResponse.FromString
        )
        return Stream(self.name, work(metadata=self.target.metadata))

    def wake(self) -> None:
        """The server is there again: slots that pause need not wait."""
        self.woken.set()
        self.woken = asyncio.Event()

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()


class Stream:
    """One life of a slot. Reads are never cancelled: grpc.aio leaks then (grpc#43360). A stream ends by half-close.

    grpc says with CancelledError that a call was cancelled, here by `abort`; at other times the task itself is.
    """

    def __init__(self, address: str, rpc: Any) -> None:
        self.address, self._rpc = address, rpc
        self._writing = asyncio.Lock()
        self._greeting: asyncio.Task[host_pb2.Welcome] | None = None
        self.is_open, self._is_aborted, self.quiet = False, False, 0

    async def read(self) -> host_pb2.WorkResponse | None:
        """The next message, or None at the clean end. Raises AioRpcError at another, and Aborted after `abort`."""
        try:
            message = await self._rpc.read()
        except asyncio.CancelledError:
            if not self._is_aborted:
                raise
            raise Aborted from None
        self.quiet = 0
        # grpc.aio.EOF is false, and no message is.
        return message or None

    async def write(self, message: host_pb2.WorkRequest | None) -> None:
        """Sends it, in order; nothing half-closes. What cannot be sent is dropped: reading shows the stream's end."""
        async with self._writing:
            try:
                await (self._rpc.done_writing() if message is None else self._rpc.write(message))
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                pass
            except asyncio.CancelledError:
                if not self._is_aborted:
                    raise
            except Exception as error:
                log_error(error, "a message to the server cannot be written")
                self.abort()

    async def greet(self, greeting: Coroutine[Any, Any, host_pb2.Welcome]) -> host_pb2.Welcome:
        """Opens it. The one part that is cancelled: grpc.aio does not end a write that waits for a connection."""
        self._greeting = asyncio.create_task(greeting)
        try:
            welcome = await self._greeting
        except asyncio.CancelledError:
            if not self._is_aborted:
                raise
            raise Aborted from None
        self.is_open = True
        return welcome

    def tick(self) -> None:
        """Gives up a stream on which nothing comes. Ticks are counted, since a blocked loop also hears nothing."""
        self.quiet += 1
        if self.quiet >= (QUIET if self.is_open else QUIET_GREETING):
            self.abort()

    def abort(self) -> None:
        """Ends it now. After its end: frees what grpc holds of it."""
        self._is_aborted, self.is_open = True, False
        if self._greeting:
            self._greeting.cancel()
        self._rpc.cancel()


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Waits until it is set, and no longer than so."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
