"""A load client whose own cost hardly counts: HTTP/2 by hand, a unary call again and again, some of them in flight.

One that grpcio makes takes as much of the processor as the server that it loads.
"""

import socket
import struct
import time

DATA, HEADERS, RESET, SETTINGS, PING, GO_AWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
WINDOW = (1 << 31) - 1


def _frame(kind, flags, stream, body=b""):
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body


def _text(text):
    """A string of a header, of at most 126 bytes."""
    return bytes([len(text)]) + text.encode()


class Load:
    """A connection on which one call is made again and again. Its answer must contain `expected`."""

    def __init__(self, address, path, message, expected):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # POST, http, the path and the authority, `content-type`, `te`; none is added to a table.
        self._headers = b"\x83\x86\x04" + _text(path) + b"\x01" + _text(address)
        self._headers += b"\x0f\x10" + _text("application/grpc") + b"\x00" + _text("te") + _text("trailers")
        self._body = b"\0" + struct.pack(">I", len(message)) + message
        self._expected, self._next, self._read, self._due = expected, 1, b"", bytearray()
        self._due += b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(SETTINGS, 0, 0, struct.pack(">HI", 4, WINDOW))
        self._due += _frame(8, 0, 0, struct.pack(">I", WINDOW - 65_535))

    def run(self, in_flight, seconds):
        """Calls a second, and the seconds that each took."""
        began, taken, answered = {}, [], set()
        start = time.perf_counter()
        until = start + seconds
        for _ in range(in_flight):
            self._begin(began)
        while began:
            self._socket.sendall(self._due)
            self._due.clear()
            for kind, flags, stream, body in self._frames():
                if kind == DATA and self._expected in body:
                    answered.add(stream)
                elif kind == HEADERS and flags & END_STREAM:
                    assert stream in answered, "a call failed"
                    answered.remove(stream)
                    now = time.perf_counter()
                    taken.append(now - began.pop(stream))
                    if now < until:
                        self._begin(began)
                elif kind in (SETTINGS, PING) and not flags & ACK:
                    self._due += _frame(kind, ACK, 0, body if kind == PING else b"")
                assert kind not in (RESET, GO_AWAY), (kind, body)
        return len(taken) / (time.perf_counter() - start), taken

    def _begin(self, began):
        stream, self._next = self._next, self._next + 2
        self._due += _frame(HEADERS, END_HEADERS, stream, self._headers)
        self._due += _frame(DATA, END_STREAM, stream, self._body)
        began[stream] = time.perf_counter()

    def _frames(self):
        data = self._socket.recv(1 << 18)
        assert data, "the server closed the connection"
        data, at, frames = self._read + data, 0, []
        while len(data) >= at + 9:
            length = int.from_bytes(data[at : at + 3], "big")
            end = at + 9 + length
            if len(data) < end:
                break
            kind, flags, stream = struct.unpack_from(">BBI", data, at + 3)
            frames.append((kind, flags, stream, data[at + 9 : end]))
            at = end
        self._read = data[at:]
        return frames
