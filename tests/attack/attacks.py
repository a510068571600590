"""The attacks. Each is a generator: what it does until its `yield` goes on while the background caller is measured, and what
comes after is looked at then. A problem is raised as an AssertionError."""

import select
import time
import uuid

from background import written
from server import token
from toolwire.v1 import tool_service_pb2 as pb
from wire import PREFACE_AND_SETTINGS, Connection, frame, tcp

MALLORY = token("mallory")
RESOURCE_EXHAUSTED, UNAVAILABLE = 8, 14
STREAMS = 100  # of one connection


def connections(server, count, **options):
    return [Connection(server.address, MALLORY, source="127.0.0.2", **options) for _ in range(count)]


def begin(many, count, *call, **options):
    """So many calls over these connections."""
    for number in range(count):
        many[number // STREAMS].begin(*call, **options)


def ends(many):
    return [end for connection in many for end in connection.ended.values()]


def close(many):
    for connection in many:
        connection.close()


def soon(holds, otherwise, seconds=10):
    """Waits until something holds."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, otherwise
        time.sleep(0.1)


def full_disk(server):
    """C.1: a disk that was full once."""
    caller = Connection(server.address, token("demo"))
    assert caller.call("CallTool", written()) == 0
    server.fill_disk()
    statuses = {caller.call("CallTool", written()) for _ in range(20)}
    assert statuses == {UNAVAILABLE}, f"statuses {statuses}"
    yield
    soon(lambda: server.health("readyz") == 503, "a store that cannot write is ready")
    server.free_disk()
    soon(lambda: caller.call("CallTool", written()) == 0, "a write fails although there is room")
    soon(lambda: server.health("readyz") == 200, "a store that can write is not ready")
    caller.close()


def half_requests(server):
    """C.2: half requests and watches of one user."""
    halves, watches = connections(server, 12), connections(server, 6, window=0)
    half = frame(pb.CallToolRequest(tool="get_quotes", arguments_json='{"symbol": "AAPL"}'))[:-3]
    begin(halves, 12 * STREAMS, "CallTool", half, ends=False)
    begin(watches, 6 * STREAMS, "WatchTools", frame(pb.WatchToolsRequest()))
    yield
    for many in (halves, watches):
        until = time.monotonic() + 10
        while RESOURCE_EXHAUSTED not in ends(many):
            assert time.monotonic() < until, f"one user takes all: {set(ends(many))}"
            # What is beyond the share may have come over any of them.
            for connection in many:
                connection.drain(0.02)
    close(halves + watches)


def stalled_log(server):
    """C.3: nobody reads the log."""
    server.reads_log.clear()
    many = connections(server, 1)
    unknown = pb.CallToolRequest(tool="x" * 60, arguments_json="{}")
    # More lines than any pipe holds.
    for _ in range(1_000):
        many[0].call("CallTool", unknown)
    yield
    server.reads_log.set()
    close(many)


def silent_connections(server):
    """C.4: connections of one address that never authenticate."""
    silent = []
    for _ in range(1_500):
        stream = tcp(server.address, "127.0.0.2")
        silent.append(stream)
        try:
            stream.sendall(PREFACE_AND_SETTINGS)
        except OSError:
            pass
    yield
    assert server.health() == 200, "the admin endpoint is shut out"
    poll = select.poll()
    for stream in silent:
        poll.register(stream, select.POLLRDHUP)
    closed = len(poll.poll(0))
    assert closed > 500, f"only {closed} of 1,500 connections of one address were closed"
    for stream in silent:
        stream.close()


def embedded_origin(server):
    """C.5: no socket but the three that were asked for."""
    yield
    assert server.listening() == 3, f"{server.listening()} sockets listen"


def unread_events(server):
    """C.6: a hundred streams of large events whose reader takes nothing."""
    many = connections(server, 1, window=0)
    large = '{"count": 64, "bytes": 1000000}'
    begin(many, STREAMS, "InvokeTool", frame(pb.InvokeToolRequest(tool="debug_stream", arguments_json=large)))
    yield
    close(many)


def request_ids(server):
    """C.7: as many request ids as one user can use."""
    many = connections(server, 4)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        for connection in many:
            for _ in range(25):
                request = pb.CallToolRequest(
                    tool="get_quotes", arguments_json='{"symbol": "AAPL"}', request_id=str(uuid.uuid4())
                )
                connection.begin("CallTool", frame(request))
        for connection in many:
            count = len(connection.ended) + 25
            connection.wait(lambda: len(connection.ended) >= count or None, 10)
    yield
    close(many)


ALL = [
    half_requests,
    silent_connections,
    embedded_origin,
    unread_events,
    request_ids,
    stalled_log,
    full_disk,
]
