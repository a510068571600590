"""Threads that carry out functions, and do not hold up the end of the program."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from toolwire._fork import end_child


class Threads(Executor):
    """As many as there are functions at a time, each used again. The threads of a ThreadPoolExecutor delay the exit."""

    def __init__(self, name: str) -> None:
        self._name, self._process = name, os.getpid()
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        # Counts the threads that wait for work.
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._work.put((future, lambda: function(*args, **options)))
        if not self._idle.acquire(blocking=False):
            self._threads += 1
            threading.Thread(target=self._run, name=f"{self._name}-{self._threads}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads, each when its function has ended. Waits for none."""
        for _ in range(self._threads):
            self._work.put(None)

    def _run(self) -> None:
        while work := self._work.get():
            self._carry_out(*work)
            # Nothing of it is kept until the next.
            del work
            self._idle.release()

    def _carry_out(self, future: Future[Any], function: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        error, value = None, None
        try:
            value = function()
        except BaseException as raised:
            error = raised
        if os.getpid() != self._process:
            end_child(error)
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
        # A cycle: the traceback has this frame.
        del error
