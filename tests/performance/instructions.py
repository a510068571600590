"""How many instructions a call costs the server, held against tests/performance/instructions.json.

Usage: instructions.py BINARY [--write] [--bare-rmcp BINARY], with the stubs on PYTHONPATH and valgrind on PATH. A count
that grew by more than 5 % fails; `--write` renews the file, which belongs into the commit that makes a call dearer or
cheaper. Instructions are the same on every machine of an architecture, busy or not; what was counted on another one, or
by another valgrind, is printed and not compared. What they cannot see are system calls and waiting (see
docs/PERFORMANCE.md). The server of benches/peers/rmcp is counted beside ours, with the same bytes, and not compared.
"""

import argparse
import glob
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import grpc

from toolwire.v1 import tool_service_pb2 as pb
from toolwire.v1 import tool_service_pb2_grpc

FILE = pathlib.Path(__file__).with_name("instructions.json")
TOLERANCE = 0.05
# What the server does by the clock falls into some batches: the least of them is what the calls cost.
BATCHES = 5
CALLS = 100
WARM_UP = 100
START_LIMIT = 120
USERS = '[[auth.users]]\nuser_id = "demo"\ntoken = "demo-0123456789abcdef0123456789abcdef"\n'
METADATA = [("authorization", "Bearer demo-0123456789abcdef0123456789abcdef")]
CACHED = "get_technicals", {"symbol": "RELIANCE"}
REVISION = "2026-07-28"


