"""Attacks by what is not read, in the form of attacks.py: one user asks for much and takes nothing of it. What waits is counted
(`toolwire_unread_bytes`), and the server takes no more memory than it may keep for one user, and some for the calls themselves.
"""

import json
import struct
import threading
import time

import h2.events

from attacks import RESOURCE_EXHAUSTED, STREAMS, begin, close, connections, soon
from server import HOST_TOKEN
from toolwire.host.v1 import host_pb2 as host_pb
from toolwire.v1 import tool_pb2
from toolwire.v1 import tool_service_pb2 as pb
from wire import Connection, frame

MIB = 1 << 20
# `max_unread_per_user`.
OF_USER = 64 * MIB
# Streams that were ended may free their bytes late, by an eighth of it, and each thread has one answer in hand.
LIMIT = OF_USER * 9 // 8 + 16 * MIB
# What calls take besides, in MiB: their tasks and connections, and what the allocator keeps of large answers.
BESIDES = 64
# An allocator gives memory back once the threads that had it are idle or end: seconds, and more beside other programs.
RETURN_LIMIT = 45
WORK = "/toolwire.host.v1.ToolHostService/Work"
SLOTS, ANSWER = 4, 2_900_000
# Answers in all, and at once: as many calls as slots may wait for one.
ANSWERS, AT_ONCE = 96, 8


class Host(Connection):
    """A provider whose tool answers with 2.9 MB: a slot a stream, all on one connection, read by a thread of its own."""

    def __init__(self, server):
        self.received, self.unsent, self.welcomed = {}, {}, 0
        super().__init__(server.address, HOST_TOKEN["large"])
        offer = host_pb.Offer(
            name="large_answer",
            description="Answers with much. Use this when much is to wait.",
            category=tool_pb2.TOOL_CATEGORY_READ,
            consequence_level=tool_pb2.CONSEQUENCE_LEVEL_LOW,
            input_schema_json='{"type": "object", "properties": {}, "additionalProperties": false}',
        )
        hello = host_pb.Hello(provider="large", instance="one", protocol=1, sdk="attack", catalogue_id="one")
        for _ in range(SLOTS):
            self.begin(WORK, frame(host_pb.WorkRequest(hello=hello)), ends=False)
        hello.offers.append(offer)
        self.catalogue = host_pb.WorkRequest(hello=hello)
        self.wait(lambda: self.welcomed == SLOTS or None, 10)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        try:
            while True:
                self.read(60)
        except (OSError, ValueError):
            pass

    def _handle(self, event):
        super()._handle(event)
        match event:
            case h2.events.DataReceived():
                self.received[event.stream_id] = self._answer(
                    event.stream_id, self.received.get(event.stream_id, b"") + event.data
                )
            case h2.events.WindowUpdated():
                self._send()

    def _answer(self, stream, data):
        """Answers each message that is complete; the rest."""
        while len(data) >= 5 and len(data) >= 5 + (length := struct.unpack(">I", data[1:5])[0]):
            message = host_pb.WorkResponse.FromString(data[5 : 5 + length])
            data = data[5 + length :]
            match message.WhichOneof("message"):
                case "welcome" if message.welcome.send_catalogue:
                    self._say(stream, self.catalogue)
                case "welcome":
                    self.welcomed += 1
                case "ping":
                    self._say(stream, host_pb.WorkRequest(pong=host_pb.Pong()))
                case "start":
                    text = json.dumps({"text": "x" * ANSWER})
                    outcome = host_pb.Outcome(call_id=message.start.call_id, data_json=text)
                    self._say(stream, host_pb.WorkRequest(outcome=outcome))
        return data

    def _say(self, stream, message):
        self.unsent[stream] = self.unsent.get(stream, b"") + frame(message)
        self._send()

    def _send(self):
        """Sends what the windows allow."""
        for stream, data in self.unsent.items():
            at = 0
            while at < len(data):
                room = min(self.http2.local_flow_control_window(stream), self.http2.max_outbound_frame_size)
                if room <= 0:
                    break
                self.http2.send_data(stream, data[at : at + room])
                at += min(room, len(data) - at)
            self.unsent[stream] = data[at:]


def watched(server, until, seconds):
    """Waits until something holds; the most that was counted meanwhile."""
    most, limit = 0, time.monotonic() + seconds
    while True:
        most = max(most, server.metric("toolwire_unread_bytes"))
        assert most <= LIMIT, f"{most / MIB:.1f} MiB wait for one user"
        if until():
            return most
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.05)


def hold(server, before, many):
    """What holds in the end: streams were ended and counted, memory is bounded, and all of it is freed."""
    assert server.metric("toolwire_bounds_reached_total") > 0, "it is not counted"
    most = before + LIMIT / MIB + BESIDES
    stays = f"from {before:.0f} to {server.resident():.0f} MiB, and it stays"
    soon(lambda: server.resident() <= most, stays, RETURN_LIMIT)
    print(f"  {server.peak - before:.0f} MiB more at most, {server.resident() - before:.0f} then", flush=True)
    close(many)
    soon(lambda: server.metric("toolwire_unread_bytes") < MIB, "what waited is counted after its peer has left")


def calls(server):
    """Calls of the host's tool that have ended, whether their answers were read or not."""
    rows = (line for line in server.scrape().splitlines() if line.startswith("toolwire_call_duration_seconds_count"))
    return sum(float(row.rsplit(" ", 1)[1]) for row in rows if 'tool="large_answer"' in row)


def ended(many):
    """How streams have ended so far, those of a connection that the server has closed too."""
    ends = []
    for connection in many:
        if not getattr(connection, "is_closed", False):
            try:
                connection.drain(0.01)
            except OSError:
                connection.is_closed = True
        ends += ["closed"] * STREAMS if getattr(connection, "is_closed", False) else connection.ended.values()
    return ends


def unread_chunks(server):
    """A thousand streams of chunks of 1 MB, with a window of 0."""
    before, many = server.resident(), connections(server, 10, window=0)
    call = pb.InvokeToolRequest(tool="debug_stream", arguments_json='{"count": 64, "bytes": 1000000}')
    begin(many, 10 * STREAMS, "InvokeTool", frame(call))
    yield
    watched(server, lambda: len(ended(many)) > 900, 20)
    hold(server, before, many)


def unread_answers(server):
    """Answers of 2.9 MB to calls of a host's tool, with a window of 0."""
    host = Host(server)
    before, many = server.resident(), connections(server, 1, window=0)
    call = frame(pb.CallToolRequest(tool="large_answer", arguments_json="{}"))
    yield
    for first in range(0, ANSWERS, AT_ONCE):
        begin(many, AT_ONCE, "CallTool", call)
        watched(server, lambda: calls(server) == first + AT_ONCE, 30)
    watched(server, lambda: len(ended(many)) >= ANSWERS - LIMIT // ANSWER, 30)
    # Most are as large as those that wait; one that is a few bytes smaller takes the place of another.
    assert set(ended(many)) <= {RESOURCE_EXHAUSTED, "reset"}, f"{set(ended(many))}"
    hold(server, before, many)
    host.close()


# What the allocator keeps for a while of answers that were dropped is more than what waits; `hold` looks at what stays.
unread_answers.memory_limit = 900
ALL = [unread_chunks, unread_answers]
