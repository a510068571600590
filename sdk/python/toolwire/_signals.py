"""The signals that ask a program to end: SIGTERM, SIGINT, and SIGHUP of a terminal that was closed."""

from __future__ import annotations

import queue
import signal
import threading
from types import FrameType
from typing import Any

from toolwire._fork import ENDING, keep_from_children

# Between two looks of the main thread, on which handlers run, at signals that came to another, in seconds.
LOOK_EVERY = 1.0


class Signals:
    """Receives them between `with` and its end, for this process alone and not for its children.

    The first one is an event. The next SIGTERM or SIGINT ends the process, as if nothing received it. On another thread
    than the main one none is received.
    """

    def __init__(self) -> None:
        # What is waited for, signals and whatever else is put here. A handler may put while another `put` runs.
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._is_first = True
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signals:
        for number in ENDING if threading.current_thread() is threading.main_thread() else ():
            # An ignored one stays so: `nohup` and a shell's `&` ask for that. None is a handler that is not Python's.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._previous[number] = signal.signal(number, self._receive)
        self._release = keep_from_children(self._restore)
        return self

    def __exit__(self, *_: object) -> None:
        self._release()
        self._restore()

    def wait(self) -> Any:
        """Waits for the next event."""
        while True:
            try:
                return self.events.get(timeout=LOOK_EVERY)
            except queue.Empty:
                continue

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self._is_first:
            self._is_first = False
            # SIGHUP does not hurry: service managers send it right after SIGTERM.
            for hurrying in self._previous.keys() & {signal.SIGTERM, signal.SIGINT}:
                signal.signal(hurrying, signal.SIG_DFL)
            self.events.put(signal.Signals(number))

    def _restore(self) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
