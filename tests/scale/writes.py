"""A write is made once: replicas, PostgreSQL and the host of a tool are killed while users write.

Each write has a `request_id`, and is repeated under it at another replica until its outcome is told; half of them are
sent to two replicas at once. The effects of `append_line` are lines of a file outside of all that is killed; those of
`debug_write` are lines of the replicas' logs, of which a kill may lose the last.
"""

import collections
import random
import threading
import time
import uuid

import grpc

from replicas import USERS, Chaos, World
from rows import Row, none_of
from toolwire.v1 import call_pb2, result_pb2, tool_service_pb2 as pb

WRITERS = 6
# A host that is gone may still say how a write ended: 10 s.
WRITE_LIMIT = 90
UNKNOWN = result_pb2.TOOL_ERROR_CODE_OUTCOME_UNKNOWN


class Writer(threading.Thread):
    """A user who writes until it is told to stop, and what it was told."""

    def __init__(self, world, number, stopping):
        super().__init__(daemon=True)
        self.clients, self.random = world.clients(USERS[number]), random.Random(number)
        self.stopping, self.told, self.problems = stopping, {}, []
        self.repeats, self.pairs = 0, 0
        self.start()

    def run(self):
        while not self.stopping.is_set():
            tool = "append_line" if self.random.random() < 0.7 else "debug_write"
            request_id = str(uuid.uuid4())
            arguments = f'{{"value": "{request_id}"' + (', "duration": "0.003s"}' if tool == "debug_write" else "}")
            message = pb.CallToolRequest(tool=tool, arguments_json=arguments, request_id=request_id)
            results = self.write(message)
            if not results:
                self.problems.append(f"{tool} {request_id}: no outcome within {WRITE_LIMIT} s")
                continue
            self.told[request_id] = (tool, results[0])
            data = [result.data for result in results if result.HasField("data")]
            if any(other != data[0] for other in data):
                self.problems.append(f"{tool} {request_id} was told {results}")

    def write(self, message):
        """Repeats it at other replicas until an outcome is told; with two at once, what each of them told."""
        until = time.monotonic() + WRITE_LIMIT
        while time.monotonic() < until:
            asked = self.random.sample(self.clients, 2 if self.random.random() < 0.5 else 1)
            self.pairs += len(asked) == 2
            futures = [it.tools.CallTool.future(message, timeout=20, metadata=it.metadata) for it in asked]
            if results := [result for result in map(self.outcome, futures) if result]:
                return results
            self.repeats += 1
            time.sleep(0.02)
        return []

    def outcome(self, future):
        """The result, unless it is not known yet."""
        try:
            result = future.result().result
        except grpc.RpcError as error:
            # Until the host has joined a replica that was started again, its tool is unknown there.
            if error.code().name not in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "NOT_FOUND"):
                self.problems.append(f"{error.code().name}: {error.details()}")
            return None
        if result.HasField("error") and result.error.code != UNKNOWN:
            if not result.error.retryable:
                self.problems.append(f"{result.tool}: {result.error}")
            return None
        return result


def verify(world, writers):
    """What was told, asked for again at every replica in turn: what is lost or another outcome now."""
    lost = []
    for number, writer in enumerate(writers):
        clients = world.clients(USERS[number])
        for place, (request_id, (tool, result)) in enumerate(writer.told.items()):
            client = clients[place % len(clients)]
            if result.HasField("error"):
                continue
            try:
                found = client.ask(client.tools.GetCall, pb.GetCallRequest(request_id=request_id, tool=tool))
            except grpc.RpcError as error:
                lost.append(f"{tool} {request_id}: {error.code().name}")
                continue
            if found.call.state != call_pb2.CALL_STATE_SUCCEEDED or found.result.data != result.data:
                lost.append(f"{tool} {request_id}: {call_pb2.CallState.Name(found.call.state)}")
    return lost


def run(binary, short):
    kills = {"replica": 20, "database": 3, "host": 3} if short else {"replica": 200, "database": 20, "host": 20}
    with World(binary) as world:
        world.start_host(0, 1, 2)
        stopping, began = threading.Event(), time.monotonic()
        writers, chaos = [Writer(world, number, stopping) for number in range(WRITERS)], Chaos(world, seed=7)
        steps = [name for name, count in kills.items() for _ in range(count)]
        random.Random(7).shuffle(steps)
        for step in steps:
            {
                "replica": chaos.kill_replica,
                "database": chaos.kill_database,
                "host": lambda: chaos.kill_host(0, 1, 2),
            }[step]()
        stopping.set()
        for writer in writers:
            writer.join()
        took = time.monotonic() - began
        yield from figures(world, writers, chaos, took)


def figures(world, writers, chaos, took):
    told = {request_id: it for writer in writers for request_id, it in writer.told.items()}
    done = collections.Counter(world.effects.read_text().split())
    logged = collections.Counter(world.written())
    unknown = [it for it in told if told[it][1].HasField("error")]
    of = " and ".join(f"{count} kills of {what}" for what, count in chaos.killed.items())
    yield Row("kill -9", "", f"{of}, in {took:.0f} s")
    pairs, repeats = sum(it.pairs for it in writers), sum(it.repeats for it in writers)
    seen = f"{pairs:,} times to two replicas at once, {repeats:,} repeats"
    yield Row("writes", "", f"{len(told):,}, {len(unknown)} of them OUTCOME_UNKNOWN; {seen}")
    yield none_of("effects in the file made twice", [it for it, times in done.items() if times > 1], len(done))
    yield none_of("effects in the logs made twice", [it for it, times in logged.items() if times > 1], len(logged))
    acknowledged = [it for it in told if it not in unknown]
    without = [it for it in acknowledged if told[it][0] == "append_line" and not done[it]]
    yield none_of("acknowledged without an effect", without, len(acknowledged))
    yield none_of("acknowledged, then another outcome or none", verify(world, writers), len(acknowledged))
    yield none_of("other failures", [it for writer in writers for it in writer.problems], len(told))
    yield none_of("panics", list(world.problems()), len(world.replicas))
