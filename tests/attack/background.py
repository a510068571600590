"""A caller in the background, in a process of its own: what it waits and what fails while others attack."""

import multiprocessing
import time
import uuid

from toolwire.v1 import tool_service_pb2 as pb
from wire import Connection

PAUSE = 0.01
# So often it comes anew, and so often it writes.
RECONNECT, WRITE = 20, 10
OK = 0

READ = pb.CallToolRequest(tool="get_quotes", arguments_json='{"symbol": "AAPL"}')


def written():
    return pb.CallToolRequest(
        tool="debug_write", arguments_json='{"value": "x"}', request_id=str(uuid.uuid4())
    )


class Background:
    """Calls until it is stopped; each phase has its own figures."""

    def __init__(self, address, token):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_run, args=(address, token, other), daemon=True)
        self.process.start()

    def phase(self, writes=True):
        """Begins a phase: forgets the figures of the one before."""
        self.pipe.send(("phase", writes))

    def figures(self):
        """The seconds that each call of the phase took, and the failures."""
        self.pipe.send(("figures", None))
        if not self.pipe.poll(30):
            raise AssertionError("the background caller hangs")
        return self.pipe.recv()

    def stop(self):
        self.process.kill()
        self.process.join()


def _run(address, token, pipe):
    connection, calls, seconds, failures, writes = None, 0, [], [], True
    while True:
        while pipe.poll():
            what, writes_or_none = pipe.recv()
            if what == "figures":
                pipe.send((seconds, failures))
            else:
                seconds, failures, writes = [], [], writes_or_none
        calls += 1
        began = time.monotonic()
        request = written() if writes and calls % WRITE == 0 else READ
        doing = "connecting"
        try:
            if connection is None or calls % RECONNECT == 0:
                if connection:
                    connection.close()
                connection = Connection(address, token)
            doing = request.tool
            status = connection.call("CallTool", request)
            if status != OK:
                failures.append(f"{request.tool}: status {status}")
        except (OSError, TimeoutError) as error:
            failures.append(f"{doing}: {type(error).__name__}: {error}, after {time.monotonic() - began:.1f} s")
            connection = None
        seconds.append(time.monotonic() - began)
        time.sleep(PAUSE)
