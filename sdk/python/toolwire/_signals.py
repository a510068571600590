"""The signals that ask a program to end: SIGTERM, SIGINT, and SIGHUP of a terminal that was closed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from types import FrameType
from typing import Any

from toolwire._fork import ENDING, keep_from_children


class Signals:
    """Receives them between `with` and its end, on the main thread, for this process alone and not for its children.

    The first one is waited for. The next SIGTERM or SIGINT ends the process, as if nothing received it.
    """

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self._previous: dict[signal.Signals, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._received = asyncio.Event()

    def __enter__(self) -> Signals:
        for number in ENDING:
            # An ignored one stays so: `nohup` and a shell's `&` ask for that. None is a handler that is not Python's.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._previous[number] = signal.signal(number, self._receive)
        self._release = keep_from_children(self._restore)
        return self

    def __exit__(self, *_: object) -> None:
        self._release()
        self._restore()

    async def wait(self) -> signal.Signals:
        """Waits for the first one."""
        self._loop = asyncio.get_running_loop()
        # Python's handlers run on the main thread, which this wakes. What comes out of it does not count: a child that
        # has it too would write to it what only that child received.
        reading, writing = socket.socketpair()
        with reading, writing:
            reading.setblocking(False)
            writing.setblocking(False)
            self._loop.add_reader(reading, _empty, reading)
            signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
            try:
                if self.first is None:
                    await self._received.wait()
            finally:
                signal.set_wakeup_fd(-1)
                self._loop.remove_reader(reading)
        assert self.first
        return self.first

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self.first is not None:
            return
        self.first = signal.Signals(number)
        # SIGHUP does not hurry: service managers send it right after SIGTERM.
        for hurrying in self._previous.keys() & {signal.SIGTERM, signal.SIGINT}:
            signal.signal(hurrying, signal.SIG_DFL)
        if self._loop:
            self._loop.call_soon_threadsafe(self._received.set)

    def _restore(self) -> None:
        signal.set_wakeup_fd(-1)
        for number, previous in self._previous.items():
            signal.signal(number, previous)


def _empty(reading: socket.socket) -> None:
    with contextlib.suppress(BlockingIOError):
        reading.recv(256)
