"""Servers of MCP as providers: FastMCP's and the TypeScript SDK's, by URL and by command, called through Toolwire."""

import asyncio
import json
import random
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from mcp import Client

HERE = Path(__file__).parent
SERVERS = ["fastmcp_http", "fastmcp_stdio", "typescript_http", "typescript_stdio"]
TOOLS = ["search", "greet", "fail", "wait"]
LIMIT = 30


def free_port():
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def listens(port):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"nothing listens on {port}")


@pytest.fixture(scope="module")
def toolwire(request, tmp_path_factory):
    """The URL for MCP of a server that has all four as providers."""
    option, folder = request.config.getoption, tmp_path_factory.mktemp("upstream")
    commands = {"fastmcp": [sys.executable, str(HERE / "shop.py")], "typescript": [option("--node"), option("--typescript")]}
    with ExitStack() as stack:
        config = ""
        for name in SERVERS:
            kind, way = name.split("_")
            target = f"command = {json.dumps(commands[kind])}"
            if way == "http":
                port = free_port()
                stack.callback(subprocess.Popen([*commands[kind], str(port)]).kill)
                listens(port)
                target = f'url = "http://127.0.0.1:{port}/mcp"'
            renames = ", ".join(f'"{tool}" = "{name}_{tool}"' for tool in TOOLS)
            config += f'[providers.{name}]\nkind = "mcp"\n{target}\ntools = {{ {renames} }}\nread = ["*_search", "*_greet"]\n'
        (folder / "toolwire.toml").write_text(config)
        command = [
            option("--binary"), "serve", "--config", folder / "toolwire.toml", "--state", folder / "state", "--no-samples",
            "--listen", "127.0.0.1:0", "--http=127.0.0.1:0", "--until-stdin-ends",
        ]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(server.wait)
        stack.callback(server.stdin.close)
        lines = iter(server.stdout.readline, "")
        found = next((found for line in lines if (found := re.match("toolwire http on (.*)", line))), None)
        assert found, "the server does not start"
        yield f"http://{found[1]}/mcp"


def run(url, test):
    async def within():
        async with Client(url, read_timeout_seconds=LIMIT) as client:
            return await test(client)

    return asyncio.run(asyncio.wait_for(within(), 2 * LIMIT))


@pytest.fixture(scope="module")
def listed(toolwire):
    async def all_are_there(client):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            named = {tool.name: tool for tool in (await client.list_tools(cache_mode="bypass")).tools}
            if len(named) >= len(SERVERS) * len(TOOLS):
                return named
            await asyncio.sleep(0.1)
        pytest.fail(f"only {sorted(named)}")

    return run(toolwire, all_are_there)


def call(url, tool, arguments=None, **options):
    return run(url, lambda client: client.call_tool(tool, arguments or {}, **options))


@pytest.mark.parametrize("server", SERVERS)
def test_a_tool_is_a_read_only_where_the_operator_says_so(listed, server):
    assert listed[f"{server}_search"].annotations.read_only_hint
    assert listed[f"{server}_wait"].annotations.destructive_hint
    assert listed[f"{server}_search"].input_schema["required"] == ["query"]


@pytest.mark.parametrize("server", SERVERS)
def test_structured_content_is_the_data_and_text_is_text(listed, toolwire, server):
    found = call(toolwire, f"{server}_search", {"query": "abc"})
    assert (found.structured_content["query"], found.structured_content["hits"]) == ("abc", 3)
    # What a provider says is from outside.
    assert found.structured_content["_meta"] == "USER_GENERATED_CONTENT_BELOW"
    assert call(toolwire, f"{server}_greet", {"name": "you"}).structured_content["text"] == "Hello, you!"


@pytest.mark.parametrize("server", SERVERS)
def test_its_failure_is_told_in_its_words(listed, toolwire, server):
    failed = call(toolwire, f"{server}_fail")
    assert failed.is_error and failed.content[0].text.startswith("FAILED UNKNOWN: ")
    assert "the shop is closed" in failed.content[0].text


@pytest.mark.parametrize("server", SERVERS)
def test_arguments_that_break_its_schema_do_not_reach_it(listed, toolwire, server):
    refused = call(toolwire, f"{server}_greet", {"nam": "you"})
    assert refused.content[0].text.startswith("FAILED INVALID_ARGUMENT: ")


@pytest.mark.parametrize("server", SERVERS)
def test_the_deadline_is_ours(listed, toolwire, server):
    begun = time.monotonic()
    late = call(toolwire, f"{server}_wait", {"seconds": 3}, meta={"toolwire/timeout_ms": 500})
    assert late.is_error and time.monotonic() - begun < 2.5
