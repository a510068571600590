"""The loop for the coroutines of tools: on a thread of its own, or that of the program.

A tool may stop, block or break the loop that it runs on, or cancel all of its tasks: the loop of the host goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from typing import Any

from toolwire._fork import end_child
from toolwire._log import log_error

# For how long tasks that tools have left may go on at the end, in seconds.
GRACE_OF_TASKS = 0.5

Begin = Callable[[], Coroutine[Any, Any, None]]


class Work:
    """A coroutine on the loop of tools, which makes it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, begin: Begin) -> None:
        # Cancelled if the coroutine is stopped before it begins, and failed if its loop ends first.
        self.ended: Future[None] = Future()
        self._loop, self._begin = loop, begin
        self._task: asyncio.Task[None] | None = None
        self._schedule(self._start)

    def stop(self) -> None:
        """Cancels the task. What has not begun never begins."""
        if not self.ended.cancel():
            self._schedule(lambda: self._task and self._task.cancel())

    def fail(self, error: BaseException) -> None:
        with contextlib.suppress(InvalidStateError):
            self.ended.set_exception(error)

    def _schedule(self, act: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError as error:
            # A tool has closed the loop.
            self.fail(error)

    def _start(self) -> None:
        if self.ended.set_running_or_notify_cancel():
            # Tools may have changed which loop runs, and how it makes tasks.
            asyncio._set_running_loop(self._loop)
            try:
                self._task = asyncio.Task(self._begin(), loop=self._loop)
                self._task.add_done_callback(self._end)
            except BaseException as error:
                self.fail(error)

    def _end(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error:
            self.fail(error)
        else:
            with contextlib.suppress(InvalidStateError):
                self.ended.set_result(None)


class ToolLoop:
    """A loop that runs until `close`, whatever runs on it. One that breaks is replaced.

    A loop that is given runs on this thread, and is the affair of the program, which may also close it.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name, self._lock, self._is_closing = name, threading.Lock(), False
        self._loop, self._is_given = loop, loop is not None
        self._thread = threading.current_thread() if loop else None
        self._ended: Future[None] = Future()
        self._works: set[Work] = set()

    def begin(self, begin: Begin) -> Work:
        """Has the loop run a coroutine."""
        with self._lock:
            if self._is_closing:
                raise RuntimeError("the host has ended")
            self._loop = self._loop or self._start()
            work = Work(self._loop, begin)
            self._works.add(work)
        work.ended.add_done_callback(lambda _: self._works.discard(work))
        return work

    def is_current(self) -> bool:
        """Whether this thread runs the loop."""
        return threading.current_thread() is self._thread

    def end_child(self) -> None:
        """In a child process that a coroutine has forked: it must not run the loop on."""
        if self._loop and self.is_current() and not self._is_given:
            self._loop.call_soon(end_child)

    async def close(self) -> None:
        """Ends the loop, or leaves one that is blocked to the end of the process."""
        with self._lock:
            self._is_closing, loop = True, self._loop
        if loop and not self._is_given:
            # It may be closed already.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.stop)
            await asyncio.wait([asyncio.wrap_future(self._ended)], timeout=2 * GRACE_OF_TASKS)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(loop,), name=self._name, daemon=True)
        self._thread.start()
        return loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        reason = RuntimeError("the host has ended")
        while not self._is_closing:
            try:
                # Returns where a tool stops the loop.
                loop.run_forever()
            except Exception as error:
                # Not of a callback or a task: the loop is closed, or its descriptors are.
                log_error(error, "a tool has broken the loop of coroutines: its calls fail, and the next makes another")
                reason = RuntimeError("the loop of coroutines was broken")
                break
            except BaseException as error:
                log_error(error, "what a tool began has raised %s: the calls of others go on", type(error).__name__)
        with self._lock:
            self._loop, works, self._works = None, self._works, set()
        for work in works:
            work.fail(reason)
        with contextlib.suppress(BaseException):
            if self._is_closing:
                end_tasks(loop)
        with contextlib.suppress(BaseException):
            loop.close()
        if self._is_closing:
            self._ended.set_result(None)


def end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Ends what tools have left on the loop."""
    loop.set_task_factory(None)
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left, timeout=GRACE_OF_TASKS))
    loop.run_until_complete(loop.shutdown_asyncgens())
