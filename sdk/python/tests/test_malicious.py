"""A host that does what it should not, by raw messages: the calls of others go on, and memory stays bounded."""

import os
import statistics
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.raw import BOMB, CONFIGURATION, DEEP, HOST_TOKENS, USER_TOKEN, RawSlot, offer
from toolwire import Host, Refused, Toolwire
from toolwire._binary import LocalServer
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire.client import Progress
from toolwire.errors import ParseError, ResultTooLarge, ToolError

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
LIMIT = 20.0


def honest(text: str) -> dict[str, str]:
    """Returns what it is given."""
    return {"text": text}


class World:
    def __init__(self, server: LocalServer, tools: Toolwire, token: str) -> None:
        self.server, self.tools, self.token, self.number = server, tools, token, 0

    def slot(self) -> RawSlot:
        self.number += 1
        return RawSlot(self.server.url, self.token, f"evil{self.number}", f"catalogue{self.number}")

    def times(self, count: int) -> list[float]:
        """How long calls of the honest tool take, in seconds. All of them must succeed."""
        taken = []
        for number in range(count):
            began = time.perf_counter()
            assert self.tools.call("honest", {"text": str(number)}).data == {"text": str(number)}
            taken.append(time.perf_counter() - began)
        return taken


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("malicious")
    (folder / "state").mkdir()
    configuration = folder / "toolwire.toml"
    configuration.write_text(CONFIGURATION)
    before = {name: os.environ.get(name) for name in [*HOST_TOKENS, "TOOLWIRE_CONFIG"]}
    os.environ.update(HOST_TOKENS, TOOLWIRE_CONFIG=str(configuration))
    server = LocalServer(folder / "state", samples=False)
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    host = Host([honest], server=server.url, token=HOST_TOKENS["GOOD_TOKEN"], slots=4, grace=1)
    with host, Toolwire.connect(server.url, USER_TOKEN, retries=0) as tools:
        yield World(server, tools, HOST_TOKENS["EVIL_TOKEN"])
    server.close()


def call_in_background(world: World, tool: str, ends: list[Any]) -> threading.Thread:
    def call() -> None:
        try:
            ends.append(world.tools.call(tool, timeout=LIMIT).data)
        except (ToolError, Refused) as error:
            ends.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    return thread


def test_what_it_may_not_own_or_cannot_be_read_is_refused_and_the_rest_is_served(world: World) -> None:
    slot = world.slot()
    began = time.monotonic()
    welcome = slot.greet(
        offer("evil_bomb", input_schema_json=BOMB), offer("evil_conditions", approve_unless="{}"),
        offer("evil_deep", input_schema_json=DEEP), offer("evil_good"), offer("honest"), offer("not a name"),
    )
    assert time.monotonic() - began < 5
    refused = {it.tool: it.problems[0].rule for it in welcome.verdicts}
    assert refused.keys() == {"evil_bomb", "evil_conditions", "evil_deep", "honest", "not a name"}, refused
    assert (refused["honest"], refused["not a name"]) == ("owned-by-another", "bad-name")
    assert welcome.accepted == 1
    assert world.times(5)
    slot.close()


def test_what_breaks_the_protocol_ends_its_own_slot_alone(world: World) -> None:
    other_call = host_pb2.Outcome(call_id=str(uuid.uuid4()), data_json="{}")
    violations: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"outcome": other_call}, ("INVALID_ARGUMENT", "PROTOCOL_VIOLATION")),
        ({"progress": host_pb2.Progress(call_id="x", message="y")}, ("INVALID_ARGUMENT", "PROTOCOL_VIOLATION")),
    ]
    for message, ended in violations:
        slot = world.slot()
        slot.greet(offer("evil_good"))
        slot.send(**message)
        assert slot.end() == ended
        slot.close()
    slot = world.slot()
    slot.greet(offer("evil_good"))
    slot.send(outcome=host_pb2.Outcome(call_id="x", data_json="a" * (5 << 20)))
    assert slot.end()[0] in ("RESOURCE_EXHAUSTED", "OUT_OF_RANGE")
    slot.close()
    assert world.times(5)


def test_an_outcome_that_is_no_result_is_an_error_of_its_own_call(world: World) -> None:
    for data, kind in [
        ("[" * 100_000, ParseError), ('{"a":' * 5_000 + "1" + "}" * 5_000, ParseError), ("[1]", ParseError),
        ('{"a": NaN}', ParseError), ('{"a":"' + "a" * (3 << 20) + '"}', ResultTooLarge),
    ]:
        slot = world.slot()
        ends: list[Any] = []
        slot.greet(offer("evil_good"))
        thread = call_in_background(world, "evil_good", ends)
        slot.send(outcome=host_pb2.Outcome(call_id=slot.next("start").call_id, data_json=data))
        thread.join(LIMIT)
        assert isinstance(ends[0], kind), (data[:20], ends)
        slot.close()


def odd_error(**changes: Any) -> result_pb2.ToolError:
    error = result_pb2.ToolError(code=result_pb2.TOOL_ERROR_CODE_NOT_FOUND, message="no")
    error.MergeFrom(result_pb2.ToolError(**changes))
    return error


