"""Attacks on what users share by turns, in the form of attacks.py: the slots of a host, the budget of a source, and the threads
on which messages are planned. One user takes all that there is, and another's calls come between, whatever waits."""

import json
import queue
import statistics
import sys
import threading
import time

import grpc
from google.protobuf import duration_pb2

from attacks import soon
from server import HOST_TOKEN, token
from toolwire.agent.v1 import agent_pb2 as agent
from toolwire.agent.v1 import agent_service_pb2 as agent_service
from toolwire.agent.v1 import agent_service_pb2_grpc as agents
from toolwire.host.v1 import host_pb2 as host
from toolwire.host.v1 import host_pb2_grpc as hosts
from toolwire.v1 import tool_service_pb2 as pb
from toolwire.v1 import tool_service_pb2_grpc as tools

# Calls of one user at once.
FLOOD = 40
SLOTS, SECONDS, PACE = 4, 0.25, 0.1
CALM_CALLS, CALLS = 4, 8
# As many as one user may have at once, each of the longest message.
CHATS, LONGEST = 4, 16_384
HOSTILE = ["mera portfolio ka haal batao ", "AAPL MSFT TSLA NVDA ", "perfomance of my portfolo yesterdy "]
SCHEMA = '{"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"], "additionalProperties": false}'


def metadata(bearer):
    return [("authorization", f"Bearer {bearer}")]


class Host:
    """A program with one tool, which takes so long and notes whose calls begin."""

    def __init__(self, server, provider, slots, seconds):
        self.provider, self.seconds, self.began, self.ready = provider, seconds, [], threading.Semaphore(0)
        self.channel = grpc.insecure_channel(server.address)
        for _ in range(slots):
            threading.Thread(target=self._slot, daemon=True).start()
        for _ in range(slots):
            assert self.ready.acquire(timeout=20), f"{provider} is not welcome"

    def _hello(self, **more):
        return host.WorkRequest(hello=host.Hello(instance="one", protocol=1, catalogue_id="1", **more))

    def _slot(self):
        said = queue.SimpleQueue()
        bearer = metadata(HOST_TOKEN[self.provider])
        said.put(self._hello())
        try:
            for answer in hosts.ToolHostServiceStub(self.channel).Work(iter(said.get, None), metadata=bearer):
                kind = answer.WhichOneof("message")
                if kind == "welcome" and answer.welcome.send_catalogue:
                    offer = host.Offer(
                        name=self.provider, description="Takes a while. Use this to wait.", input_schema_json=SCHEMA,
                        output_schema_json='{"type": "object"}', timeout=duration_pb2.Duration(seconds=15),
                        category="TOOL_CATEGORY_READ", consequence_level="CONSEQUENCE_LEVEL_LOW",
                    )
                    said.put(self._hello(offers=[offer]))
                elif kind == "welcome":
                    self.ready.release()
                elif kind == "start":
                    self.began.append(json.loads(answer.start.arguments_json)["who"])
                    time.sleep(self.seconds)
                    said.put(host.WorkRequest(outcome=host.Outcome(call_id=answer.start.call_id, data_json="{}")))
                elif kind == "ping":
                    said.put(host.WorkRequest(pong=host.Pong()))
        except grpc.RpcError:
            pass  # Closed.

    def close(self):
        self.channel.close()


class Caller:
    """A user who calls that tool."""

    def __init__(self, server, user, tool):
        self.user, self.tool, self.channel = user, tool, grpc.insecure_channel(server.address)
        self.stub = tools.ToolServiceStub(self.channel)

    def begin(self):
        request = pb.CallToolRequest(tool=self.tool, arguments_json=json.dumps({"who": self.user}))
        return self.stub.CallTool.future(request, metadata=metadata(token(self.user)), timeout=60)

    def call(self):
        """The seconds that it takes."""
        began = time.monotonic()
        answer = self.begin().result()
        assert not answer.result.HasField("error"), f"{self.user}: {answer.result.error}"
        return time.monotonic() - began

    def flood(self, count, until):
        """Keeps so many calls going."""
        lock, ended = threading.Lock(), []

        def again(_=None):
            with lock:
                ended.append(1)
            if not until.is_set():
                time.sleep(0.01)
                self.begin().add_done_callback(again)

        for _ in range(count):
            self.begin().add_done_callback(again)

    def close(self):
        self.channel.close()


def between(began, user):
    """How many calls of others began between two of a user's, one count for each."""
    places = [place for place, who in enumerate(began) if who == user]
    return [later - earlier - 1 for earlier, later in zip(places, places[1:])]


def taken_in_turn(server, provider, slots, seconds):
    """One user's calls while another one keeps everything that the provider has, and more."""
    program = Host(server, provider, slots, seconds)
    other, mallory, stop = Caller(server, "demo", provider), Caller(server, "mallory", provider), threading.Event()
    calm = [other.call() for _ in range(CALM_CALLS)]
    mallory.flood(FLOOD, stop)
    soon(lambda: program.began.count("mallory") >= slots, "the flood takes no slot")
    yield
    program.began.clear()
    waits = [other.call() for _ in range(CALLS)]
    stop.set()
    counts = between(list(program.began), "demo")
    print(f"  {max(calm):.2f} s in peace, {max(waits):.2f} s at most; calls of the flood between: {counts}", flush=True)
    # Those that take what frees before the next call is here, and those that hold it then.
    assert len(counts) == CALLS - 1 and statistics.median(counts) <= 3 * slots, f"not in turn: {counts}"
    longest = max(SECONDS, PACE)
    if "--hold-ratios" in sys.argv:
        assert max(waits) <= max(calm) + longest + 0.1, f"{max(waits):.2f} s, and {max(calm):.2f} s in peace"
    for each in (other, mallory, program):
        each.close()


def slots_in_turn(server):
    """Four slots, and forty calls of one user: another's call waits for one of them."""
    return taken_in_turn(server, "slow", SLOTS, SECONDS)


def budget_in_turn(server):
    """A call each 100 ms, and forty calls of one user: another's call is the next but one."""
    return taken_in_turn(server, "paced", SLOTS, 0)


def long_messages(server):
    """As many turns as a user may have, each of the longest message: who calls waits for none of them."""
    channel = grpc.insecure_channel(server.address)
    stub, stop, answered = agents.AgentServiceStub(channel), threading.Event(), []

    def chat(text):
        while not stop.is_set():
            said = agent_service.ChatRequest(input=agent.TurnInput(message=(text * LONGEST)[:LONGEST]))
            answered.append(stub.Chat(said, metadata=metadata(token("mallory")), timeout=60).WhichOneof("end"))

    threads = [threading.Thread(target=chat, args=(HOSTILE[number % len(HOSTILE)],)) for number in range(CHATS)]
    for thread in threads:
        thread.start()
    soon(lambda: answered, "no turn ends")
    yield
    stop.set()
    for thread in threads:
        thread.join(60)
    print(f"  {len(answered)} turns in the meantime", flush=True)
    assert len(answered) >= CHATS and set(answered) == {"reply"}, f"turns ended as {set(answered)}"
    channel.close()


long_messages.most_times_calm = 2

ALL = [slots_in_turn, budget_in_turn, long_messages]
