"""How many instructions a call costs the server, held against tests/performance/instructions.json.

Usage: instructions.py BINARY [--write], with the stubs on PYTHONPATH and valgrind on PATH. A count that grew by more than
5 % fails; `--write` renews the file, which belongs into the commit that makes a call dearer or cheaper. Instructions are
the same on every machine of an architecture, busy or not; what was counted on another one, or by another valgrind, is
printed and not compared. What they cannot see are system calls and waiting (see docs/PERFORMANCE.md).
"""

import glob
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


class Server:
    """The server under callgrind, with one worker thread."""

    def __init__(self, binary, directory):
        self.directory = directory
        config = os.path.join(directory, "toolwire.toml")
        pathlib.Path(config).write_text(USERS)
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/counts", binary, "serve"]
        command += ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--diagnostics", "--log", "json"]
        command += ["--config", config, "--state", os.path.join(directory, "state")]
        self.log = open(os.path.join(directory, "log"), "wb")
        environment = {**os.environ, "TOKIO_WORKER_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment
        )
        self.address = self._address()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def _address(self):
        timer = threading.Timer(START_LIMIT, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if found := re.match(r"toolwire listening on (\S+)", line):
                    return found[1]
        finally:
            timer.cancel()
        raise AssertionError("the server printed no address: " + pathlib.Path(self.log.name).read_text()[-2000:])

    def count(self):
        """The instructions since it was last asked."""
        before = set(glob.glob(f"{self.directory}/counts.*"))
        control = ["callgrind_control", "--dump", str(self.process.pid)]
        subprocess.run(control, check=True, stdout=subprocess.DEVNULL, timeout=60)
        dumps = set(glob.glob(f"{self.directory}/counts.*")) - before
        return sum(_total(dump) for dump in dumps)

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def _total(dump):
    text = pathlib.Path(dump).read_text()
    found = re.findall(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    return int(found[-1])


def rows(stub):
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
        "CallTool, cached, JSON": call("get_technicals", '{"symbol": "RELIANCE"}', "RESULT_FORMAT_JSON"),
        "CallTool, refused arguments": lambda: stub.CallTool(
            pb.CallToolRequest(tool="get_quotes", arguments_json="{}"), metadata=METADATA, timeout=30
        ),
        "InvokeTool, 3 events": invoke,
        "ListTools": listing,
    }


def measure(binary):
    counts = {}
    with tempfile.TemporaryDirectory() as directory:
        server = Server(binary, directory)
        try:
            with grpc.insecure_channel(server.address) as channel:
                for name, run in rows(tool_service_pb2_grpc.ToolServiceStub(channel)).items():
                    for _ in range(WARM_UP):
                        run()
                    server.count()
                    counts[name] = min(batch(server, run) for _ in range(BATCHES))
        finally:
            server.stop()
    return counts


def batch(server, run):
    for _ in range(CALLS):
        run()
    return round(server.count() / CALLS)


def main(binary, *options):
    if not shutil.which("callgrind_control"):
        sys.exit("valgrind is not installed")
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    counted_with = f"{platform.machine()}, {valgrind}"
    counts = measure(binary)
    if "--write" in options:
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
    if dearer:
        sys.exit(
            f"dearer than {FILE.name} says, or not in it: {', '.join(dearer)}. Find out why; if it is worth it, run this "
            "with --write and commit the file with the reason"
        )


main(*sys.argv[1:])