class Server:
    """A server under callgrind, with one worker thread."""

    def __init__(self, command, directory, environment=()):
        self.directory = directory
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/counts"]
        self.log = open(os.path.join(directory, "log"), "wb")
        environment = {**os.environ, "TOKIO_WORKER_THREADS": "1", **dict(environment)}
        self.process = subprocess.Popen(
            valgrind + command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=environment,
        )
        self.timer = threading.Timer(START_LIMIT, self.process.kill)
        self.timer.start()

    def address(self, words):
        """What follows the words in the next line that begins with them."""
        for line in self.process.stdout:
            if line.startswith(words):
                return line.removeprefix(words).strip()
        raise AssertionError("the server printed no address: " + pathlib.Path(self.log.name).read_text()[-2000:])

    def started(self):
        self.timer.cancel()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def count(self):
        """The instructions since it was last asked."""
        before = set(glob.glob(f"{self.directory}/counts.*"))
        control = ["callgrind_control", "--dump", str(self.process.pid)]
        subprocess.run(control, check=True, stdout=subprocess.DEVNULL, timeout=60)
        dumps = set(glob.glob(f"{self.directory}/counts.*")) - before
        return sum(_total(dump) for dump in dumps)

    def stop(self):
        self.timer.cancel()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def _total(dump):
    text = pathlib.Path(dump).read_text()
    found = re.findall(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    return int(found[-1])


def ours(binary, directory):
    config = os.path.join(directory, "toolwire.toml")
    pathlib.Path(config).write_text(USERS)
    command = [binary, "serve", "--listen", "127.0.0.1:0", "--http=127.0.0.1:0", "--admin", "127.0.0.1:0"]
    command += ["--diagnostics", "--log", "json", "--config", config, "--state", os.path.join(directory, "state")]
    return Server(command, directory)


class Mcp:
    """A client of MCP over HTTP, which calls the cached read."""

    def __init__(self, address):
        tool, arguments = CACHED
        self.connection = http.client.HTTPConnection(address, timeout=30)
        meta = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        self.body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self.headers = {
            **dict(METADATA),
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": REVISION,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }

    def call(self):
        self.connection.request("POST", "/mcp", self.body, self.headers)
        result = json.loads(self.connection.getresponse().read())["result"]
        assert result["structuredContent"], result
        return result


def rows(stub, mcp):
    def call(tool, arguments, form):
        request = pb.CallToolRequest(tool=tool, arguments_json=arguments, result_format=form)

        def run():
            answer = stub.CallTool(request, metadata=METADATA, timeout=30)
            assert answer.result.WhichOneof("outcome") != "error", answer

        return run

    def invoke():
        request = pb.InvokeToolRequest(tool="debug_stream", arguments_json='{"count": 1}')
        events = list(stub.InvokeTool(request, metadata=METADATA, timeout=30))
        assert len(events) == 3, events

    def listing():
        assert len(list(stub.ListTools(pb.ListToolsRequest(), metadata=METADATA, timeout=30))) > 20

    quotes = '{"symbol": "AAPL,VTI,BND,MSFT"}'
    return {
        "CallTool, JSON": call("get_quotes", quotes, "RESULT_FORMAT_JSON"),
        "CallTool, Struct": call("get_quotes", quotes, "RESULT_FORMAT_STRUCT"),
        "CallTool, cached, JSON": call(CACHED[0], json.dumps(CACHED[1]), "RESULT_FORMAT_JSON"),
        "CallTool, refused arguments": lambda: stub.CallTool(
            pb.CallToolRequest(tool="get_quotes", arguments_json="{}"), metadata=METADATA, timeout=30
        ),
        "InvokeTool, 3 events": invoke,
        "ListTools": listing,
        "MCP tools/call, cached": mcp.call,
    }


def measure(binary):
    """The counts of each row, and the result of the call over MCP."""
    with tempfile.TemporaryDirectory() as directory:
        server = ours(binary, directory)
        try:
            address = server.address("toolwire listening on ")
            mcp = Mcp(server.address("toolwire http on "))
            server.started()
            with grpc.insecure_channel(address) as channel:
                stub = tool_service_pb2_grpc.ToolServiceStub(channel)
                counts = {name: least(server, run) for name, run in rows(stub, mcp).items()}
            return counts, mcp.call()
        finally:
            server.stop()


def measure_bare_rmcp(binary, result):
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "result.json")
        pathlib.Path(file).write_text(json.dumps(result))
        server = Server([binary], directory, {"RESULT": file})
        try:
            mcp = Mcp(server.address("toolwire listening on "))
            server.started()
            return least(server, mcp.call)
        finally:
            server.stop()


def least(server, run):
    for _ in range(WARM_UP):
        run()
    server.count()
    return min(batch(server, run) for _ in range(BATCHES))


def batch(server, run):
    for _ in range(CALLS):
        run()
    return round(server.count() / CALLS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--bare-rmcp", metavar="BINARY")
    options = parser.parse_args()
    if not shutil.which("callgrind_control"):
        sys.exit("valgrind is not installed")
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    counted_with = f"{platform.machine()}, {valgrind}"
    counts, result = measure(options.binary)
    if options.write:
        record = {"counted_with": counted_with, "instructions": counts}
        FILE.write_text(json.dumps(record, indent=2) + "\n")
    record = json.loads(FILE.read_text())
    recorded = record["instructions"]
    if record["counted_with"] != counted_with:
        print(f"NOT COMPARED: the file was counted with {record['counted_with']}, and this is {counted_with}")
        recorded = counts
    dearer = []
    for name, count in counts.items():
        change = count / recorded.get(name, count) - 1
        print(f"{name:<28} {count:>9,} instructions  {change:+.1%}")
        if name not in recorded or change > TOLERANCE:
            dearer.append(name)
    if options.bare_rmcp:
        bare, own = measure_bare_rmcp(options.bare_rmcp, result), counts["MCP tools/call, cached"]
        print(f"{'bare rmcp, the same bytes':<28} {bare:>9,} instructions  ours: {own / bare:.2f} x")
    if dearer:
        sys.exit(
            f"dearer than {FILE.name} says, or not in it: {', '.join(dearer)}. Find out why; if it is worth it, run this "
            "with --write and commit the file with the reason"
        )


main()