def test_what_cannot_be_carried_of_a_call_ends_that_call_and_its_slot_takes_the_next(world: World) -> None:
    violation = result_pb2.FieldViolation(pointer="p" * 9000, rule="r" * 9000, description="d" * 9000)
    waits = [{"seconds": sign * 2**63 - most, "nanos": sign * 2**31 - most} for sign, most in ((-1, 0), (1, 1))]
    waits += [{"seconds": 5, "nanos": -(2**31)}, {"seconds": -5, "nanos": 2**31 - 1}]
    outcomes: list[tuple[dict[str, Any], str]] = [
        ({}, "UNKNOWN"), ({"data_json": ""}, "PARSE_ERROR"), ({"error": result_pb2.ToolError()}, "UNKNOWN"),
        ({"error": odd_error(code=987_654)}, "UNKNOWN"), ({"error": odd_error(code=-1)}, "UNKNOWN"),
        ({"error": odd_error(message="é" * 1_500_000)}, "NOT_FOUND"),
        ({"error": odd_error(message="\0" * 5000)}, "NOT_FOUND"),
        ({"error": odd_error(origin=77, attempts=2**32 - 1)}, "NOT_FOUND"),
        ({"error": odd_error(field_violations=[violation] * 120)}, "NOT_FOUND"),
        *(({"error": odd_error(retry_after=wait)}, "NOT_FOUND") for wait in waits),
    ]
    chunks = [(bad, "PARSE_ERROR") for bad in ("{", "[]", '{"a": NaN}', '{"a":' * 40 + "1" + "}" * 40)]
    chunks.append(("x" * 3_200_000, "RESULT_TOO_LARGE"))
    slot = world.slot()
    slot.greet(offer("evil_good"))

    def begin() -> tuple[str, list[Any], threading.Thread]:
        ends: list[Any] = []
        thread = call_in_background(world, "evil_good", ends)
        return slot.next("start").call_id, ends, thread

    for outcome, code in outcomes:
        call_id, ends, thread = begin()
        slot.send(outcome=host_pb2.Outcome(call_id=call_id, **outcome))
        thread.join(LIMIT)
        assert isinstance(ends[0], ToolError), (outcome.keys(), ends)
        assert ends[0].code == code, (str(outcome)[:200], ends[0].message[:200])
        assert len(ends[0].message) <= 4096
    for chunk, code in chunks:
        call_id, ends, thread = begin()
        slot.send(chunk=host_pb2.Chunk(call_id=call_id, data_json=chunk))
        assert slot.next("cancel").call_id == call_id
        slot.send(outcome=host_pb2.Outcome(call_id=call_id, data_json="{}"))
        thread.join(LIMIT)
        assert (ends[0].code, "A part of the data" in ends[0].message) == (code, True)
    call_id, ends, thread = begin()
    slot.send(outcome=host_pb2.Outcome(call_id=call_id, data_json="x" * (5 << 20)))
    thread.join(LIMIT)
    assert ends[0].code == "RESULT_TOO_LARGE"
    slot.close()


def test_a_flood_of_progress_reaches_its_caller_ten_times_a_second_and_costs_others_little(world: World) -> None:
    calm = world.times(100)
    slot = world.slot()
    slot.greet(offer("evil_good"))
    events: list[Any] = []
    listening = threading.Thread(target=lambda: events.extend(world.tools.stream("evil_good", timeout=LIMIT)))
    listening.start()
    call_id = slot.next("start").call_id
    stop, sent = threading.Event(), 0

    def flood() -> None:
        nonlocal sent
        progress = host_pb2.WorkRequest(progress=host_pb2.Progress(call_id=call_id, message="x" * 1000))
        while not stop.is_set():
            if slot.out.qsize() < 1000:
                slot.out.put(progress)
                sent += 1
            else:
                time.sleep(0.001)

    flooding = threading.Thread(target=flood)
    flooding.start()
    began = time.monotonic()
    attacked = world.times(100)
    stop.set()
    flooding.join()
    slot.send(outcome=host_pb2.Outcome(call_id=call_id, data_json="{}"))
    listening.join(LIMIT)
    # The server reads what was sent before the outcome until then.
    lasted = time.monotonic() - began
    seen = sum(isinstance(event, Progress) for event in events)
    print(
        f"{sent} messages in {lasted:.1f} s, {seen} seen; p50 {statistics.median(calm) * 1000:.1f} → "
        f"{statistics.median(attacked) * 1000:.1f} ms, p99 {sorted(calm)[98] * 1000:.1f} → "
        f"{sorted(attacked)[98] * 1000:.1f} ms"
    )
    assert 1 <= seen <= 10 * lasted + 12, (seen, lasted)
    slot.close()


def test_slots_that_never_greet_and_never_read_hold_nobody_up(world: World) -> None:
    silent = [world.slot() for _ in range(40)]
    assert world.times(20)
    for slot in silent:
        slot.close()
    assert world.times(20)
