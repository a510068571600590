"""One call, carried out: from `Start` to `Outcome`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from toolwire._context import Context, Done, User
from toolwire._end import End, call, call_on_loop
from toolwire._json import Misfit, TooLarge, data_json
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._text import cut, readable
from toolwire._tool import Tool
from toolwire.errors import (
    Cancelled,
    InvalidArgument,
    ParseError,
    ResultTooLarge,
    ToolError,
    ToolTimeout,
    Unavailable,
)

log = logging.getLogger("toolwire")

# The text of a message of progress, in bytes.
MOST_PROGRESS = 1024
# Between two messages of progress, in seconds.
PROGRESS_EVERY = 0.1
# How often a thread that waits for the loop looks whether it is there, in seconds.
LOOK_EVERY = 5.0

Send = Callable[[host_pb2.WorkRequest], Awaitable[None]]


@dataclass(kw_only=True)
class CallContext(Context):
    """The context of a call that a server made."""

    send: Send
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _thread: int = field(default_factory=threading.get_ident)
    # Runs between two messages of progress; the newest one waits for its end.
    _pause: asyncio.TimerHandle | None = None
    _newest: tuple[str, float | None] | None = None
    _sender: asyncio.Task[None] | None = None

    def progress(self, message: str, fraction: float | None = None) -> Awaitable[None]:
        return self._do(self._progress(message, fraction))

    def chunk(self, data: Mapping[str, Any]) -> Awaitable[None]:
        return self._do(self._chunk(data))

    def _do(self, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Does it when it is awaited; for a function in a thread, which cannot await, before it returns."""
        if threading.get_ident() == self._thread:
            return work
        if self.cancelled:
            work.close()
            raise asyncio.CancelledError
        done = asyncio.run_coroutine_threadsafe(work, self._loop)
        while True:
            try:
                done.result(LOOK_EVERY)
                return Done()
            except concurrent.futures.TimeoutError:
                # A loop that was stopped meanwhile never does it.
                if done.done() or not self._loop.is_running():
                    raise

    async def _progress(self, message: str, fraction: float | None) -> None:
        if self._pause:
            self._newest = (message, fraction)
            return
        self._pause = self._loop.call_later(PROGRESS_EVERY, self._go_on)
        progress = host_pb2.Progress(call_id=self.call_id, message=readable(message, MOST_PROGRESS))
        # What is no part of the work is not known, as to the server.
        if isinstance(fraction, int | float) and 0 <= fraction <= 1:
            progress.fraction = fraction
        await self.send(host_pb2.WorkRequest(progress=progress))

    def _go_on(self) -> None:
        self._pause, newest, self._newest = None, self._newest, None
        if newest:
            self._sender = self._loop.create_task(self._progress(*newest))

    async def _chunk(self, data: Mapping[str, Any]) -> None:
        chunk = host_pb2.Chunk(call_id=self.call_id, data_json=data_json(data))
        await self.send(host_pb2.WorkRequest(chunk=chunk))

    def close(self) -> None:
        """After the call: nothing more is sent of it."""
        if self._pause:
            self._pause.cancel()


