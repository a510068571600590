"""One call, carried out: from `Start` to `Outcome`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from toolwire._context import Context, Done, User
from toolwire._end import End, call_in_thread, call_on_loop
from toolwire._fork import end_child, is_child
from toolwire._json import Misfit, TooLarge, data_json
from toolwire._log import log, log_error
from toolwire._loop import ToolLoop, Work
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._text import cut, readable
from toolwire._tool import Tool
from toolwire.errors import (
    Cancelled,
    InvalidArgument,
    ParseError,
    Refused,
    ResultTooLarge,
    ToolError,
    ToolTimeout,
    Unavailable,
)

# The text of a message of progress, in bytes.
MOST_PROGRESS = 1024
# Between two messages of progress, in seconds.
PROGRESS_EVERY = 0.1
# How often a thread that waits for the loop looks whether it is there, in seconds.
LOOK_EVERY = 5.0

Send = Callable[[host_pb2.WorkRequest], Coroutine[Any, Any, None]]


@dataclass(kw_only=True)
class CallContext(Context):
    """The context of a call that a server made."""

    send: Send
    tool_loop: ToolLoop
    # That of the host, on which no code of a tool runs.
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    # Between two messages of progress the newest waits.
    _pausing: threading.Lock = field(default_factory=threading.Lock)
    _is_paused: bool = False
    _newest: host_pb2.Progress | None = None
    _pause: asyncio.TimerHandle | None = None
    _sender: asyncio.Task[None] | None = None

    def progress(self, message: str, fraction: float | None = None) -> Awaitable[None]:
        progress = host_pb2.Progress(call_id=self.call_id, message=readable(message, MOST_PROGRESS))
        # What is no part of the work is not known, as to the server.
        if isinstance(fraction, int | float) and 0 <= fraction <= 1:
            progress.fraction = fraction
        return self._do(lambda: self._progress(progress))

    def chunk(self, data: Mapping[str, Any]) -> Awaitable[None]:
        chunk = host_pb2.WorkRequest(chunk=host_pb2.Chunk(call_id=self.call_id, data_json=data_json(data)))
        return self._do(lambda: self.send(chunk))

    def _do(self, begin: Callable[[], Coroutine[Any, Any, None] | None]) -> Awaitable[None]:
        """Does it when it is awaited; for a function in a thread, which cannot await, before it returns."""
        if self.tool_loop.is_current():
            return self._await(begin)
        if self.cancelled:
            raise asyncio.CancelledError
        if work := begin():
            self._wait(asyncio.run_coroutine_threadsafe(work, self._loop))
        return Done()

    async def _await(self, begin: Callable[[], Coroutine[Any, Any, None] | None]) -> None:
        if work := begin():
            # What is sent does not end with the task that waits for it.
            await asyncio.shield(asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop)))

    def _wait(self, done: concurrent.futures.Future[None]) -> None:
        while True:
            try:
                return done.result(LOOK_EVERY)
            except concurrent.futures.TimeoutError:
                # A host that has ended meanwhile never does it.
                if done.done() or not self._loop.is_running():
                    raise

    def _progress(self, progress: host_pb2.Progress) -> Coroutine[Any, Any, None] | None:
        """Sends it, or has it wait for its turn."""
        with self._pausing:
            if self._is_paused:
                self._newest = progress
                return None
            self._is_paused = True
        return self._send_progress(progress)

    async def _send_progress(self, progress: host_pb2.Progress) -> None:
        self._pause = self._loop.call_later(PROGRESS_EVERY, self._go_on)
        await self.send(host_pb2.WorkRequest(progress=progress))

    def _go_on(self) -> None:
        with self._pausing:
            newest, self._newest = self._newest, None
            self._is_paused = newest is not None
        if newest:
            self._sender = self._loop.create_task(self._send_progress(newest))

    def close(self) -> None:
        """After the call: nothing more is sent of it."""
        if self._pause:
            self._pause.cancel()


class Call:
    """A call. Its slot is busy until `run` returns, however the function behaves.

    What runs code of a tool, such as the `__str__` of an error, is done on a thread or on the loop of tools.
    """

    def __init__(self, start: host_pb2.Start, tool: Tool | None, send: Send) -> None:
        self.id, self.tool, self._start, self._send = start.call_id, tool, start, send
        self.deadline = time.monotonic() + start.timeout.seconds + start.timeout.nanos / 1e9
        # Of a function that takes one.
        self._context: CallContext | None = None
        self._reason: host_pb2.CancelReason | None = None
        # A coroutine of the tool.
        self._work: Work | None = None

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
            self._work.stop()

    async def run(self, threads: Executor, tool_loop: ToolLoop) -> host_pb2.Outcome:
        """Carries it out. Never raises."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.deadline - time.monotonic(), self.cancel, host_pb2.CANCEL_REASON_DEADLINE)
        try:
            return await self._outcome(threads, tool_loop)
        except asyncio.CancelledError:
            return self.stop_outcome()
        except BaseException as error:
            log_error(error, "call %s failed", self.id)
            return last_resort(self.id)
        finally:
            timer.cancel()
            if self._context:
                self._context.close()

    async def _outcome(self, threads: Executor, tool_loop: ToolLoop) -> host_pb2.Outcome:
        """Raises CancelledError of a function that was not begun."""
        tool = self.tool
        if tool is None:
            return self._error_outcome(Unavailable(f"The host does not offer {self._start.tool}.", retryable=False))
        if tool.parameters.context or tool.part:
            self._context = self._make_context(tool_loop)
        begin = functools.partial(self._begin, tool)
        if tool.is_async:
            return await self._on_loop(tool_loop, tool, begin)
        loop = asyncio.get_running_loop()
        given = await loop.run_in_executor(threads, self._in_thread, tool, begin)
        if isinstance(given, host_pb2.Outcome):
            return given
        try:
            return await self._on_loop(tool_loop, tool, lambda: given)
        finally:
            if inspect.iscoroutine(given) and inspect.getcoroutinestate(given) == inspect.CORO_CREATED:
                # It was over before it began.
                given.close()

    def _begin(self, tool: Tool) -> Any:
        """Calls the function. Raises InvalidArgument of one that cannot be begun, where UNKNOWN would leave a doubt."""
        try:
            function = tool.bind(self._start.arguments_json, self._context)
        except ToolError:
            raise
        except BaseException as error:
            log_error(error, "the arguments of %s cannot be read, call %s", tool.name, self.id)
            raise InvalidArgument(f"The arguments of {tool.name} cannot be read.") from None
        return function()

    def _in_thread(self, tool: Tool, begin: Callable[[], Any]) -> host_pb2.Outcome | Awaitable[Any]:
        if self._reason is not None:
            # It has waited for a thread.
            return self.stop_outcome()
        given = call_in_thread(tool, begin, self._context)
        return self._outcome_of(tool, given) if isinstance(given, End) else given

    async def _on_loop(self, tool_loop: ToolLoop, tool: Tool, begin: Callable[[], Any]) -> host_pb2.Outcome:
        """Lets a task of its own end, however it does: what a coroutine does to its task stays there."""
        if self._reason is not None:
            return self.stop_outcome()
        told: list[host_pb2.Outcome] = []

        async def work() -> None:
            told.append(self._outcome_of(tool, await call_on_loop(tool, begin, self._context)))

        self._work = tool_loop.begin(work)
        try:
            await asyncio.wrap_future(self._work.ended)
        except asyncio.CancelledError:
            log.warning("%s waited in vain for the loop, call %s: a coroutine blocks it", tool.name, self.id)
            raise
        # Without an outcome it was cancelled before its first step.
        return told[0] if told else self.stop_outcome()

    def _outcome_of(self, tool: Tool, end: End) -> host_pb2.Outcome:
        error = end.error
        if is_child():
            end_child(error)
        if end.misfit:
            return self._error_outcome(self._misfit(tool, end.misfit))
        if error is None:
            return host_pb2.Outcome(call_id=self.id, data_json=end.text)
        # By its type: what an object says of its class may be anything. What a client of the tool's own met is the
        # program's affair, not an outcome that the tool chose.
        if issubclass(type(error), ToolError) and not issubclass(type(error), Refused):
            return self._error_outcome(error)
        if issubclass(type(error), asyncio.CancelledError):
            return self.stop_outcome()
        log_error(error, "%s failed, call %s", tool.name, self.id)
        return self._error_outcome(
            ToolError(f"{tool.name} failed; the log of its program says why, under call {self.id}.")
        )

    def _error_outcome(self, error: Any) -> host_pb2.Outcome:
        return host_pb2.Outcome(call_id=self.id, error=ToolError.to_proto(error))

    def _misfit(self, tool: Tool, misfit: Misfit) -> ToolError:
        """Of a function that has ended."""
        log_error(misfit, "the result of %s is not carried, call %s", tool.name, self.id)
        done = "" if tool.reads else "The write was done. "
        if isinstance(misfit, TooLarge):
            return ResultTooLarge(f"{done}The data has more than 3 MiB. Narrow the arguments.")
        return ParseError(f"{done}The result of {tool.name} cannot be carried: {cut(str(misfit), 500)}.")

    def _make_context(self, tool_loop: ToolLoop) -> CallContext:
        start, caller = self._start, self._start.context
        return CallContext(
            send=self._send, tool_loop=tool_loop, call_id=self.id, request_id=start.request_id, task_id=caller.task_id,
            user=User(caller.user_id, caller.user_email, caller.user_role), session_id=caller.session_id,
            attributes=dict(caller.attributes), traceparent=start.traceparent, deadline=self.deadline,
        )

    def stop_outcome(self) -> host_pb2.Outcome:
        """The outcome of a call that was cancelled, also while its function goes on."""
        if self._reason == host_pb2.CANCEL_REASON_DEADLINE:
            return self._error_outcome(ToolTimeout("The time of the call was over before it was done."))
        return self._error_outcome(Cancelled("The call was cancelled."))


def last_resort(call_id: str, code: Any = result_pb2.TOOL_ERROR_CODE_UNKNOWN, why: str = "") -> host_pb2.Outcome:
    """An outcome that can always be written: short, and in ASCII."""
    error = result_pb2.ToolError(code=code, message=why or "The call failed in its program.")
    return host_pb2.Outcome(call_id=call_id, error=error)
