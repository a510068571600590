"""Open pages of the console, in the form of attacks.py: one user has as many as can be, and others' calls do not wait for
them. What it takes to open them is not measured, and what they take then is. Their streams share connections, of which a
server with few files takes fewer than there are pages."""

import threading
import time

import h2.events

from attacks import soon
from server import token
from web import ATTACKER
from wire import Connection

CONNECTIONS, STREAMS = 5, 100
CONSOLES = CONNECTIONS * STREAMS
# The last event of the state with which each of them begins.
LAST = b"event: tasks.synced\n"
OPEN_LIMIT = 60


class Pages(Connection):
    """The streams of some pages on one connection, which a thread reads until it is ended."""

    def __init__(self, server):
        super().__init__(server.http, token("mallory"), ATTACKER)
        self.tails, self.open, self.ending, self.error = {}, set(), threading.Event(), None
        for _ in range(STREAMS):
            self.get("/v1/events")
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ending.is_set():
            try:
                self.read(0.2)
            except TimeoutError:
                pass
            except OSError as error:
                self.error = error
                return

    def _handle(self, event):
        super()._handle(event)
        if isinstance(event, h2.events.DataReceived) and event.stream_id not in self.open:
            # The text may be cut anywhere.
            data = self.tails.pop(event.stream_id, b"") + event.data
            if LAST in data:
                self.open.add(event.stream_id)
            else:
                self.tails[event.stream_id] = data[-len(LAST) :]

    def end(self):
        self.ending.set()
        self.thread.join()
        self.close()


def consoles(server):
    """500 pages of one user, which read what comes."""
    began = server.processor()
    all_pages = [Pages(server) for _ in range(CONNECTIONS)]
    opened = lambda: sum(len(pages.open) for pages in all_pages) == CONSOLES
    soon(opened, f"of {CONSOLES} pages some do not open", OPEN_LIMIT)
    before, at = server.processor(), time.monotonic()
    yield
    share = (server.processor() - before) / (time.monotonic() - at)
    print(f"  {before - began:.2f} s of processor to open {CONSOLES}, then {share:.3f} s a second with the calls")
    for pages in all_pages:
        pages.end()
        assert pages.error is None and not pages.ended, (pages.error, pages.ended)


consoles.is_measured_once_open = True
consoles.most_times_calm = 1.2
# A percentile near its bound needs more calls than one far from it.
consoles.measured_time = 8
ALL = [consoles]
