"""A rolling restart under load loses no call.

Usage: drain.py BINARY, with the stubs on PYTHONPATH. Fifty grpcio connections and twenty of HTTP/1.1 call instance A;
instance B starts behind the same addresses (SO_REUSEPORT); A is asked to end. Every call must succeed, and A must end by
itself in time, although a health watch, a watch over HTTP and connections that never speak are open to it.
"""

import collections
import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from toolwire.v1 import tool_service_pb2 as pb
from toolwire.v1 import tool_service_pb2_grpc

CONNECTIONS, HTTP_CONNECTIONS = 50, 20
# Each connection calls this often; every tenth call lasts long enough to be under way when its connection is told to go.
PAUSE = 0.05
LONG_CALL = "0.5s"
CALL_LIMIT = 10
# Promise 7: a drain has a hard end.
DRAIN_LIMIT = 25
START_LIMIT = 30
AFTER_EXIT = 3


class Instance:
    """A server process; `address` and `http` are set once it accepts connections."""

    def __init__(self, binary, listen, listen_http, state):
        self.log = tempfile.TemporaryFile()
        command = [binary, "serve", "--listen", listen, "--state", state, "--reuse-port", "--diagnostics"]
        command += [f"--http={listen_http}"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        self.address, self.http = self._printed_addresses()
        # Nothing may ever block on a full pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def _printed_addresses(self):
        timer = threading.Timer(START_LIMIT, self.process.kill)
        timer.start()
        try:
            found = []
            for line in self.process.stdout:
                found += re.findall(r"toolwire (?:listening|http) on (127\.0\.0\.1:\d+)", line)
                if len(found) == 2:
                    return found
        finally:
            timer.cancel()
        self.kill()
        raise AssertionError(f"the server printed no address; its log ends:\n{self.log_tail()}")

    def log_tail(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-4000:]

    def kill(self):
        self.process.kill()
        self.process.wait()


class Load:
    """Steady calls over CONNECTIONS connections, one thread and one TCP connection each."""

    def __init__(self, address):
        self.address = address
        self.stopping = threading.Event()
        self.failures = []
        self.succeeded = collections.Counter()
        self.threads = [threading.Thread(target=self._run, args=(i,), daemon=True) for i in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def total(self):
        return sum(self.succeeded.values())

    def _run(self, index):
        # Without a pool of its own a channel would share the others' connection.
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(self.address, options) as channel:
            stub = tool_service_pb2_grpc.ToolServiceStub(channel)
            count = index  # so that the long calls do not come all at once
            while not self.stopping.wait(PAUSE):
                self._call(stub, index, count % 10 == 0)
                count += 1

    def _call(self, stub, index, long):
        request = pb.CallToolRequest(tool="get_quotes", arguments_json='{"symbol":"AAPL"}')
        if long:
            request = pb.CallToolRequest(tool="debug_sleep", arguments_json=f'{{"duration":"{LONG_CALL}"}}')
        try:
            response = stub.CallTool(request, timeout=CALL_LIMIT)
        except grpc.RpcError as error:
            self.failures.append((time.monotonic(), request.tool, error.code().name, error.details()))
            return
        if response.result.HasField("error"):
            self.failures.append((time.monotonic(), request.tool, "error", response.result.error.message))
        self.succeeded[index] += 1


class HttpLoad(Load):
    """The same over HTTP/1.1, one thread and one connection each. As every client does, it comes back on another connection
    when an answer says that this one closes."""

    def __init__(self, address):
        super().__init__(address)
        self.threads = self.threads[:HTTP_CONNECTIONS]

    def _run(self, index):
        connection, count = http.client.HTTPConnection(self.address, timeout=CALL_LIMIT), index
        while not self.stopping.wait(PAUSE):
            long = count % 10 == 0
            tool, arguments = ("debug_sleep", {"duration": LONG_CALL}) if long else ("get_quotes", {"symbol": "AAPL"})
            try:
                headers = {"content-type": "application/json"}
                connection.request("POST", f"/v1/tools/{tool}:call", json.dumps(arguments), headers)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    self.failures.append((time.monotonic(), tool, str(answer.status), body.decode()))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((time.monotonic(), tool, type(error).__name__, str(error)))
                connection.close()
            self.succeeded[index] += 1
            count += 1


class HttpWatch:
    """An open stream of events; all that it said, once it has ended."""

    def __init__(self, address):
        self.said, self.ended = b"", threading.Event()
        host, port = address.rsplit(":", 1)
        self.stream = socket.create_connection((host, int(port)))
        self.stream.sendall(b"GET /v1/confirmations:watch HTTP/1.1\r\nhost: localhost\r\n\r\n")
        while b": open" not in self.said:
            self.said += self.stream.recv(1 << 16)
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        with contextlib.suppress(OSError):
            while part := self.stream.recv(1 << 16):
                self.said += part
        self.ended.set()


class Watch:
    """An open Health.Watch; keeps each status with the instant it came."""

    def __init__(self, channel):
        self.seen = []
        self.ended = threading.Event()
        stream = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        first = next(stream)
        assert first.status == health_pb2.HealthCheckResponse.SERVING
        threading.Thread(target=self._follow, args=(stream,), daemon=True).start()

    def _follow(self, stream):
        with contextlib.suppress(grpc.RpcError):
            for answer in stream:
                self.seen.append((time.monotonic(), answer.status))
        self.ended.set()


def wait_until(what, limit, condition):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {limit} s"
        time.sleep(0.02)


def every_connection_called(load, times):
    return lambda: load.failures or all(load.succeeded[i] >= times for i in range(len(load.threads)))


def check(binary, cleanup):
    # Both work on one state, as they do in a rolling restart.
    state = cleanup.enter_context(tempfile.TemporaryDirectory())
    a = Instance(binary, "127.0.0.1:0", "127.0.0.1:0", state)
    cleanup.callback(a.kill)
    host, port = a.address.rsplit(":", 1)

    load = cleanup.enter_context(Load(a.address))
    over_http = cleanup.enter_context(HttpLoad(a.http))
    loads = [load, over_http]
    for each in loads:
        wait_until("steady load", START_LIMIT, every_connection_called(each, 20))
    http_watch = HttpWatch(a.http)
    watch_options = [("grpc.use_local_subchannel_pool", 1)]
    watch = Watch(cleanup.enter_context(grpc.insecure_channel(a.address, watch_options)))
    cleanup.enter_context(socket.create_connection((host, int(port))))
    assert not load.failures and not over_http.failures, (load.failures + over_http.failures)[:5]

    b = Instance(binary, a.address, a.http, state)
    cleanup.callback(b.kill)
    assert (b.address, b.http) == (a.address, a.http)

    before = [each.total() for each in loads]
    terminated = time.monotonic()
    a.process.send_signal(signal.SIGTERM)
    try:
        code = a.process.wait(DRAIN_LIMIT)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"A still runs {DRAIN_LIMIT} s after SIGTERM; its log ends:\n{a.log_tail()}") from None
    exited = time.monotonic()
    print(f"A ended {exited - terminated:.1f} s after SIGTERM with exit code {code}; calls meanwhile: "
          + ", ".join(f"{each.total() - count}" for each, count in zip(loads, before)))

    at_exit = [each.succeeded.copy() for each in loads]
    # Long enough for a connection that was lost unnoticed to show.
    time.sleep(AFTER_EXIT)
    for each, called in zip(loads, at_exit):
        goes_on = lambda: all(each.succeeded[i] > called[i] for i in range(len(each.threads)))
        wait_until("calls to B", CALL_LIMIT, goes_on)
    for each in loads:
        each.stop()
        for instant, tool, what, text in each.failures[:10]:
            print(f"  {instant - terminated:+.2f} s {tool}: {what} {text}")
        over = "HTTP/1.1" if each is over_http else "gRPC"
        print(f"{each.total()} calls over {len(each.threads)} connections of {over}, {len(each.failures)} failed")
    failures = load.failures + over_http.failures
    assert not failures, f"{len(failures)} calls failed"
    assert code == 0, f"A ended with exit code {code}; its log ends:\n{a.log_tail()}"
    assert watch.ended.wait(1), "the health watch outlived A"
    assert http_watch.ended.wait(1), "the watch over HTTP outlived A"
    assert b"DRAINING" in http_watch.said, f"its last word is missing: {http_watch.said[-300:]}"
    not_serving = [instant for instant, status in watch.seen if status == health_pb2.HealthCheckResponse.NOT_SERVING]
    assert not_serving, "the health watch was not told NOT_SERVING"
    print(f"NOT_SERVING was seen {not_serving[0] - terminated:.2f} s after SIGTERM")


def main():
    # So that the instances are ended when this script is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as cleanup:
        check(sys.argv[1], cleanup)
    print("drain: no call was lost")


if __name__ == "__main__":
    main()
