"""A rolling restart fails no call: three replicas behind Envoy are asked to end and started again, one after the other.

Envoy has the settings of examples/deploy/envoy-replicas.yaml, with retries off. Reads, writes, calls that last a while
and calls of a host's tool go on all the time. A replica that was started again serves before the host has joined it,
and does not know its tool until then: such calls are counted apart.
"""

import collections
import subprocess
import threading
import time
import urllib.request
import uuid

import grpc

from database import free_port
from replicas import ROOT, USERS, Client, World
from rows import Row, none_of, until
from toolwire.v1 import tool_service_pb2 as pb

CALLERS = 20
LIMIT = 30
LAME_DUCK = "5s"
HOSTED = "append_never"
NOT_JOINED = (f"NOT_FOUND: Unknown tool: {HOSTED}", f"UNAVAILABLE: {HOSTED} is not known yet")


class Envoy:
    """The proxy in front of the replicas."""

    def __init__(self, program, world):
        self.address, self.admin = f"127.0.0.1:{free_port()}", free_port()
        text = (ROOT / "examples/deploy/envoy-replicas.yaml").read_text().replace("num_retries: 2", "num_retries: 0")
        ports = {"50050": self.address.rsplit(":")[-1]}
        ports |= {str(50051 + number): it.address.rsplit(":")[-1] for number, it in enumerate(world.replicas)}
        for usual, port in ports.items():
            text = text.replace(f"port_value: {usual} ", f"port_value: {port} ")
        admin = f"\nadmin: {{ address: {{ socket_address: {{ address: 127.0.0.1, port_value: {self.admin} }} }} }}\n"
        config, self.log = world.folder / "envoy.yaml", world.folder / "envoy.log"
        config.write_text(text + admin)
        with self.log.open("wb") as log:
            command = [program, "-c", config, "--use-dynamic-base-id", "--log-level", "warn", "--concurrency", "2"]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: self.healthy() == len(world.replicas))

    def healthy(self):
        """To how many replicas calls go."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/clusters", timeout=5) as answer:
                return answer.read().decode().count("health_flags::healthy")
        except OSError:
            return 0

    def close(self):
        self.process.kill()
        self.process.wait()


class Caller(threading.Thread):
    """Calls through the proxy, over a connection of its own, until it is told to stop."""

    def __init__(self, address, number, stopping):
        super().__init__(daemon=True)
        self.client, self.number, self.stopping = Client(address, USERS[number % len(USERS)]), number, stopping
        self.ends, self.failures, self.unknown = collections.Counter(), [], 0
        self.start()

    def run(self):
        count = self.number
        while not self.stopping.is_set():
            count += 1
            request = self.request(count)
            try:
                result = self.client.ask(self.client.tools.CallTool, request, LIMIT).result
                failure = f"{result.error.code}: {result.error.message}" if result.HasField("error") else None
            except grpc.RpcError as error:
                failure = f"{error.code().name}: {error.details()}"
            if failure and failure.startswith(NOT_JOINED):
                self.unknown += 1
            elif failure:
                self.failures.append(f"{time.strftime('%X')} {request.tool}: {failure}")
            self.ends[request.tool] += 1
        self.client.close()

    def request(self, count):
        if count % 50 == 0:
            return pb.CallToolRequest(tool="debug_sleep", arguments_json='{"duration": "1s"}')
        if count % 10 == 0:
            return pb.CallToolRequest(tool=HOSTED)
        if count % 5 == 0:
            request_id = str(uuid.uuid4())
            return pb.CallToolRequest(tool="debug_write", arguments_json='{"value": "x"}', request_id=request_id)
        return pb.CallToolRequest(tool="debug_stream", arguments_json='{"count": 1}')


def run(binary, program, short):
    wanted = 1_000 if short else 20_000
    with World(binary, lame_duck=LAME_DUCK) as world:
        world.start_host(0, 1, 2)
        envoy = Envoy(program, world)
        world.callback(envoy.close)
        stopping, began = threading.Event(), time.monotonic()
        callers = [Caller(envoy.address, number, stopping) for number in range(CALLERS)]

        def made():
            return sum(caller.ends.total() for caller in callers)

        drains = []
        for number, replica in enumerate(world.replicas):
            until(lambda: made() >= wanted * (number + 1) / 5, limit=300)
            asked = time.monotonic()
            assert replica.drain() == 0, replica.log.read_text()[-2000:]
            drains.append(time.monotonic() - asked)
            replica.start()
            until(lambda: envoy.healthy() == len(world.replicas))
        until(lambda: made() >= wanted, limit=300)
        stopping.set()
        for caller in callers:
            caller.join()
        ends = sum((caller.ends for caller in callers), collections.Counter())
        took = time.monotonic() - began
        yield Row("calls through Envoy", f"≥ {wanted:,}", f"{ends.total():,} in {took:.0f} s: {dict(ends)}")
        yield Row("drains", "", ", ".join(f"{seconds:.1f} s" for seconds in drains))
        unknown = sum(caller.unknown for caller in callers)
        yield Row("of a host's tool, before the host had joined", "", f"{unknown} of {ends[HOSTED]:,}")
        yield none_of("failed", [it for caller in callers for it in caller.failures], ends.total())
