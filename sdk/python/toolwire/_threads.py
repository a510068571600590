"""Threads that carry out functions, and do not hold up the end of the program as those of ThreadPoolExecutor do."""

from __future__ import annotations

import asyncio
import contextvars
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from toolwire._fork import end_child

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What blocks, on a thread of its own: the loop's default pool has few, which are others'."""
    done: Future[T] = Future()
    run = contextvars.copy_context().run
    thread = threading.Thread(target=carry_out, args=(done, lambda: run(work)), name="toolwire-blocking", daemon=True)
    thread.start()
    try:
        return await asyncio.wrap_future(done)
    finally:
        # Its last instructions are left: the caller, who may count threads or fork, finds none of this.
        if done.done():
            thread.join()


def carry_out(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    error, value, process = None, None, os.getpid()
    try:
        value = function()
    except BaseException as raised:
        error = raised
    if os.getpid() != process:
        end_child(error)
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
    # A cycle: the traceback has this frame.
    del error


class Threads(Executor):
    """As many as there are functions at a time, each used again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        # Counts the threads that wait for work.
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._work.put((future, lambda: function(*args, **options)))
        if not self._idle.acquire(blocking=False):
            name = f"{self._name}-{len(self._threads) + 1}"
            self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
            self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False, within: float = 0.1) -> None:
        """Ends the threads, and waits for those whose functions have ended."""
        for _ in self._threads:
            self._work.put(None)
        end = time.monotonic() + within
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while work := self._work.get():
            carry_out(*work)
            # Nothing of it is kept until the next.
            del work
            self._idle.release()
