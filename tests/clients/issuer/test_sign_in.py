"""Clients of MCP that are given only the URL of the server: they find the issuer, register themselves, let their user
sign in with a browser, and call a tool. None of them is ours."""

import pytest
import requests

ERAS = ["2026-07-28", "legacy"]
READ = ("get_fundamentals", {"symbol": "TCS"})


@pytest.mark.parametrize("era", ERAS)
def test_an_sdk_signs_in_from_the_bare_url_and_calls(sdk, era, server, provider):
    before = provider.tell("registered").count("gate-")
    [result] = sdk.calls(server, era, "alice", READ)
    assert result["structuredContent"]["symbol"] == "TCS"
    assert provider.tell("registered").count("gate-") == before + 1
    assert '"corp:alice"' in server.log.read_text()


def test_who_signs_in_may_no_more_than_their_group(sdk, server):
    [refused] = sdk.calls(server, ERAS[0], "dave", READ)
    assert refused["isError"] and "TOOL_NOT_ALLOWED" in refused["content"][0]["text"]


def test_the_challenge_leads_to_the_document_and_this_to_the_issuer(server, provider):
    answer = requests.post(server.resource, json={}, timeout=20)
    place = f"{server.url}/.well-known/oauth-protected-resource/mcp"
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{place}", scope="tools"'
    document = requests.get(place, timeout=20).json()
    assert document["resource"] == server.resource and document["authorization_servers"] == [provider.url]
    assert document["scopes_supported"] == ["tools"]


def test_fastmcp_signs_in_and_calls(fastmcp, server):
    [data] = fastmcp.calls(server, "alice", READ)
    assert data["symbol"] == "TCS"


def test_mcpc_signs_in_and_calls(mcpc, server):
    mcpc("login", server.resource)
    mcpc.connect(server)
    assert mcpc.call("get_fundamentals", "symbol:=TCS")["structuredContent"]["symbol"] == "TCS"
