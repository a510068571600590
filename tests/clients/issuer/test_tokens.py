"""Tokens from client credentials and from the device grant: every face accepts those for this server, and no others."""

import pytest

from parties import ELSEWHERE, RILEYS
from faces import OK

READ = ("get_fundamentals", {"symbol": "TCS"})
REFUSED = ("UNAUTHENTICATED", "401")


def test_a_token_for_this_resource_calls(face, server, provider):
    assert face.call(provider.of_agent(server.resource), *READ) == (OK, "")


def test_a_user_of_the_file_is_served_beside(face):
    assert face.call(RILEYS, *READ) == (OK, "")


def test_a_token_for_another_audience_is_refused(face, provider):
    status, why = face.call(provider.of_agent(ELSEWHERE), *READ)
    assert status in REFUSED and "the token is for another audience" in why


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("clock", "-3600"), "the token has expired"),
        (("clock", "3600"), "the token was issued in the future"),
        (("life", "7200"), "valid for longer than the 100 min that this server allows"),
    ],
    ids=lambda it: it[0] if isinstance(it, tuple) else "",
)
def test_a_token_of_another_time_is_refused(face, server, provider, words, why):
    provider.tell(*words)
    try:
        token = provider.of_agent(server.resource)
    finally:
        provider.tell("clock", "0")
        provider.tell("life", "600")
    status, said = face.call(token, *READ)
    assert status in REFUSED and why in said


def test_a_call_without_a_token_is_refused(face):
    status, _ = face.call(None, *READ)
    assert status in REFUSED


def test_an_id_token_is_no_access_token(face, server, provider):
    tokens = provider.of_user("alice", server.resource)
    assert face.call(tokens["access_token"], *READ) == (OK, "")
    status, why = face.call(tokens["id_token"], *READ)
    assert status in REFUSED and "another audience" in why


def test_a_refreshed_token_serves_as_the_first_one(face, server, provider):
    scope = "openid offline_access tools"
    tokens = provider.of_user("alice", server.resource, scope)
    form = {"client_id": "terminal", "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    refreshed = provider.asked("/token", {**form, "resource": server.resource})["access_token"]
    assert refreshed != tokens["access_token"]
    assert face.call(refreshed, *READ) == (OK, "")
