"""A slot of a host: a stream to the server that carries out one call at a time, opened again for ever."""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import grpc.aio

from toolwire._call import Call
from toolwire._lates import Lates
from toolwire._log import log_error
from toolwire._loop import ToolLoop
from toolwire._membership import Membership
from toolwire._stream import Aborted, Address, Stream, wait
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._threads import Threads
from toolwire._tool import Tool
from toolwire.errors import Refused

PROTOCOL = 1
# Seconds before a lost slot is opened again: at random up to the first, doubled each time up to the second.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
# Ends of a stream of which a message, such as its last one, may be the reason, and which its repeat would meet again.
REFUSALS = {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"}


async def _prepare_nothing() -> None:
    pass


@dataclass
class SlotHost:
    """What the slots of a host have in common."""

    tools: dict[str, Tool]
    # Without the offers, which follow where the server asks for them.
    hello: host_pb2.Hello
    offers: list[host_pb2.Offer]
    membership: Membership
    tool_loop: ToolLoop
    # Called before each time that the offers are sent, once the server has accepted the name of the provider.
    prepare: Callable[[], Awaitable[None]] = _prepare_nothing
    lates: Lates = field(default_factory=Lates)
    threads: Threads = field(default_factory=lambda: Threads("toolwire"))


class Slot:
    """One of the calls that a host can carry out at the same time."""

    def __init__(self, host: SlotHost, address: Address, index: int) -> None:
        self.index, self._host, self._address = index, host, address
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
                await wait(self._address.woken, random.uniform(0, bound))

    def leave(self) -> None:
        """Ends the slot, after its call."""
        self._unwanted.set()
        self._address.wake()
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
            await self._end(stream, call.stop_outcome())

    def abort(self) -> None:
        """Ends the slot now."""
        if self.stream:
            self.stream.abort()

    async def _live(self) -> bool:
        """One stream, from greeting to end. Returns whether the server welcomed it."""
        is_welcome = False
        try:
            # In turn, so that the offers are sent once.
            async with self._address.greeting:
                if not self.is_wanted:
                    return False
                stream = self.stream = self._address.open(self.index)
                welcome = await stream.greet(self._greet(stream))
            is_welcome = True
            self._host.membership.record_welcome(welcome)
            self._address.wake()
            await self._host.lates.send_on(stream)
            await self._work(stream)
        except grpc.aio.AioRpcError as error:
            refused = Refused.of(error)
            is_of_message = is_welcome and refused.status in REFUSALS
            if is_of_message and self._host.lates.shorten(self.stream, self._unconfirmed, refused):
                self._unconfirmed = None
            if not self._host.membership.joined.done():
                explained = await self._address.target.explain(refused)
                refused = refused if explained.retryable else explained
            self._host.membership.record_loss(refused)
        except Refused as refused:
            # The file of the token has none now.
            self._host.membership.record_loss(refused)
        except Aborted:
            if self.is_wanted:
                self._host.membership.record_loss(Refused("UNAVAILABLE", "nothing came from the server"))
        finally:
            await self._lose()
        return is_welcome

    async def _greet(self, stream: Stream) -> host_pb2.Welcome:
        hello = host_pb2.Hello()
        hello.CopyFrom(self._host.hello)
        for offers in ([], self._host.offers):
            hello.offers.extend(offers)
            await stream.write(host_pb2.WorkRequest(hello=hello))
            answer = await stream.read()
            if answer is None or not answer.HasField("welcome"):
                break
            if not answer.welcome.send_catalogue:
                return answer.welcome
            await self._host.prepare()
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
                self._host.lates.remove(message.late_taken.call_id)
            elif kind == "leave":
                self._left = message.leave
                if message.leave.HasField("retry_after"):
                    self._host.membership.record_displacement()
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
            if self._call is call and stream.is_open:
                await stream.write(message)

        call = self._call = Call(start, self._host.tools.get(start.tool), send)
        self._running = asyncio.create_task(self._carry_out(call, stream))
        self._running.add_done_callback(functools.partial(self._check_end, call, stream))

    def _check_end(self, call: Call, stream: Stream, task: asyncio.Task[None]) -> None:
        """Notices a task that died: then its call has its end by that of the stream, which is opened again."""
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error:
            log_error(error, "the task of call %s ended", call.id)
            stream.abort()
        if self._call is call:
            self._call = self._running = None

    async def _carry_out(self, call: Call, stream: Stream) -> None:
        outcome = await call.run(self._host.threads, self._host.tool_loop)
        if self._call is not call:
            # Given up: its end was said.
            return
        self._call = self._running = None
        if not stream.is_open:
            if not call.reads:
                await self._host.lates.keep(outcome)
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
            self._host.lates.forget(self.stream)
            self.stream.abort()
            self.stream = None
        if self._call and self._call.reads:
            self._call.cancel(host_pb2.CANCEL_REASON_REQUESTED)
        lost, self._unconfirmed = self._unconfirmed, None
        if lost:
            await self._host.lates.keep(lost)
