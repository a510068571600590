"""A rolling restart fails no call: three replicas behind Envoy are asked to end and started again, one after the other.

Envoy has the settings of examples/deploy/envoy-replicas.yaml, with retries off. Reads, writes, calls that last a while
and calls of a host's tool go on all the time, by gRPC, REST and MCP. A replica that was started again serves before the
host has joined it, and does not know its tool until then: such calls are counted apart.
"""

import collections
import http.client
import json
import subprocess
import threading
import time
import urllib.request
import uuid

import grpc

from database import free_port
from replicas import ROOT, USERS, Client, World, metadata
from rows import Row, none_of, until
from toolwire.v1 import tool_service_pb2 as pb

CALLERS = 20
LIMIT = 30
LAME_DUCK = "5s"
HOSTED = "append_never"
NOT_JOINED = (f"Unknown tool: {HOSTED}", f"{HOSTED} is not known yet")
REVISION = "2026-07-28"


class Envoy:
    """The proxy in front of the replicas, by a recipe, which listens on this port and has its certificates there."""

    def __init__(self, program, world, recipe, listens, certificates=""):
        self.address, self.admin = f"127.0.0.1:{free_port()}", free_port()
        text = (ROOT / "examples/deploy" / recipe).read_text().replace("num_retries: 2", "num_retries: 0")
        text = text.replace("/etc/envoy/tls", str(certificates)).replace("address: 0.0.0.0", "address: 127.0.0.1")
        ports = {str(listens): self.address.rsplit(":")[-1]}
        for number, replica in enumerate(world.replicas):
            for usual, address in ((50051, replica.address), (50081, replica.http)):
                ports[str(usual + number)] = address.rsplit(":")[-1]
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
        """To how many replicas calls go, by whatever face."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/clusters", timeout=5) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return 0
        healthy = [line for line in lines if "health_flags::healthy" in line]
        return min(sum(line.startswith(f"{cluster}::") for line in healthy) for cluster in ("grpc", "http"))

    def close(self):
        self.process.kill()
        self.process.wait()


class Grpc:
    """Calls over one channel."""

    def __init__(self, address, user, tls=None):
        self.client = Client(address, user, tls and tls.credentials)
        self.close = self.client.close

    def claim(self, header, value):
        """Sends a header with each call."""
        self.client.metadata += ((header, value),)

    def failure(self, tool, arguments, request_id=None):
        """Calls a tool; what failed, if anything did."""
        request = pb.CallToolRequest(tool=tool, arguments_json=json.dumps(arguments), request_id=request_id)
        try:
            result = self.client.ask(self.client.tools.CallTool, request, LIMIT).result
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
        return f"{result.error.code}: {result.error.message}" if result.HasField("error") else None


class Rest:
    """Calls over one connection of HTTP/1.1, opened again only where its peer has closed it after an answer."""

    def __init__(self, address, user, tls=None):
        self.connection = http.client.HTTPConnection(address, timeout=LIMIT)
        if tls:
            self.connection = http.client.HTTPSConnection(address, timeout=LIMIT, context=tls.context)
        self.headers = {**dict(metadata(user)), "content-type": "application/json"}
        self.close = self.connection.close

    def claim(self, header, value):
        self.headers[header] = value

    def failure(self, tool, arguments, request_id=None):
        headers = {**self.headers, "idempotency-key": request_id} if request_id else self.headers
        return self.sent(f"/v1/tools/{tool}:call", arguments, headers)

    def sent(self, path, body, headers):
        try:
            self.connection.request("POST", path, json.dumps(body), headers)
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return f"{type(error).__name__}: {error}"
        return f"{answer.status}: {text[:300]}" if answer.status != 200 or self.says_failed(text) else None

    def says_failed(self, text):
        """Whether an answer with the status 200 is of a failure."""
        return False


class Mcp(Rest):
    """The same, by MCP."""

    def failure(self, tool, arguments, request_id=None):
        headers = {
            **self.headers,
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": REVISION,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        meta = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        arguments = {**arguments, "request_id": request_id} if request_id else arguments
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        return self.sent("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)

    def says_failed(self, text):
        result = json.loads(text).get("result")
        return not result or result.get("isError", False)


class Caller(threading.Thread):
    """Calls through the proxy, over a connection of its own, until it is told to stop."""

    def __init__(self, face, number, stopping, call):
        super().__init__(daemon=True)
        self.face, self.number, self.stopping, self.call = face, number, stopping, call
        self.ends, self.failures, self.unknown = collections.Counter(), [], 0
        self.start()

    def run(self):
        count = self.number
        while not self.stopping.is_set():
            count += 1
            tool, *arguments = self.call(count)
            failure = self.face.failure(tool, *arguments)
            if failure and tool == HOSTED and any(it in failure for it in NOT_JOINED):
                self.unknown += 1
            elif failure:
                self.failures.append(f"{time.strftime('%X')} {type(self.face).__name__} {tool}: {failure}")
            self.ends[type(self.face).__name__, tool] += 1
        self.face.close()


def call(count):
    """A tool, its arguments, and the `request_id` of a write: mostly reads."""
    if count % 50 == 0:
        return "debug_sleep", {"duration": "1s"}
    if count % 5 == 0:
        return "debug_write", {"value": "x"}, str(uuid.uuid4())
    return "debug_stream", {"count": 1}


def call_or_hosted(count):
    return (HOSTED, {}) if count % 10 == 0 and count % 50 else call(count)


FACES = (Grpc, Rest, Mcp)


def shown(ends):
    """How many calls there were by each face, and of each tool."""
    by_face, by_tool = collections.Counter(), collections.Counter()
    for (face, tool), count in ends.items():
        by_face[face] += count
        by_tool[tool] += count
    return f"{dict(by_face)}, {dict(by_tool)}"


def run(binary, program, short):
    with World(binary, lame_duck=LAME_DUCK) as world:
        world.start_host(0, 1, 2)
        envoy = Envoy(program, world, "envoy-replicas.yaml", 50050)
        world.callback(envoy.close)
        faces = [FACES[number % len(FACES)](envoy.address, USERS[number]) for number in range(CALLERS)]
        yield from restart_all(world, envoy, faces, call_or_hosted, short)


def restart_all(world, envoy, faces, call, short):
    """Each replica in turn, while callers call by these faces; the rows."""
    wanted = 1_000 if short else 20_000
    stopping, began = threading.Event(), time.monotonic()
    callers = [Caller(face, number, stopping, call) for number, face in enumerate(faces)]

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
    yield Row("calls through Envoy", f"≥ {wanted:,}", f"{ends.total():,} in {took:.0f} s: {shown(ends)}")
    yield Row("drains", "", ", ".join(f"{seconds:.1f} s" for seconds in drains))
    if of_host := sum(count for (_, tool), count in ends.items() if tool == HOSTED):
        unknown = sum(caller.unknown for caller in callers)
        yield Row("of a host's tool, before the host had joined", "", f"{unknown} of {of_host:,}")
    yield none_of("failed", [it for caller in callers for it in caller.failures], ends.total())
