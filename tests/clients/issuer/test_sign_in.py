"""Clients of MCP that are given only the URL of the server: they find the issuer, register themselves, let their user
sign in with a browser, and call a tool. None of them is ours."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import requests

HERE = Path(__file__).parent
ERAS = ["2026-07-28", "legacy"]
LIMIT = 60
ATTEMPTS = 6


def run(command, environment, **variables):
    """Runs a program to its end and returns its output."""
    variables = {**environment, **variables}
    ended = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@pytest.fixture(params=["typescript", "python"])
def program(request):
    """The command of a program that signs in with one of the SDKs."""
    option = request.config.getoption
    if request.param == "python":
        return [sys.executable, HERE / "sign_in.py"]
    return [option("--node"), option("--typescript")]


@pytest.mark.parametrize("era", ERAS)
def test_an_sdk_signs_in_from_the_bare_url_and_calls(program, era, server, provider, environment):
    before = provider.tell("registered").count("gate-")
    result = run([*program, server.resource, era], environment, ACCOUNT="alice")
    assert json.loads(result)["structuredContent"]["symbol"] == "TCS"
    assert provider.tell("registered").count("gate-") == before + 1
    assert '"corp:alice"' in server.log.read_text()


def test_who_signs_in_may_no_more_than_their_group(program, server, environment):
    refused = json.loads(run([*program, server.resource, "2026-07-28"], environment, ACCOUNT="dave"))
    assert refused["isError"] and "TOOL_NOT_ALLOWED" in refused["content"][0]["text"]


def test_the_challenge_leads_to_the_document_and_this_to_the_issuer(server, provider):
    answer = requests.post(server.resource, json={}, timeout=20)
    place = f"{server.url}/.well-known/oauth-protected-resource/mcp"
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{place}", scope="tools"'
    document = requests.get(place, timeout=20).json()
    assert document["resource"] == server.resource and document["authorization_servers"] == [provider.url]
    assert document["scopes_supported"] == ["tools"]


def test_fastmcp_signs_in_and_calls(request, server, environment):
    command = [request.config.getoption("--fastmcp"), HERE / "fastmcp_client.py", server.resource]
    # The program answers its browser, so it must not wait for it.
    browser = f"{environment['BROWSER']} %s &"
    assert json.loads(run(command, environment, BROWSER=browser, ACCOUNT="alice"))["symbol"] == "TCS"


def test_mcpc_signs_in_and_calls(request, server, environment):
    option = request.config.getoption
    if not option("--mcpc"):
        pytest.skip("--mcpc is not given")
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory() as folder:
        opener = Path(folder, "xdg-open")
        opener.write_text('#!/bin/sh\nexec $BROWSER "$1"\n')
        opener.chmod(0o755)
        path = f"{folder}:{Path(option('--node')).parent}:{environment['PATH']}"

        def mcpc(*words):
            # Without a bus it cannot store tokens in a keyring of this machine.
            own = {"MCPC_HOME_DIR": folder, "DBUS_SESSION_BUS_ADDRESS": "", "PATH": path, "ACCOUNT": "alice"}
            return run([option("--mcpc"), *words], environment, **own)

        def connected():
            # It gives the process that it starts 5 s, which are too few on a busy machine.
            try:
                return mcpc("connect", server.resource, "@gate")
            except AssertionError as failure:
                return "within timeout" not in str(failure) and pytest.fail(str(failure))

        mcpc("login", server.resource)
        assert any(connected() for _ in range(ATTEMPTS))
        try:
            called = mcpc("@gate", "tools-call", "get_fundamentals", "symbol:=TCS", "--json")
            assert json.loads(called)["structuredContent"]["symbol"] == "TCS"
        finally:
            mcpc("@gate", "close")
