"""One call, carried out: from `Start` to `Outcome`."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from toolwire._context import Context, Done, User
from toolwire._schema import to_json
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import Tool
from toolwire.errors import Cancelled, ParseError, ResultTooLarge, ToolError, ToolTimeout, Unavailable

log = logging.getLogger("toolwire")

# Of a result, and of a chunk.
MOST_DATA = 3 * 1024 * 1024
# Between two messages of progress, in seconds.
PROGRESS_EVERY = 0.1

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
        asyncio.run_coroutine_threadsafe(work, self._loop).result()
        return Done()

    async def _progress(self, message: str, fraction: float | None) -> None:
        if self._pause:
            self._newest = (message, fraction)
            return
        self._pause = self._loop.call_later(PROGRESS_EVERY, self._go_on)
        progress = host_pb2.Progress(call_id=self.call_id, fraction=fraction, message=message[:1024])
        await self.send(host_pb2.WorkRequest(progress=progress))

    def _go_on(self) -> None:
        self._pause, newest, self._newest = None, self._newest, None
        if newest:
            self._sender = self._loop.create_task(self._progress(*newest))

    async def _chunk(self, data: Mapping[str, Any]) -> None:
        chunk = host_pb2.Chunk(call_id=self.call_id, data_json=fit(to_json(dict(data))))
        await self.send(host_pb2.WorkRequest(chunk=chunk))

    def close(self) -> None:
        """After the call: nothing more is sent of it."""
        if self._pause:
            self._pause.cancel()


def fit(text: str) -> str:
    """Data that a client accepts."""
    if len(text) > MOST_DATA or len(text.encode()) > MOST_DATA:
        raise ResultTooLarge("The data has more than 3 MiB. Narrow the arguments.")
    return text


class Call:
    """A call. Its slot is busy until `run` returns, however the function behaves."""

    def __init__(self, start: host_pb2.Start, tool: Tool | None, send: Send) -> None:
        self.id, self.tool, self._start, self._send = start.call_id, tool, start, send
        self.deadline = time.monotonic() + start.timeout.seconds + start.timeout.nanos / 1e9
        # Of a function that takes one.
        self._context: CallContext | None = None
        self._reason: host_pb2.CancelReason | None = None
        self._task: asyncio.Task[Any] | None = None
        # Within the coroutine of the tool, where a cancellation belongs, and nowhere else.
        self._interruptible = False

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
        if self._task and self._interruptible:
            self._task.cancel()

    async def run(self, threads: Executor) -> host_pb2.Outcome:
        """Carries it out. Never raises."""
        loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        timer = loop.call_later(self.deadline - time.monotonic(), self.cancel, host_pb2.CANCEL_REASON_DEADLINE)
        try:
            return host_pb2.Outcome(call_id=self.id, data_json=await self._carry_out(threads))
        except ToolError as error:
            return host_pb2.Outcome(call_id=self.id, error=error.to_proto())
        finally:
            timer.cancel()
            if self._context:
                self._context.close()

    async def _carry_out(self, threads: Executor) -> str:
        """The result's text. Raises nothing but ToolError."""
        tool = self.tool
        if tool is None:
            raise Unavailable(f"The host does not offer {self._start.tool}.", retryable=False)
        if self._reason is not None:
            raise self._stopped()
        try:
            if tool.parameters.context:
                self._context = self._make_context()
            bound = tool.bind(self._start.arguments_json, self._context)
            if tool.is_async:
                self._interruptible = True
                try:
                    value = await bound()
                finally:
                    self._interruptible = False
            else:
                value = await self._in_thread(bound, threads)
        except ToolError:
            raise
        except asyncio.CancelledError:
            raise self._stopped() from None
        except (Exception, SystemExit):
            log.exception("%s failed, call %s", tool.name, self.id)
            raise ToolError(f"{tool.name} failed; the log of its program says why, under call {self.id}.") from None
        return self._render(tool, value)

    def _make_context(self) -> CallContext:
        start, caller = self._start, self._start.context
        return CallContext(
            send=self._send, call_id=self.id, request_id=start.request_id, task_id=caller.task_id,
            user=User(caller.user_id, caller.user_email, caller.user_role), session_id=caller.session_id,
            attributes=dict(caller.attributes), traceparent=start.traceparent, deadline=self.deadline,
        )

    async def _in_thread(self, bound: Callable[[], Any], threads: Executor) -> Any:
        def guarded() -> Any:
            try:
                return bound()
            except StopIteration as error:
                # It cannot pass through a future.
                raise RuntimeError("the function raised StopIteration") from error

        return await asyncio.get_running_loop().run_in_executor(threads, guarded)

    def _stopped(self) -> ToolError:
        if self._reason == host_pb2.CANCEL_REASON_DEADLINE:
            return ToolTimeout("The time of the call was over before it was done.")
        return Cancelled("The call was cancelled.")

    def _render(self, tool: Tool, value: Any) -> str:
        try:
            return fit(tool.render(value))
        except (TypeError, ValueError, RecursionError):
            log.exception("the result of %s has no JSON, call %s", tool.name, self.id)
            raise ParseError(f"The result of {tool.name} cannot be read.") from None
