"""What a call costs the server in counts, held against a file of recorded ones.

Usage: counts.py BINARY FILE [--write] [--bare BINARY] [--bare-rmcp BINARY] [--keep FOLDER], with the stubs on
PYTHONPATH, valgrind and a C compiler on PATH. FILE is counts.json for the release profile, and counts_ci.json for the
program that .ci/release.toml optimises less. Counted are instructions and allocations, under callgrind, and calls that
copy memory, the bytes they copy, and readings of the clock, by calls_to_libc.c. A count that grew by more than 5 %
fails, unless it grew by three or less, readings of the clock by eight; `--write` renews the file, which belongs into
the commit that makes a call dearer or cheaper. Counts are the same on every machine of an architecture, busy or not; what
was counted on another one, or by another valgrind, is printed and not compared. What they cannot see are system calls
and waiting (see docs/PERFORMANCE.md). The bare service of the load client and the server of benches/peers/rmcp are
counted beside ours, with the same bytes, and not compared. BINARY needs its symbols, by which allocations are known.
`--keep` leaves callgrind's files of each row in a folder, for callgrind_annotate. The call with a token of an identity
provider, of 1 KB, may take 3,000 instructions more than the same with a static token, on the same server, in turns.
"""

import argparse
import collections
import glob
import http.client
import json
import mmap
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import grpc
import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from toolwire.v1 import tool_service_pb2 as pb
from toolwire.v1 import tool_service_pb2_grpc

HERE = pathlib.Path(__file__).parent
TOLERANCE = 0.05
# How often the server waits, and so reads the clock, differs with how busy the machine is.
SLACK = {"clock readings": 8}
BATCHES = 3
PAIRS = 9
# Seconds in which the server has nothing to do but what it does by the clock: every second, and every five. What that
# costs is a row of its own, which differs more: ten seconds hold ten of the ones, and two or three of the fives.
IDLE = 10
IDLE_ROW, IDLE_TOLERANCE = "A second without calls", 0.3
# Seconds after the first calls, in which connections to the state are opened and statements compiled: never again.
SETTLING = 10
CALLS = 128
UNDER_WAY = 64
START_LIMIT = 120
USERS = '[[auth.users]]\nuser_id = "demo"\ntoken = "demo-0123456789abcdef0123456789abcdef"\n'
METADATA = [("authorization", "Bearer demo-0123456789abcdef0123456789abcdef")]
ISSUER = "https://login.example"
ISSUED = f"""[http]
public_url = "https://tools.example"
[[auth.issuers]]
name = "corp"
issuer = "{ISSUER}"
audience = ["toolwire"]
jwks_file = "keys.json"
[[auth.rules]]
who = ["user:corp:riley"]
tools = ["*"]
"""
QUOTES = "get_quotes", '{"symbol": "AAPL,VTI,BND,MSFT"}'
CACHED = "get_technicals", {"symbol": "RELIANCE"}
STATIC_ROW = "CallTool, cached, JSON"
ISSUED_ROW = f"{STATIC_ROW}, token of an issuer"
# Instructions that a token of an issuer may take more than a static one, unless the file says otherwise: in the gate's
# program, which is optimised less, the same takes 1.6 times as many.
MOST_FOR_ISSUED = 3_000
REVISION = "2026-07-28"
# mimalloc's functions that give memory, as Rust's allocator calls them, and libc's.
ALLOCATIONS = re.compile(
    r"(mi_(heap_)?(malloc|zalloc|calloc|realloc|rezalloc|recalloc)\w*|malloc|calloc|realloc|memalign)"
)
OF_THE_ALLOCATOR = re.compile(r"_?mi_|malloc|calloc|realloc|memalign|_int_|__libc_")


