"""What a call costs by way of a host, beside the same function behind grpcio, and how soon one is stopped or begun."""

import json
import os
import statistics
import subprocess
import sys
import time

from google.protobuf.wrappers_pb2 import StringValue

from host_rows.common import HERE, Row, World, until, within
from host_rows.load import Load
from tests.processes import children, is_alive, start_host
from toolwire._stubs.toolwire.v1 import tool_service_pb2
from toolwire.client import Accepted, Progress

TEXT = "Where is order A-1?"
IN_FLIGHT, SECONDS = 16, 2.0


def throughput(rounds):
    """Rounds of both in turn, so that what the machine does meanwhile is done to both."""
    with World(slots=IN_FLIGHT) as world:
        world.host()
        direct = subprocess.Popen([sys.executable, HERE / "grpcio_server.py"], stdout=subprocess.PIPE, text=True)
        world.callback(lambda: (direct.kill(), direct.communicate()))
        request = tool_service_pb2.CallToolRequest(tool="echo", arguments_json=json.dumps({"text": TEXT}))
        path, address = "/toolwire.v1.ToolService/CallTool", world.server.url.removeprefix("http://")
        ours = Load(address, path, request.SerializeToString(), TEXT.encode())
        message = StringValue(value=TEXT).SerializeToString()
        theirs = Load(f"127.0.0.1:{int(direct.stdout.readline())}", "/measured.Echo/Echo", message, TEXT.encode())
        for load in (ours, theirs):
            load.run(IN_FLIGHT, 0.5)
        for in_flight in (IN_FLIGHT, 1):
            pairs = [(ours.run(in_flight, SECONDS), theirs.run(in_flight, SECONDS)) for _ in range(rounds)]
            yield from compare(in_flight, pairs)


def compare(in_flight, pairs):
    ratios = sorted(ours[0] / theirs[0] for ours, theirs in pairs)
    both = [statistics.median(it[side][0] for it in pairs) for side in (0, 1)]
    seen = "× {:.2f} ({:.2f}–{:.2f}): {:,.0f} and {:,.0f} calls/s".format(
        statistics.median(ratios), ratios[0], ratios[-1], *both
    )
    if in_flight > 1:
        yield Row(f"calls/s, {in_flight} in flight, host / grpcio", "≥ 1 ×", seen, statistics.median(ratios) >= 1)
    else:
        yield Row("calls/s, one at a time, host / grpcio", "", seen)
    p50 = [[statistics.median(it[side][1]) * 1000 for it in pairs] for side in (0, 1)]
    more = [ours - theirs for ours, theirs in zip(*p50, strict=True)]
    seen = "{:+.2f} ms ({:+.2f} – {:+.2f}): {:.2f} and {:.2f} ms".format(
        statistics.median(more), min(more), max(more), *map(statistics.median, p50)
    )
    yield Row(f"p50, {in_flight} in flight, host − grpcio", "≤ + 0.5 ms", seen, statistics.median(more) <= 0.5)


def cancel(rounds):
    """From `CancelCall`, or a caller that leaves, to the CancelledError in the function."""
    with World() as world:
        host = world.host()
        for what in ("CancelCall", "the caller leaves"):
            taken = [time_stop(world, host, what) for _ in range(40 * rounds)]
            yield within(f"{what}, until the function knows", 0.02, taken)


def time_stop(world, host, what):
    events = world.tools.stream("look", {"seconds": 60})
    call_id = ""
    for event in events:
        if isinstance(event, Accepted):
            call_id = event.call_id
        elif isinstance(event, Progress):
            break
    began = time.monotonic()
    if what == "CancelCall":
        world.tools.cancel(call_id)
    else:
        events.close()
    while not (line := host.stdout.readline()).startswith("stopped"):
        assert line, "the host has ended"
    events.close()
    return float(line.split()[1]) - began


PROGRAM = '''
from toolwire import NotFound, serve, tool

ORDERS = {"A-1": {"state": "sent", "total": 80.0}}

@tool
def order_status(order_id: str) -> dict:
    """Where an order is. Use this when a customer asks about a delivery."""
    return ORDERS.get(order_id) or NotFound(f"no order {order_id}").throw()

serve()
'''


def serve_alone(rounds):
    """A program that serves by itself: how soon a first call is answered, and what a kill -9 of it leaves."""
    first, gone = [], []
    for _ in range(rounds):
        with World() as world:
            (world.folder / "tools.py").write_text(PROGRAM)
            began = time.monotonic()
            program = start_host(world.folder / "tools.py", log=world.log)
            world.hosts.append(program)
            url = program.stdout.readline().split()[-1]
            command = [os.environ["TOOLWIRE_BINARY"], "call", "order_status", "A-1", "--server", url]
            assert '"sent"' in subprocess.run(command, capture_output=True, text=True, check=True).stdout
            first.append(time.monotonic() - began)
            (server,) = children(program.pid)
            program.kill()
            killed = time.monotonic()
            until(lambda pid=server: not is_alive(pid))
            gone.append(time.monotonic() - killed)
    yield within("first call answered after `python tools.py`", 3, first, "s", 1)
    yield within("kill -9 of the program, until its server is gone", 2, gone)
