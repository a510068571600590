"""Rotation of keys under load: no call fails, with new tokens or with tokens issued before the rotation."""

import base64
import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor

from faces import FACES, OK

READ = ("debug_stream", {"count": 1})
CALLERS = 9
# How many calls a caller makes with one token.
CALLS_OF_TOKEN = 20
# By how much clocks may differ, in seconds.
LEEWAY = 30


class Load:
    """Callers over every face. Their tokens are alternately new, and issued before the first rotation."""

    def __init__(self, server, provider, wanted):
        self.server, self.provider, self.wanted = server, provider, wanted
        self.turns = -(-wanted // CALLERS // CALLS_OF_TOKEN)
        self.old = [provider.of_agent(server.resource) for _ in range(CALLERS * (self.turns // 2))]
        self.next_old, self.failures, self.made = itertools.count(), [], [0] * CALLERS

    def caller(self, number):
        face = FACES[number % len(FACES)](self.server)
        for turn in range(self.turns):
            is_old = turn % 2
            token = self.old[next(self.next_old)] if is_old else self.provider.of_agent(self.server.resource)
            for _ in range(CALLS_OF_TOKEN):
                outcome = face.call(token, *READ)
                self.made[number] += 1
                if outcome != (OK, ""):
                    self.failures.append((type(face).__name__, "old" if is_old else "new", outcome))
        face.close()

    def run(self, rotations):
        """Runs all calls with these rotations evenly spread among them, and returns the names of the keys."""
        names = []
        with ThreadPoolExecutor(CALLERS) as pool:
            callers = [pool.submit(self.caller, number) for number in range(CALLERS)]
            for number, rotation in enumerate(rotations):
                share = self.wanted * (number + 1) / (len(rotations) + 1)
                while sum(self.made) < share and not any(caller.done() for caller in callers):
                    time.sleep(0.002)
                names.append(self.provider.tell(*rotation))
            for caller in callers:
                caller.result()
        return names


def test_no_call_fails_while_keys_are_rotated(request, start, record_property):
    provider = start["provider"]()
    server = start["server"](provider)
    wanted = request.config.getoption("--calls")
    load, began = Load(server, provider, wanted), time.monotonic()
    # The server has the first key, must fetch the second, and gets the third with it.
    keys = load.run([["rotate"], ["rotate", "unannounced"], ["rotate"]])
    seconds, made = time.monotonic() - began, sum(load.made)
    figure = f"{made} calls in {seconds:.1f} s while {', '.join(keys)} signed in turn: {len(load.failures)} failed"
    record_property("figure", figure)
    assert made >= wanted and len(set(keys)) == 3
    assert not load.failures, f"{len(load.failures)} of {made} calls failed: {load.failures[:5]}"


def test_an_old_token_serves_after_a_rotation_until_it_expires(start):
    provider = start["provider"]()
    server = start["server"](provider)
    # It has expired, and six seconds of the leeway remain.
    provider.tell("clock", -28)
    provider.tell("life", 4)
    token = provider.of_agent(server.resource)
    payload = token.split(".")[1]
    ends = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"] + LEEWAY
    provider.tell("rotate", "unannounced")
    faces = [kind(server) for kind in FACES]
    for face in itertools.cycle(faces):
        asked = time.time()
        status, why = face.call(token, *READ)
        if status != OK:
            break
        assert asked < ends, "it has expired"
        time.sleep(0.1)
    assert "the token has expired" in why and time.time() >= ends
    for face in faces:
        face.close()