class Call:
    """A call. Its slot is busy until `run` returns, however the function behaves."""

    def __init__(self, start: host_pb2.Start, tool: Tool | None, send: Send) -> None:
        self.id, self.tool, self._start, self._send = start.call_id, tool, start, send
        self.deadline = time.monotonic() + start.timeout.seconds + start.timeout.nanos / 1e9
        # Of a function that takes one.
        self._context: CallContext | None = None
        self._reason: host_pb2.CancelReason | None = None
        # What a coroutine of the tool runs in: it alone is cancelled, and what it does to its task stays there.
        self._work: asyncio.Task[None] | None = None

    @property
    def reads(self) -> bool:
        """Whether its function may be stopped with its slot, since the server makes the call again elsewhere."""
        return self.tool is None or self.tool.reads

    def cancel(self, reason: host_pb2.CancelReason) -> None:
        """Stops the function as soon as it can be."""
        if self._reason is None:
            self._reason = reason
        if self._context:
            self._context.cancelled = True
        if self._work:
            self._work.cancel()

    async def run(self, threads: Executor) -> host_pb2.Outcome:
        """Carries it out. Never raises, not even where this task is cancelled, which only others do."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.deadline - time.monotonic(), self.cancel, host_pb2.CANCEL_REASON_DEADLINE)
        try:
            return await self._outcome(threads)
        except ToolError as error:
            return self._failed(error)
        except asyncio.CancelledError:
            return self._failed(self._stopped())
        except BaseException as error:
            note(error, "call %s failed", self.id)
            return last_resort(self.id)
        finally:
            timer.cancel()
            if self._context:
                self._context.close()

    async def _outcome(self, threads: Executor) -> host_pb2.Outcome:
        """Raises ToolError and CancelledError, of a function that was not begun or is given up."""
        tool = self.tool
        if tool is None:
            raise Unavailable(f"The host does not offer {self._start.tool}.", retryable=False)
        if self._reason is not None:
            raise self._stopped()
        if tool.parameters.context:
            self._context = self._make_context()
        try:
            bound = tool.bind(self._start.arguments_json, self._context)
        except ToolError:
            raise
        except BaseException as error:
            # Nothing was begun, of which UNKNOWN would leave a doubt.
            note(error, "the arguments of %s cannot be read, call %s", tool.name, self.id)
            raise InvalidArgument(f"The arguments of {tool.name} cannot be read.") from None
        if tool.is_async:
            return self._told(tool, await self._on_loop(tool, bound))
        end = await asyncio.get_running_loop().run_in_executor(threads, self._in_thread, tool, bound)
        if isinstance(end, End):
            return self._told(tool, end)
        if self._reason is not None and inspect.iscoroutine(end):
            # It is over before it has begun.
            end.close()
            raise self._stopped()
        return self._told(tool, await self._on_loop(tool, lambda: end))

    def _in_thread(self, tool: Tool, bound: Callable[[], Any]) -> End | Awaitable[Any]:
        # It may have waited for a thread.
        return call(tool, bound) if self._reason is None else End(error=asyncio.CancelledError())

    async def _on_loop(self, tool: Tool, bound: Callable[[], Any]) -> End:
        """Lets a task of its own end, however it does."""
        ends: list[End] = []
        work = self._work = asyncio.create_task(call_on_loop(tool, bound, ends))
        if self._reason is not None:
            work.cancel()
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()
        # Without an end it was cancelled before it began.
        return ends[0] if ends else End(error=asyncio.CancelledError())

    def _told(self, tool: Tool, end: End) -> host_pb2.Outcome:
        error = end.error
        if end.misfit:
            return self._failed(self._misfit(tool, end.misfit))
        if error is None:
            return host_pb2.Outcome(call_id=self.id, data_json=end.text)
        # By its type: what an object says of its class may be anything.
        if issubclass(type(error), ToolError):
            return self._failed(error)
        if issubclass(type(error), asyncio.CancelledError):
            return self._failed(self._stopped())
        note(error, "%s failed, call %s", tool.name, self.id)
        return self._failed(
            ToolError(f"{tool.name} failed; the log of its program says why, under call {self.id}.")
        )

    def _failed(self, error: Any) -> host_pb2.Outcome:
        return host_pb2.Outcome(call_id=self.id, error=ToolError.to_proto(error))

    def _misfit(self, tool: Tool, misfit: Misfit) -> ToolError:
        """Of a function that has ended."""
        note(misfit, "the result of %s is not carried, call %s", tool.name, self.id)
        done = "" if tool.reads else "The write was done. "
        if isinstance(misfit, TooLarge):
            return ResultTooLarge(f"{done}The data has more than 3 MiB. Narrow the arguments.")
        return ParseError(f"{done}The result of {tool.name} cannot be carried: {cut(str(misfit), 500)}.")

    def _make_context(self) -> CallContext:
        start, caller = self._start, self._start.context
        return CallContext(
            send=self._send, call_id=self.id, request_id=start.request_id, task_id=caller.task_id,
            user=User(caller.user_id, caller.user_email, caller.user_role), session_id=caller.session_id,
            attributes=dict(caller.attributes), traceparent=start.traceparent, deadline=self.deadline,
        )

    def stopped(self) -> host_pb2.Outcome:
        """The outcome of a call that is given up while its function goes on."""
        return self._failed(self._stopped())

    def _stopped(self) -> ToolError:
        if self._reason == host_pb2.CANCEL_REASON_DEADLINE:
            return ToolTimeout("The time of the call was over before it was done.")
        return Cancelled("The call was cancelled.")


def last_resort(call_id: str, code: Any = result_pb2.TOOL_ERROR_CODE_UNKNOWN, why: str = "") -> host_pb2.Outcome:
    """An outcome that can always be written: short, and in ASCII."""
    error = result_pb2.ToolError(code=code, message=why or "The call failed in its program.")
    return host_pb2.Outcome(call_id=call_id, error=error)


def note(error: BaseException, message: str, *arguments: object) -> None:
    """Logs it, unless it cannot be: an error may raise where it is shown."""
    try:
        log.error(message, *arguments, exc_info=error)
    except BaseException:
        with contextlib.suppress(BaseException):
            log.error(f"{message}, with an error that cannot be shown", *arguments)
