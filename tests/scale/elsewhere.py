"""What one replica carries out, the others list, cancel and decide on; and a host serves where it has slots.

Each round begins a call at one replica and acts at another; the time is from that request until the call's caller has
its end. Rounds go over all pairs of replicas.
"""

import itertools
import queue
import threading
import time
import uuid

import grpc
from google.protobuf import duration_pb2

from replicas import APPROVER, USERS, World
from rows import Row, none_of, until, within
from toolwire.v1 import call_pb2, confirmation_service_pb2 as confirmations_pb, result_pb2, tool_service_pb2 as pb

USER = USERS[0]
SOON = 0.3
LONG = duration_pb2.Duration(seconds=60)


class Events(threading.Thread):
    """A call whose events are taken as they come, each with its instant."""

    def __init__(self, client, **request):
        super().__init__(daemon=True)
        self.stream = client.tools.InvokeTool(pb.InvokeToolRequest(**request), metadata=client.metadata, timeout=90)
        self.events = queue.Queue()
        self.start()

    def run(self):
        try:
            for response in self.stream:
                self.events.put((time.monotonic(), response.event))
        except grpc.RpcError as error:
            self.events.put((time.monotonic(), error))

    def next(self, kind):
        """The next event of this kind, and when it came."""
        while True:
            at, event = self.events.get(timeout=30)
            assert not isinstance(event, grpc.RpcError), event
            if event.WhichOneof("event") == kind:
                return at, event


def pairs(world, rounds, user=USER):
    """Clients of two replicas that differ, for each round: the user's, and one of the other user."""
    one, other = world.clients(USER), world.clients(user)
    places = itertools.cycle(itertools.permutations(range(len(one)), 2))
    return ((one[here], other[there]) for here, there in itertools.islice(places, rounds))


def cancel(world, rounds, by_request_id):
    """Seconds from CancelCall at one replica until the caller at another has the end.

    The response is that of a replica that waits for the other 300 ms at most, which a busy machine may need.
    """
    for one, other in pairs(world, rounds):
        request_id = str(uuid.uuid4()) if by_request_id else ""
        call = Events(one, tool="debug_sleep", arguments_json='{"duration": "60s"}', request_id=request_id)
        call_id = call.next("accepted")[1].call_id
        name = {"request_id": request_id} if by_request_id else {"call_id": call_id}
        began = time.monotonic()
        other.ask(other.tools.CancelCall, pb.CancelCallRequest(**name))
        at, end = call.next("result")
        assert end.result.error.code == result_pb2.TOOL_ERROR_CODE_CANCELLED, end
        yield at - began


def decide(world, rounds):
    """Seconds from a decision at one replica until the call that waits at another has the end of its write."""
    for one, other in pairs(world, rounds, APPROVER):
        request = {"tool": "debug_confirm", "arguments_json": '{"value": "x"}', "request_id": str(uuid.uuid4())}
        call = Events(one, wait_for_confirmation=LONG, **request)
        asked = call.next("awaiting_confirmation")[1].awaiting_confirmation
        approve = confirmations_pb.Approve(tool="debug_confirm")
        decision = confirmations_pb.DecideConfirmationRequest(confirmation_id=asked.confirmation_id, approve=approve)
        began = time.monotonic()
        other.ask(other.confirmations.DecideConfirmation, decision)
        at, end = call.next("result")
        assert end.result.HasField("data"), end
        yield at - began


def hear(world, rounds):
    """Seconds from a request for approval at one replica until a watch at another has it."""
    for one, other in pairs(world, rounds, APPROVER):
        watch = other.confirmations.WatchConfirmations(
            confirmations_pb.WatchConfirmationsRequest(), metadata=other.metadata, timeout=60
        )
        synced = confirmations_pb.CONFIRMATION_WATCH_TYPE_SYNCED
        while next(watch).type != synced:
            pass
        request = {"tool": "debug_confirm", "arguments_json": '{"value": "x"}', "request_id": str(uuid.uuid4())}
        began = time.monotonic()
        asked = one.ask(one.tools.CallTool, pb.CallToolRequest(**request)).confirmation_required.confirmation_id
        while next(watch).confirmation.confirmation_id != asked:
            pass
        yield time.monotonic() - began
        watch.cancel()
        deny = confirmations_pb.Deny(reason="It is a test.")
        decision = confirmations_pb.DecideConfirmationRequest(confirmation_id=asked, deny=deny)
        other.ask(other.confirmations.DecideConfirmation, decision)


