"""Clients of MCP whose token has too little scope for a tool: on the 403 of the call they sign in again for the scopes
of its challenge, and repeat the call. None of them is ours.

By the authorization of MCP (revision 2026-07-28, *Step-Up Authorization Flow*) a client requests the union of the
scopes that it has and those of the challenge. The challenge names that union itself, since a client of the revision
before (TypeScript SDK 1) requests just its scopes.
"""

import json

import pytest

from test_sign_in import ERAS, READ

WRITE = ("debug_write", {"value": "x"})
# What the users of the group may with one scope, and with another.
RULE = """
[[auth.rules]]
who = ["group:corp/support"]
tools = ["debug_write"]
scope = "write"
"""
FIRST, THEN = {"tools"}, {"tools", "write"}


@pytest.fixture(scope="module")
def server(start, provider):
    return start["server"](provider, RULE)


@pytest.fixture
def requested(provider):
    """The scopes of this server that were requested in each sign-in since the test began."""
    before = len(json.loads(provider.tell("requested")))
    return lambda: [set(scopes.split()) & THEN for scopes in json.loads(provider.tell("requested"))[before:]]


@pytest.mark.parametrize(("era", "client_id"), [*((era, "") for era in ERAS), (ERAS[0], "desktop")])
def test_an_sdk_steps_up_and_repeats_the_call(sdk, era, client_id, server, provider, requested):
    """The SDK for Python 2.3.0 does it within the request (mcp/client/auth/oauth2.py, `step_up`). The one for
    TypeScript 2.4.0 starts the sign-in (`_stepUpAuthorize`) and ends the call with `UnauthorizedError`, as it does for
    the first sign-in; its application passes the browser's answer on and calls again."""
    registered = provider.tell("registered").count("gate-")
    read, written, again = sdk.calls(server, era, "alice", READ, WRITE, READ, client_id=client_id)
    assert read["structuredContent"] == again["structuredContent"] and not read.get("isError")
    assert written["structuredContent"]["value"] == "x"
    assert requested() == [FIRST, THEN]
    assert provider.tell("registered").count("gate-") == registered + (not client_id), "the client stays the same"


def test_fastmcp_steps_up_and_repeats_the_call(fastmcp, server, requested):
    """FastMCP 4.2.3 has it from the SDK (fastmcp/client/auth/oauth.py, `OAuth(OAuthClientProvider)`)."""
    read, written, again = fastmcp.calls(server, "alice", READ, WRITE, READ)
    assert read == again and written["value"] == "x"
    assert requested() == [FIRST, THEN]


def test_mcpc_reports_the_missing_scope_and_calls_after_a_login_for_it(mcpc, server, requested):
    """mcpc 0.2.6 does not step up: its session sends a token without a refresh token as a fixed header
    (dist/bridge/index.js, `static Bearer header`), and otherwise has no browser (dist/lib/auth/oauth-provider.js,
    `redirectToAuthorization`). It prints the refusal. A login without `--scope` requests all scopes of the document."""
    mcpc("login", server.resource, "--scope", "tools")
    mcpc.connect(server)
    assert mcpc.call("get_fundamentals", "symbol:=TCS")["structuredContent"]["symbol"] == "TCS"
    with pytest.raises(AssertionError, match="sign in for one with: tools write"):
        mcpc.call("debug_write", "value:=x")
    mcpc("@gate", "close")
    mcpc("login", server.resource)
    mcpc.connect(server)
    assert mcpc.call("debug_write", "value:=x")["structuredContent"]["value"] == "x"
    assert requested() == [FIRST, THEN]


def test_who_has_no_rule_for_a_tool_whatever_the_scope_is_not_sent_to_sign_in(sdk, server, requested):
    [refused] = sdk.calls(server, ERAS[0], "dave", WRITE)
    assert refused["isError"] and "TOOL_NOT_ALLOWED" in refused["content"][0]["text"]
    assert requested() == [FIRST]