class Server:
    """A server with one worker thread, behind a command that counts."""

    # What it does by the clock, a second. Unknown at first.
    idle = None

    def __init__(self, command, environment, directory):
        self.log = open(os.path.join(directory, "log"), "wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, "TOKIO_WORKER_THREADS": "1", **environment},
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

    def stop(self):
        self.timer.cancel()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


class Callgrind(Server):
    """Counts instructions and allocations."""

    def __init__(self, command, environment, directory):
        self.directory = directory
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/counts"]
        super().__init__(valgrind + command, environment, directory)

    def dump(self):
        """callgrind's files of what ran since it was last asked, one for each thread at most."""
        before = set(glob.glob(f"{self.directory}/counts.*"))
        control = ["callgrind_control", "--dump", str(self.process.pid)]
        subprocess.run(control, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return [pathlib.Path(dump) for dump in set(glob.glob(f"{self.directory}/counts.*")) - before]

    def counts(self):
        counts = collections.Counter()
        for dump in self.dump():
            text = dump.read_text()
            counts["instructions"] += int(re.findall(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)[-1])
            counts["allocations"] += allocations(text)
        return counts


def allocations(dump):
    """The calls of the allocator from outside of it. A name stands where it is first mentioned, behind its number."""
    names, caller, callee, found = {}, "", "", 0
    for line in dump.splitlines():
        if mentioned := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            called, number, name = mentioned.groups()
            name = names.setdefault(number, name)
            caller, callee = (caller, name) if called else (name, callee)
        elif line.startswith("calls=") and ALLOCATIONS.fullmatch(callee) and not OF_THE_ALLOCATOR.match(caller):
            found += int(line.removeprefix("calls=").split()[0])
    return found


class Preloaded(Server):
    """Counts calls that copy memory, what they copy, and readings of the clock."""

    NAMES = "copies", "bytes copied", "clock readings"

    def __init__(self, command, environment, directory):
        library, counts = f"{directory}/calls_to_libc.so", f"{directory}/counts"
        flags = ["-shared", "-fPIC", "-O2", "-fno-builtin", "-fno-tree-loop-distribute-patterns"]
        subprocess.run(["cc", *flags, "-o", library, HERE / "calls_to_libc.c"], check=True)
        pathlib.Path(counts).write_bytes(bytes(8 * len(self.NAMES)))
        with open(counts, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 0)
        self.before = (0,) * len(self.NAMES)
        super().__init__(command, {"LD_PRELOAD": library, "COUNTS": counts, **environment}, directory)

    def counts(self):
        now, before = struct.unpack("=3Q", self.page), self.before
        self.before = now
        return {name: new - old for name, new, old in zip(self.NAMES, now, before)}


def serve(directory, settings=USERS):
    config = os.path.join(directory, "toolwire.toml")
    pathlib.Path(config).write_text(settings)
    command = ["serve", "--listen", "127.0.0.1:0", "--http=127.0.0.1:0", "--admin", "127.0.0.1:0"]
    return [*command, "--diagnostics", "--log", "json", "--config", config, "--state", os.path.join(directory, "state")]


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


def times(run):
    """One call after the other."""

    def calls():
        for _ in range(CALLS):
            run()

    return calls


def request(tool, arguments, form="RESULT_FORMAT_JSON"):
    return pb.CallToolRequest(tool=tool, arguments_json=arguments, result_format=form)


def succeeded(answer):
    assert answer.result.WhichOneof("outcome") != "error", answer


def call_at_once(stub, wanted):
    """Many calls under way at once."""

    def calls():
        for _ in range(0, CALLS, UNDER_WAY):
            under_way = [stub.CallTool.future(wanted, metadata=METADATA, timeout=30) for _ in range(UNDER_WAY)]
            for answer in under_way:
                succeeded(answer.result())

    return calls


def rows(stub, mcp):
    """What makes CALLS calls, by the name of its row."""

    def call(*words):
        wanted = request(*words)
        return times(lambda: succeeded(stub.CallTool(wanted, metadata=METADATA, timeout=30)))

    def invoke():
        wanted = pb.InvokeToolRequest(tool="debug_stream", arguments_json='{"count": 1}')
        events = list(stub.InvokeTool(wanted, metadata=METADATA, timeout=30))
        assert len(events) == 3, events

    def listing():
        assert len(list(stub.ListTools(pb.ListToolsRequest(), metadata=METADATA, timeout=30))) > 20

    refused = request("get_quotes", "{}")
    return {
        f"CallTool, JSON, {UNDER_WAY} at once": call_at_once(stub, request(*QUOTES)),
        "CallTool, JSON": call(*QUOTES),
        "CallTool, Struct": call(*QUOTES, "RESULT_FORMAT_STRUCT"),
        STATIC_ROW: call(CACHED[0], json.dumps(CACHED[1])),
        "CallTool, refused arguments": times(lambda: stub.CallTool(refused, metadata=METADATA, timeout=30)),
        "InvokeTool, 3 events": times(invoke),
        "ListTools": times(listing),
        "MCP tools/call, cached": times(mcp.call),
    }


def measure(counter, binary, keep):
    """The counts of each row, the result of the call over MCP, and the answer to the first row's call."""
    with tempfile.TemporaryDirectory() as directory:
        server = counter([binary, *serve(directory)], {}, directory)
        try:
            address = server.address("toolwire listening on ")
            mcp = Mcp(server.address("toolwire http on "))
            server.started()
            counts = {}
            with grpc.insecure_channel(address) as channel:
                stub = tool_service_pb2_grpc.ToolServiceStub(channel)
                for name, calls in rows(stub, mcp).items():
                    counts[name] = per_call(server, calls)
                    if keep and counter is Callgrind:
                        keep_dumps(server, calls, pathlib.Path(keep) / re.sub(r"\W+", "-", name))
                answer = stub.CallTool(request(*QUOTES), metadata=METADATA, timeout=30)
            counts[IDLE_ROW] = {name: round(count) for name, count in server.idle.items()}
            return counts, mcp.call(), answer
        finally:
            server.stop()


def issued_token(directory):
    """A token of an issuer, of 1 KB, whose keys are in the directory."""
    key, now = ec.generate_private_key(ec.SECP256R1()), int(time.time())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    keys = {"keys": [{**public, "kid": "1", "alg": "ES256", "use": "sig"}]}
    pathlib.Path(directory, "keys.json").write_text(json.dumps(keys))
    claims = {"iss": ISSUER, "aud": "toolwire", "sub": "riley", "iat": now, "exp": now + 3_000, "padding": ""}

    def token():
        return jwt.encode(claims, key, "ES256", {"kid": "1", "typ": "at+jwt"})

    claims["padding"] = "x" * ((1024 - len(token())) * 3 // 4)
    return token()


def measure_issued(counter, binary, keep):
    """The counts of a call with a token of an issuer, and those that it has more than the same with a static token."""
    with tempfile.TemporaryDirectory() as directory:
        issued = [("authorization", f"Bearer {issued_token(directory)}")]
        settings = USERS + ISSUED.replace("keys.json", os.path.join(directory, "keys.json"))
        server = counter([binary, *serve(directory, settings)], {}, directory)
        try:
            address = server.address("toolwire listening on ")
            server.started()
            with grpc.insecure_channel(address) as channel:
                stub = tool_service_pb2_grpc.ToolServiceStub(channel)
                wanted = request(CACHED[0], json.dumps(CACHED[1]))

                def calls(metadata):
                    return times(lambda: succeeded(stub.CallTool(wanted, metadata=metadata, timeout=30)))

                counts = per_call(server, calls(issued))
                if keep and counter is Callgrind:
                    keep_dumps(server, calls(issued), pathlib.Path(keep) / re.sub(r"\W+", "-", ISSUED_ROW))
                # On one server: two of them differ by as much as a token costs.
                pairs = [(batch(server, calls(issued)), batch(server, calls(METADATA))) for _ in range(PAIRS)]
                more = {name: statistics.median(one[name] - other[name] for one, other in pairs) for name in counts}
                return counts, {name: round(count) for name, count in more.items()}
        finally:
            server.stop()


def keep_dumps(server, calls, folder):
    folder.mkdir(parents=True, exist_ok=True)
    server.dump()
    calls()
    for dump in server.dump():
        shutil.copy(dump, folder)


def measure_bare(counter, binary, answers):
    """The counts of the bare gRPC service, which answers with recorded messages."""
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "answers.json")
        pathlib.Path(file).write_text(json.dumps(answers))
        server = counter([binary, "--serve-answers", file], {}, directory)
        try:
            address = server.address("toolwire listening on ")
            server.started()
            with grpc.insecure_channel(address) as channel:
                stub = tool_service_pb2_grpc.ToolServiceStub(channel)
                return per_call(server, call_at_once(stub, request(*QUOTES)))
        finally:
            server.stop()


def measure_bare_rmcp(binary, result):
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "result.json")
        pathlib.Path(file).write_text(json.dumps(result))
        server = Callgrind([binary], {"RESULT": file}, directory)
        try:
            mcp = Mcp(server.address("toolwire listening on "))
            server.started()
            return per_call(server, times(mcp.call))
        finally:
            server.stop()


def per_call(server, calls):
    """What a call costs: of each count the middle of the batches."""
    calls()
    if server.idle is None:
        timed(server, lambda: time.sleep(SETTLING))
        counts, seconds = timed(server, lambda: time.sleep(IDLE))
        server.idle = {name: count / seconds for name, count in counts.items()}
    batches = [batch(server, calls) for _ in range(BATCHES)]
    return {name: round(statistics.median(counts[name] for counts in batches)) for name in batches[0]}


def batch(server, calls):
    """A batch without what the server does by the clock: the busier the machine, the more of it falls into a batch."""
    counts, seconds = timed(server, calls)
    return {name: (count - server.idle[name] * seconds) / CALLS for name, count in counts.items()}


def timed(server, run):
    """What is counted while this runs, and how long that takes."""
    server.counts()
    began = time.monotonic()
    run()
    # The server stands still while its counts are written.
    seconds = time.monotonic() - began
    return server.counts(), seconds


def compare(counts, recorded):
    """Prints each count with how it has changed, and returns those that have grown."""
    dearer = []
    for row, of_row in counts.items():
        tolerance = IDLE_TOLERANCE if row == IDLE_ROW else TOLERANCE
        print(row)
        for name, count in of_row.items():
            before = recorded.get(row, {}).get(name)
            change = "not in the file" if before is None else f"{count / before - 1:+.1%}"
            print(f"  {name:<16}{count:>9,}  {change}")
            if before is None or count > max(before * (1 + tolerance), before + SLACK.get(name, 3)):
                dearer.append(f"{name} of {row}")
    return dearer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--bare", metavar="BINARY", help="the load client, toolwire-load")
    parser.add_argument("--bare-rmcp", metavar="BINARY")
    parser.add_argument("--keep", metavar="FOLDER")
    options = parser.parse_args()
    if not shutil.which("callgrind_control"):
        sys.exit("valgrind is not installed")
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    counted_with = f"{platform.machine()}, {valgrind}"
    counts, result, answer = measure(Callgrind, options.binary, options.keep)
    for row, of_row in measure(Preloaded, options.binary, None)[0].items():
        counts[row].update(of_row)
    counts[ISSUED_ROW], more = measure_issued(Callgrind, options.binary, options.keep)
    counts[ISSUED_ROW] |= measure_issued(Preloaded, options.binary, None)[0]
    unknown = [row for row, of_row in counts.items() if not of_row["allocations"]]
    if unknown:
        sys.exit(f"no allocation is known of {', '.join(unknown)}: has {options.binary} no symbols?")
    record = json.loads(options.file.read_text()) if options.file.exists() else {}
    most = record.get("most_for_issued", MOST_FOR_ISSUED)
    if options.write:
        record = {"counted_with": counted_with, "most_for_issued": most, "counts": counts}
        options.file.write_text(json.dumps(record, indent=2) + "\n")
    recorded = record["counts"]
    if record["counted_with"] != counted_with:
        print(f"NOT COMPARED: the file was counted with {record['counted_with']}, and this is {counted_with}")
        recorded = counts
    dearer = compare(counts, recorded)
    print(f"a token of an issuer takes {more['instructions']:,} instructions more than a static one, at most {most:,}")
    if more["instructions"] > most:
        dearer.append(ISSUED_ROW)
    if options.bare:
        recorded_answer = {
            "path": "/toolwire.v1.ToolService/CallTool",
            "request": list(request(*QUOTES).SerializeToString()),
            "messages": [list(answer.SerializeToString())],
        }
        bare = measure_bare(Callgrind, options.bare, [recorded_answer])
        bare |= measure_bare(Preloaded, options.bare, [recorded_answer])
        print("bare tonic, the same bytes as the first row")
        for name, count in bare.items():
            print(f"  {name:<16}{count:>9,}  ours: {next(iter(counts.values()))[name] / count:.2f} x")
    if options.bare_rmcp:
        bare, own = measure_bare_rmcp(options.bare_rmcp, result), counts["MCP tools/call, cached"]
        ratio = own["instructions"] / bare["instructions"]
        print(f"{'bare rmcp, the same bytes':<28} {bare['instructions']:>9,} instructions  ours: {ratio:.2f} x")
    if dearer:
        sys.exit(
            f"dearer than {options.file.name} says, or not in it: {'; '.join(dearer)}. Find out why; if it is worth it, run "
            "this with --write and commit the file with the reason"
        )


main()