def listed(world):
    """Which replicas do not list the calls of all."""
    clients, calls = world.clients(USER), []
    for client in clients:
        request_id = str(uuid.uuid4())
        call = Events(client, tool="debug_sleep", arguments_json='{"duration": "60s"}', request_id=request_id)
        calls.append(call.next("accepted")[1].call_id)
    for number, client in enumerate(clients):
        found = client.ask(client.tools.ListCalls, pb.ListCallsRequest(page_size=50)).calls
        yield from (f"replica {number}: {it}" for it in calls if it not in {call.call_id for call in found})
    for call_id in calls:
        clients[0].ask(clients[0].tools.CancelCall, pb.CancelCallRequest(call_id=call_id))


def reach(client):
    """What a call of the host's tool ends with."""
    try:
        result = client.ask(client.tools.CallTool, pb.CallToolRequest(tool="append_never")).result
        return "data" if result.HasField("data") else result_pb2.ToolErrorCode.Name(result.error.code)
    except grpc.RpcError as error:
        return error.code().name


def late(world, rounds):
    """Writes of a host whose replica is killed meanwhile, and that have no outcome at another one a while later."""
    for one in range(rounds):
        client, other = world.client(one % 3, USER), world.client((one + 1) % 3, USER)
        until(lambda: reach(client) == "data")
        request_id = str(uuid.uuid4())
        message = pb.CallToolRequest(tool="append_slowly", arguments_json='{"value": "x"}', request_id=request_id)
        call = client.tools.CallTool.future(message, metadata=client.metadata, timeout=30)
        get = pb.GetCallRequest(request_id=request_id, tool="append_slowly")
        until(lambda: asked(other, get) == call_pb2.CALL_STATE_RUNNING)
        replica = world.replicas[one % 3]
        replica.kill()
        call.exception()
        try:
            until(lambda: asked(other, get) == call_pb2.CALL_STATE_SUCCEEDED, limit=20)
        except AssertionError:
            yield f"{request_id}: {call_pb2.CallState.Name(asked(other, get))}"
        replica.start()
        client.close()


def asked(client, get):
    """The state of a call, or that it has none."""
    try:
        return client.ask(client.tools.GetCall, get).call.state
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error
        return None


def run(binary, short):
    # In a gate the times are shown only.
    rounds, is_held = (12, False) if short else (100, True)
    with World(binary) as world:
        for name, by_request_id in (("call_id", False), ("request_id", True)):
            times = list(cancel(world, rounds, by_request_id))
            yield within(f"CancelCall elsewhere, by {name}", SOON, times, is_held)
        decided = list(decide(world, rounds))
        yield within("an approval elsewhere, until the write ended", SOON, decided, is_held)
        yield within("a watch of confirmations elsewhere", SOON, list(hear(world, rounds)), is_held)
        yield none_of("calls that a replica does not list", list(listed(world)), 9)
        clients = world.clients(USER)
        world.start_host(0)
        seen = [reach(client) for client in clients]
        yield Row("a host with slots at one replica", "data there", ", ".join(seen), seen[0] == "data")
        world.end_host()
        world.start_host(0, 1, 2)
        until(lambda: all(reach(client) == "data" for client in clients))
        yield Row("a host with slots at each replica", "data", ", ".join(map(reach, clients)))
        rounds = 3 if short else 30
        yield none_of("writes of a host lost with their replica", list(late(world, rounds)), rounds)
