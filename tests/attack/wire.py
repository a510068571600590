"""HTTP/2 as an attacker speaks it: any window, any part of a request, no timer of its own."""

import socket
import struct
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

SERVICE = "/toolwire.v1.ToolService/"
PREFACE_AND_SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


def frame(message):
    """A gRPC message as it stands in a body."""
    body = message.SerializeToString()
    return b"\0" + struct.pack(">I", len(body)) + body


def tcp(address, source="127.0.0.1", timeout=10):
    """A TCP connection; all of 127.0.0.0/8 is this machine, so that `source` makes another peer."""
    host, port = address.rsplit(":", 1)
    stream = socket.create_connection((host, int(port)), timeout=timeout, source_address=(source, 0))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


class Connection:
    """One HTTP/2 connection. `window` is what the server may send of each body before it is given more."""

    def __init__(self, address, token, source="127.0.0.1", window=None):
        self.authority, self.token = address, token
        self.stream = tcp(address, source)
        config = h2.config.H2Configuration(client_side=True, validate_outbound_headers=False, header_encoding="utf-8")
        self.http2 = h2.connection.H2Connection(config)
        if window is not None:
            self.http2.local_settings = h2.settings.Settings(
                client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window}
            )
        self.gives_window = window is None
        self.http2.initiate_connection()
        self.flush()
        # Ended streams: their `grpc-status`, or the name of the event that ended them.
        self.ended, self._status = {}, {}

    def begin(self, method, body, ends=True, headers=()):
        """Begins a call; without `ends` its body goes on. Its stream."""
        stream = self.http2.get_next_available_stream_id()
        self.http2.send_headers(
            stream,
            [
                (":method", "POST"),
                (":scheme", "http"),
                (":path", method if method.startswith("/") else SERVICE + method),
                (":authority", self.authority),
                ("content-type", "application/grpc"),
                ("te", "trailers"),
                ("authorization", f"Bearer {self.token}"),
                *headers,
            ],
        )
        if body or ends:
            self.http2.send_data(stream, body, end_stream=ends)
        self.flush()
        return stream

    def get(self, path):
        """Begins a request without a body. Its stream."""
        stream = self.http2.get_next_available_stream_id()
        head = [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", self.authority)]
        self.http2.send_headers(stream, [*head, ("authorization", f"Bearer {self.token}")], end_stream=True)
        self.flush()
        return stream

    def call(self, method, message, timeout=10):
        """A call carried out to its end: its `grpc-status`."""
        stream = self.begin(method, frame(message))
        return self.wait(lambda: self.ended.get(stream), timeout)

    def wait(self, found, timeout):
        """Reads until something is found; an error after the time-out, or when the server closes."""
        until = time.monotonic() + timeout
        while (result := found()) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer in {timeout} s")
            self.read(left)
        return result

    def drain(self, seconds):
        """Reads whatever comes within so many seconds."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                self.read(left)
            except TimeoutError:
                return

    def read(self, timeout):
        self.stream.settimeout(timeout)
        data = self.stream.recv(1 << 16)
        if not data:
            raise ConnectionError("the server closed the connection")
        for event in self.http2.receive_data(data):
            self._handle(event)
        self.flush()

    def _handle(self, event):
        match event:
            case h2.events.DataReceived() if self.gives_window:
                self.http2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.ResponseReceived() | h2.events.TrailersReceived():
                headers = dict(event.headers)
                if "grpc-status" in headers:
                    self._status[event.stream_id] = int(headers["grpc-status"])
            case h2.events.StreamEnded():
                self.ended[event.stream_id] = self._status.get(event.stream_id, "no status")
            case h2.events.StreamReset():
                self.ended.setdefault(event.stream_id, "reset")
            case h2.events.ConnectionTerminated():
                raise ConnectionError("GOAWAY")

    def flush(self):
        self.stream.settimeout(10)
        self.stream.sendall(self.http2.data_to_send())

    def close(self):
        self.stream.close()
