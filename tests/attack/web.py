"""Attacks on the HTTP listener, in the form of attacks.py: what raw sockets say of HTTP/1.1."""

import select
import socket
import threading
import time

from server import token
from wire import tcp

READ = b"GET /v1/tools/get_quotes HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\n%s\r\n"
CALL = b"POST /v1/tools/get_quotes:call HTTP/1.1\r\nhost: x\r\nauthorization: Bearer %s\r\ncontent-type: application/json\r\n%s\r\n"
MALLORY = token("mallory").encode()
ATTACKER = "127.0.0.2"
# Longer than headers and bodies may take.
HEADERS_LIMIT, BODY_LIMIT = 5, 10
MARGIN = 3

# Two readers may take each for another number of requests.
SHAPES = [
    CALL % (MALLORY, b"content-length: 2\r\ncontent-length: 60\r\n"),
    CALL % (MALLORY, b"content-length: +2\r\n"),
    CALL % (MALLORY, b"transfer-encoding: chunked\r\ncontent-length: 5\r\n"),
    CALL % (MALLORY, b"content-length: 5\r\ntransfer-encoding: chunked\r\n"),
    CALL % (MALLORY, b"transfer-encoding: xchunked\r\n"),
    CALL % (MALLORY, b"transfer-encoding : chunked\r\n"),
    CALL % (MALLORY, b"x: a\r\n b: c\r\n"),
]
HIDDEN = READ % (b"x", MALLORY, b"")


def connect(server):
    return tcp(server.http, ATTACKER)


def send(stream, data):
    try:
        stream.sendall(data)
    except OSError:
        pass


def rest(stream, timeout=10):
    """Everything to the end of a connection."""
    stream.settimeout(timeout)
    data = b""
    try:
        while part := stream.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass
    return data


def closed(streams):
    """How many of them the server has closed."""
    poll = select.poll()
    for stream in streams:
        poll.register(stream, select.POLLRDHUP)
    return len(poll.poll(0))


def close(streams):
    for stream in streams:
        stream.close()


class Flood(threading.Thread):
    """Does something over and over, from now until it is ended."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.ending, self.problem = work, threading.Event(), None
        self.start()

    def run(self):
        count = 0
        while not self.ending.is_set() and self.problem is None:
            try:
                self.work(count)
            except (AssertionError, OSError) as problem:
                self.problem = problem
            count += 1

    def end(self):
        self.ending.set()
        self.join()
        if self.problem is not None:
            raise self.problem


def during(work):
    """Does it over and over while others are measured."""
    flood = Flood(work)
    yield
    flood.end()


def idle_http(server):
    """2,000 connections of one address that say nothing."""
    streams = []
    for _ in range(2_000):
        try:
            streams.append(connect(server))
        except OSError:
            break
    yield
    assert server.health() == 200, "the admin endpoint is shut out"
    open_now = len(streams) - closed(streams)
    assert open_now <= 1_000, f"{open_now} connections of one address are open"
    close(streams)


def slow_headers(server):
    """Headers that come byte by byte."""
    streams = [connect(server) for _ in range(100)]
    for stream in streams:
        send(stream, b"GET /v1/tools HTTP/1.1\r\nhost: x\r\nx: ")
    yield
    until = time.monotonic() + HEADERS_LIMIT + MARGIN
    while closed(streams) < len(streams):
        assert time.monotonic() < until, f"{len(streams) - closed(streams)} connections with half a request are open"
        for stream in streams:
            send(stream, b"x")
        time.sleep(0.2)
    close(streams)


def slow_bodies(server):
    """Bodies that do not come."""
    streams = [connect(server) for _ in range(100)]
    for stream in streams:
        send(stream, CALL % (MALLORY, b"content-length: 20\r\n") + b"{")
    yield
    until = time.monotonic() + BODY_LIMIT + MARGIN
    for stream in streams:
        told = rest(stream, max(0.1, until - time.monotonic()))
        assert told.startswith(b"HTTP/1.1 408 "), told[:100]
    close(streams)


def unread_http(server):
    """Events of 1 MB whose reader takes nothing."""
    body = b'{"count": 64, "bytes": 1000000}'
    request = CALL.replace(b"get_quotes:call", b"debug_stream:invoke") % (MALLORY, b"content-length: %d\r\n" % len(body))
    streams = []
    # Each has its text, an event and the rendering of one in hand, 3 MB, beside what is kept for the user's readers: well
    # below the limit of memory, and 5 GB where nothing is bounded.
    for _ in range(80):
        stream = connect(server)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        send(stream, request + body)
        streams.append(stream)
    yield
    close(streams)


def smuggling(server):
    """Requests in the bodies of others."""

    def one(count):
        stream, shape = connect(server), SHAPES[count % len(SHAPES)]
        send(stream, shape + b"0\r\n\r\n" + HIDDEN)
        told = rest(stream)
        assert told.count(b"HTTP/1.1 ") == 1, (shape, told[:300])
        stream.close()

    yield from during(one)


def header_flood(server):
    """Headers without an end."""
    many = b"".join(b"x-%d: y\r\n" % number for number in range(3_000))
    floods = [many, b"x: " + b"y" * 100_000 + b"\r\n"]

    def one(count):
        stream = connect(server)
        send(stream, READ % (b"x", MALLORY, floods[count % 2]))
        told = rest(stream)
        assert not told or told.startswith(b"HTTP/1.1 431 "), told[:100]
        stream.close()

    yield from during(one)


def foreign_pages(server):
    """What a page of another origin makes a browser send."""

    def one(_):
        stream = connect(server)
        send(stream, READ % (b"x", MALLORY, b"origin: http://evil.example\r\nconnection: close\r\n"))
        assert rest(stream).startswith(b"HTTP/1.1 403 ")
        stream.close()

    yield from during(one)


ALL = [idle_http, slow_headers, slow_bodies, unread_http, smuggling, header_flood, foreign_pages]
