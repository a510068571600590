"""A host that does one thing that it should not, by raw messages, again and again: `malicious.py ATTACK URL PRIORITY`.

It is the provider `evil` of tests.raw, whose tool is `evil_good`; the calls of it that an attack needs it makes itself.
Each attack yields once a round, and the rounds are counted on standard output.
"""

import contextlib
import itertools
import os
import sys
import threading
import uuid

from tests.raw import BOMB, DEEP, HOST_TOKENS, USER_TOKEN, RawSlot, offer
from toolwire import Refused, Toolwire
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire.errors import ToolError

MIB = 1 << 20
URL = sys.argv[2]
NUMBER = itertools.count()


def slot(catalogue=None):
    """A stream that has said `Hello`, of a catalogue that the server does not know unless it is named."""
    return RawSlot(URL, HOST_TOKENS["EVIL_TOKEN"], f"evil{os.getpid()}", catalogue or f"catalogue{next(NUMBER)}")


def open_with(*offers):
    """A slot with these tools, which are new, and a good one: a catalogue of which all is refused changes nothing."""
    made = slot()
    made.greet(offer("evil_good"), *offers)
    return made


def call_evil():
    """A call of `evil_good`, however it ends."""

    def call():
        with Toolwire.connect(URL, USER_TOKEN, retries=0) as tools, contextlib.suppress(ToolError, Refused):
            tools.call("evil_good", timeout=20)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def others_names():
    """Offers what others own, and what is no name."""
    while True:
        open_with(*map(offer, ["echo", "get_quotes", "look", "not a name"])).close()
        yield


def large_offers():
    """Catalogues of nearly 4 MiB, served or refused, and one that is larger than a message may be."""
    while True:
        for size in (15 << 10, 250 << 10):
            offers = (offer(f"evil_{n:03}", description="a" * size) for n in range((4 * MIB - 65_536) // size))
            open_with(*offers).close()
        made = slot()
        made.next("welcome")
        made.send(hello=made.hello(offer("evil_large", description="a" * (5 * MIB))))
        made.end()
        made.close()
        yield


def empty_offers():
    """Two million offers in one message: `offers` is field 6, and each has no byte."""
    while True:
        made = slot()
        made.next("welcome")
        hello = made.hello().SerializeToString() + b"\x32\x00" * (2 * MIB - 100)
        # `hello`, field 1, of a length that takes four bytes.
        length = bytes([len(hello) >> shift & 127 | (shift < 21) << 7 for shift in (0, 7, 14, 21)])
        made.out.put(b"\x0a" + length + hello)
        made.end()
        made.close()
        yield


def new_catalogues():
    """A thousand tools with patterns, others each time; most are over what a catalogue may cost."""
    properties = ",".join(f'"p{n}":{{"type":"string","pattern":"^[a-z]{{1,{n}}}$"}}' for n in range(1, 15))
    schema = f'{{"type":"object","properties":{{{properties}}}}}'
    while True:
        open_with(*(offer(f"evil_{n:03}", input_schema_json=schema) for n in range(999))).close()
        yield


def schema_bombs():
    """References that double, and two thousand levels."""
    while True:
        open_with(offer("evil_bomb", input_schema_json=BOMB), offer("evil_deep", input_schema_json=DEEP)).close()
        yield


def return_texts(*texts):
    """Calls that end with these."""
    made = open_with()
    for text in itertools.cycle(texts):
        thread = call_evil()
        made.send(outcome=host_pb2.Outcome(call_id=made.next("start").call_id, data_json=text))
        thread.join()
        yield


def large_results():
    """More than a result may have, and all that it may have."""
    return return_texts("a" * (4 * MIB - 100), '{"a":"' + "a" * (3 * MIB - 100) + '"}')


def deep_results():
    """Many levels, closed or not."""
    return return_texts("[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000, '{"a":' * 500_000 + "1" + "}" * 500_000)


def progress_flood():
    """Progress of four calls, as fast as it is taken; a round has 100 messages of each."""
    slots = [slot("flood") for _ in range(4)]
    for made in slots:
        made.greet(offer("evil_good"))
    _callers = [call_evil() for _ in slots]
    calls = [made.next("start").call_id for made in slots]
    progress = [host_pb2.Progress(call_id=call, message="x" * 1000) for call in calls]
    floods = [host_pb2.WorkRequest(progress=it).SerializeToString() for it in progress]
    while True:
        for made, flood in zip(slots, floods, strict=True):
            for _ in range(100):
                made.out.put(flood)
        while any(made.out.qsize() > 1000 for made in slots):
            threading.Event().wait(0.001)
        yield


def others_calls():
    """A hundred late outcomes of calls that it was not given, and one outcome of one, which ends its slot."""
    staying = open_with()
    while True:
        for _ in range(100):
            staying.send(late=host_pb2.Late(outcome=host_pb2.Outcome(call_id=str(uuid.uuid4()), data_json="{}")))
        made = slot(staying.catalogue)
        made.greet()
        made.send(outcome=host_pb2.Outcome(call_id=str(uuid.uuid4()), data_json="{}"))
        made.end()
        made.close()
        yield


def silent_slots():
    """As many streams as it may have, which say and read nothing more, and others that are refused."""
    silent = [slot() for _ in range(256)]
    while silent:
        made = slot()
        made.end()
        made.close()
        yield


if __name__ == "__main__":
    # What the attacker's own machine would pay for is not taken from the others here. At nice 19 it still keeps a
    # processor for some milliseconds that it was given once, however urgent the others are.
    if sys.argv[3] == "idle":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    print("0", flush=True)
    for count, _ in enumerate(globals()[sys.argv[1]](), 1):
        print(count, flush=True)
