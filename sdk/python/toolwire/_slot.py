"""A slot of a host: a stream to the server that carries out one call at a time, opened again for ever."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from toolwire._call import Call
from toolwire._log import log_error
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire.errors import Refused

if TYPE_CHECKING:
    from toolwire._host import Site

PATH, PROTOCOL = "/toolwire.host.v1.ToolHostService/Work", 1
# Seconds before a lost slot is opened again: at random up to the first, doubled each time up to the second.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
# How often `quiet` is counted, in seconds, and how often a stream may be quiet: the server pings after 60 s.
TICK = 10.0
QUIET_GREETING, QUIET = 2, 9
# Ends of a stream of which a message, such as its last one, may be the reason, and which its repeat would meet again.
REFUSALS = {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"}
# Ends of a first greeting that no repeat changes.
FATAL = {"UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "UNIMPLEMENTED"}


class Aborted(Exception):
    """The stream was given up on this side."""


class Stream:
    """One life of a slot. Reads are never cancelled: grpc.aio leaks then (grpc#43360). A stream ends by half-close.

    grpc says with CancelledError that a call was cancelled, here by `abort`; at other times the task itself is.
    """

    def __init__(self, site: Site, channel: Any) -> None:
        work = channel.stream_stream(
            PATH, host_pb2.WorkRequest.SerializeToString, host_pb2.WorkResponse.FromString
        )
        self._rpc: Any = work(metadata=site.host.target.metadata)
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


class Slot:
    """One of the calls that a host can carry out at the same time."""

    def __init__(self, site: Site, index: int) -> None:
        self.host, self.index, self._site = site.host, index, site
        self.stream: Stream | None = None
        self._unwanted = asyncio.Event()
        self._call: Call | None = None
        self._running: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._left: host_pb2.Leave | None = None
        # The last outcome of a write, until the server shows that it has it.
        self._unconfirmed: host_pb2.Outcome | None = None

    @property
    def is_wanted(self) -> bool:
        return not self._unwanted.is_set()

    async def run(self) -> None:
        """Opens the stream, and opens it again, until the slot is not wanted."""
        failures = 0
        while self.is_wanted:
            self._left = None
            try:
                was_welcome = await self._live()
            except Exception as error:
                log_error(error, "a slot broke, and is opened again")
                was_welcome = False
            if self._running:
                # The capacity is exact: a call that goes on without its stream still takes this slot.
                await asyncio.wait([self._running])
            failures = 0 if was_welcome else failures + 1
            if self._left and self._left.HasField("retry_after"):
                await wait(self._unwanted, self._left.retry_after.ToMilliseconds() / 1000)
            elif self.is_wanted:
                bound = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures, 10))
                await self._site.pause(random.uniform(0, bound))

    def leave(self) -> None:
        """Ends the slot, after its call."""
        self._unwanted.set()
        self._site.wake()
        if self.stream and not self.stream.is_open:
            self.stream.abort()
        elif self.stream and not self._left:
            self._asking = asyncio.create_task(self.stream.write(host_pb2.WorkRequest(leaving=host_pb2.Leaving())))

    def cancel(self) -> bool:
        """Ends the call. Returns whether there was one."""
        if self._call:
            self._call.cancel(host_pb2.CANCEL_REASON_SHUTDOWN)
        return self._call is not None

    async def give_up(self) -> None:
        """Ends a call that `cancel` did not: a thread cannot be stopped, and its function may go on."""
        if (call := self._call) and (stream := self.stream) and stream.is_open:
            self._call = self._running = None
            await self._end(stream, call.stopped())

    def abort(self) -> None:
        """Ends the slot now."""
        if self.stream:
            self.stream.abort()

    async def _live(self) -> bool:
        """One stream, from greeting to end. Returns whether the server welcomed it."""
        is_welcome = False
        try:
            # In turn, so that the offers are sent once.
            async with self._site.greeting:
                if not self.is_wanted:
                    return False
                stream = self.stream = Stream(self._site, self._site.channel(self.index))
                welcome = await stream.greet(self._greet(stream))
            is_welcome = True
            self.host.welcomed(welcome)
            self._site.wake()
            await self.host.send_lates()
            await self._work(stream)
        except grpc.aio.AioRpcError as error:
            refused = Refused.of(error)
            is_of_message = is_welcome and refused.code in REFUSALS
            if is_of_message and self.host.refused(self.stream, self._unconfirmed, refused):
                self._unconfirmed = None
            self.host.lost(refused)
        except Aborted:
            if self.is_wanted:
                self.host.lost(Refused("UNAVAILABLE", "nothing came from the server"))
        finally:
            await self._lose()
        return is_welcome

    async def _greet(self, stream: Stream) -> host_pb2.Welcome:
        hello = host_pb2.Hello(
            provider=self.host.provider, instance=self.host.instance, protocol=PROTOCOL, sdk=self.host.sdk,
            catalogue_id=self.host.catalogue_id,
        )
        for offers in ([], self.host.offers):
            hello.offers.extend(offers)
            await stream.write(host_pb2.WorkRequest(hello=hello))
            answer = await stream.read()
            if answer is None or not answer.HasField("welcome"):
                break
            if not answer.welcome.send_catalogue:
                return answer.welcome
        raise Aborted

    async def _work(self, stream: Stream) -> None:
        while (message := await stream.read()) is not None:
            kind = message.WhichOneof("message")
            if kind == "start":
                self._begin(stream, message.start)
            elif kind == "cancel":
                if self._call and self._call.id == message.cancel.call_id:
                    self._call.cancel(message.cancel.reason)
            elif kind == "ping":
                await stream.write(host_pb2.WorkRequest(pong=host_pb2.Pong()))
            elif kind == "late_taken":
                self.host.lates.pop(message.late_taken.call_id, None)
            elif kind == "leave":
                self._left = message.leave
                if message.leave.HasField("retry_after"):
                    self.host.displaced()
                if self._call is None:
                    await stream.write(None)
        if self._left and self._call is None:
            self._unconfirmed = None

    def _begin(self, stream: Stream, start: host_pb2.Start) -> None:
        if self._call or self._left:
            # The server breaks the protocol, and what it means from here on is unknown.
            stream.abort()
            return
        self._unconfirmed = None

        async def send(message: host_pb2.WorkRequest) -> None:
            # A task that is cancelled while it writes would take the stream with it.
            if self._call is call and stream.is_open:
                await asyncio.shield(stream.write(message))

        call = self._call = Call(start, self.host.tools.get(start.tool), send)
        self._running = asyncio.create_task(self._carry_out(call, stream))
        self._running.add_done_callback(functools.partial(self._ended, call, stream))

    def _ended(self, call: Call, stream: Stream, task: asyncio.Task[None]) -> None:
        """Notices a task that died: then its call has its end by that of the stream, which is opened again."""
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error:
            log_error(error, "the task of call %s ended", call.id)
            stream.abort()
        if self._call is call:
            self._call = self._running = None

    async def _carry_out(self, call: Call, stream: Stream) -> None:
        outcome = await call.run(self.host.threads, self.host.tool_loop)
        if self._call is not call:
            # Given up: its end was said.
            return
        self._call = self._running = None
        if not stream.is_open:
            if not call.reads:
                await self.host.keep_late(outcome)
            return
        self._unconfirmed = None if call.reads else outcome
        await self._end(stream, outcome)

    async def _end(self, stream: Stream, outcome: host_pb2.Outcome) -> None:
        await stream.write(host_pb2.WorkRequest(outcome=outcome))
        if self._left and stream.is_open:
            await stream.write(None)

    async def _lose(self) -> None:
        """After the stream: stops a read, and says the end of a write on another stream."""
        if self.stream:
            self.stream.abort()
            self.stream = None
        if self._call and self._call.reads:
            self._call.cancel(host_pb2.CANCEL_REASON_REQUESTED)
        lost, self._unconfirmed = self._unconfirmed, None
        if lost:
            await self.host.keep_late(lost)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Waits until it is set, and no longer than so."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
