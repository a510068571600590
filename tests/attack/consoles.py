"""Open pages of the console, in the form of attacks.py: one user has as many as can be, and others' calls do not wait for
them. What it takes to open them is not measured, and what they take then is."""

import selectors
import threading
import time

from attacks import soon
from large import ASKED
from web import close, connect, send

CONSOLES = 500
# The last event of the state with which each of them begins.
LAST = b"event: tasks.synced\n"
OPEN_LIMIT = 60


class Readers(threading.Thread):
    """Reads all streams, until it is ended."""

    def __init__(self, streams):
        super().__init__(daemon=True)
        self.selector, self.ending = selectors.DefaultSelector(), threading.Event()
        self.tails, self.open = {}, set()
        for stream in streams:
            stream.setblocking(False)
            self.selector.register(stream, selectors.EVENT_READ)
        self.start()

    def run(self):
        while not self.ending.is_set():
            for key, _ in self.selector.select(0.2):
                self._read(key.fileobj)

    def _read(self, stream):
        data = stream.recv(1 << 18)
        if not data:
            self.selector.unregister(stream)
        elif stream not in self.open:
            # The text may be cut anywhere.
            data = self.tails.pop(stream, b"") + data
            if LAST in data:
                self.open.add(stream)
            else:
                self.tails[stream] = data[-len(LAST) :]

    def end(self):
        self.ending.set()
        self.join()


def consoles(server):
    """500 pages of one user, which read what comes."""
    began = server.processor()
    streams = [connect(server) for _ in range(CONSOLES)]
    for stream in streams:
        send(stream, ASKED % b"/v1/events")
    readers = Readers(streams)
    soon(lambda: len(readers.open) == CONSOLES, f"of {CONSOLES} pages some do not open", OPEN_LIMIT)
    before, at = server.processor(), time.monotonic()
    yield
    share = (server.processor() - before) / (time.monotonic() - at)
    print(f"  {before - began:.2f} s of processor to open {CONSOLES}, then {share:.3f} s a second with the calls")
    readers.end()
    close(streams)


consoles.is_measured_once_open = True
consoles.most_times_calm = 1.2
# A percentile near its bound needs more calls than one far from it.
consoles.measured_time = 8
ALL = [consoles]
