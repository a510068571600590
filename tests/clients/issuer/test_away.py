"""An issuer that cannot be reached: tokens of cached keys are served, and tokens of new keys are UNAVAILABLE."""

import itertools
import time

import requests

from faces import FACES, OK, Grpc

READ = ("debug_stream", {"count": 1})
# The interval at which the server fetches unknown keys, and the longest wait of a test for them, in seconds.
TURN = 30
WAIT = 45


def test_while_the_issuer_is_away_cached_keys_serve_and_new_keys_are_unavailable(request, start):
    provider = start["provider"]()
    server = start["server"](provider)
    faces = [kind(server) for kind in FACES]
    away = request.config.getoption("--away")
    provider.tell("life", 3_600)
    # The server has the key of these tokens, but has seen none of them when the issuer leaves.
    old = [provider.of_agent(server.resource) for _ in range(away)]
    assert faces[0].call(provider.of_agent(server.resource), *READ) == (OK, "")
    provider.tell("rotate", "unannounced")
    new = provider.of_agent(server.resource)
    provider.tell("leave")
    for face, token in zip(itertools.cycle(faces), old):
        status, why = refused(server, face, new)
        assert status in ("UNAVAILABLE", "503") and "try again later" in why
        assert face.call(token, *READ) == (OK, "")
        time.sleep(1)
    headers = {"authorization": f"Bearer {new}"}
    answer = requests.post(f"{server.url}/v1/tools/{READ[0]}:call", json=READ[1], headers=headers, timeout=20)
    assert (answer.status_code, answer.json()["code"]) == (503, "AUTHENTICATION_UNAVAILABLE")
    assert 1 <= int(answer.headers["retry-after"]) <= 30
    assert "www-authenticate" not in answer.headers, "the client must not sign in again"
    provider.tell("return")
    # The gate does not wait for the next interval.
    assert away < TURN or served(faces[0], new) == (OK, "")
    for face in faces:
        face.close()


def test_an_issuer_that_is_away_at_the_start_is_found_when_it_comes(start):
    provider = start["provider"]()
    provider.tell("leave")
    server = start["server"](provider)
    provider.tell("return")
    face = Grpc(server)
    assert served(face, provider.of_agent(server.resource)) == (OK, "")
    face.close()


def refused(server, face, token):
    """Calls over a new connection of the same face, which a refusal may close."""
    other = type(face)(server)
    outcome = other.call(token, *READ)
    other.close()
    return outcome


def served(face, token):
    """Repeats a call while the keys are unavailable, and returns its outcome."""
    deadline = time.monotonic() + WAIT
    while True:
        outcome = face.call(token, *READ)
        if outcome[0] != "UNAVAILABLE" or time.monotonic() > deadline:
            return outcome
        time.sleep(0.2)
