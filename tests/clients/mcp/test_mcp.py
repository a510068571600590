"""MCP's Python client, unchanged, over each transport and in each era."""

import asyncio
import json
import time
from contextlib import suppress
from uuid import uuid4

import pytest
from mcp import Client, MCPError

WAYS = ["http", "server", "own"]
EVERY_WAY = pytest.mark.parametrize("way", WAYS)


def run(test, client):
    async def within():
        async with client as tools:
            await test(tools)

    asyncio.run(asyncio.wait_for(within(), 60))


@EVERY_WAY
def test_the_tools_are_listed_on_one_page(client, era):
    async def test(tools):
        assert tools.protocol_version == ("2025-11-25" if era == "legacy" else era)
        page = await tools.list_tools()
        assert page.next_cursor is None
        named = {tool.name: tool for tool in page.tools}
        assert len(named) > 50
        quotes, write = named["get_quotes"], named["debug_write"]
        assert quotes.annotations.read_only_hint and not quotes.annotations.destructive_hint
        assert "request_id" not in quotes.input_schema["properties"]
        assert write.input_schema["properties"]["request_id"]["type"] == "string"
        assert "request_id" not in write.input_schema["required"]
        assert quotes.output_schema["type"] == "object"

    run(test, client)


@EVERY_WAY
def test_a_result_is_structured_and_text(client):
    async def test(tools):
        result = await tools.call_tool("get_quotes", {"symbol": "AAPL"})
        assert not result.is_error
        assert result.structured_content["quotes"][0]["price"] == 193.12
        assert json.loads(result.content[0].text) == result.structured_content

    run(test, client)


@EVERY_WAY
def test_what_an_agent_can_mend_is_a_result_and_begins_with_its_code(client):
    async def test(tools):
        result = await tools.call_tool("get_performance", {"timefram": "YTD"})
        assert result.is_error and result.structured_content is None
        assert result.content[0].text.startswith("FAILED INVALID_ARGUMENT: ")
        assert "Did you mean timeframe?" in "".join(block.text for block in result.content)
        failed = await tools.call_tool("debug_fail", {"code": "NOT_FOUND"})
        assert failed.is_error and failed.content[0].text.startswith("FAILED NOT_FOUND: ")

    run(test, client)


@EVERY_WAY
def test_an_unknown_tool_is_an_error_of_the_protocol(client):
    async def test(tools):
        with pytest.raises(MCPError, match="get_quotes") as error:
            await tools.call_tool("get_quote", {"symbol": "AAPL"})
        assert error.value.error.code == -32602

    run(test, client)


@EVERY_WAY
def test_progress_rises(client):
    async def test(tools):
        heard = []

        async def hear(progress, total, message):
            heard.append((progress, total, message))

        arguments = {"duration": "0.6s", "progress_interval": "0.1s"}
        await tools.call_tool("debug_sleep", arguments, progress_callback=hear)
        assert len(heard) >= 3
        assert all(before[0] < after[0] for before, after in zip(heard, heard[1:]))

    run(test, client)


@EVERY_WAY
def test_a_write_that_is_repeated_under_its_name_is_done_once(client):
    async def test(tools):
        arguments = {"value": "x", "request_id": str(uuid4())}
        first = await tools.call_tool("debug_write", arguments)
        again = await tools.call_tool("debug_write", arguments)
        assert first.structured_content == again.structured_content
        other = await tools.call_tool("debug_write", {**arguments, "value": "y"})
        assert other.content[0].text.startswith("FAILED REQUEST_ID_REUSED: ")

    run(test, client)


@EVERY_WAY
def test_a_write_whose_client_gave_up_is_not_made_again_by_its_repeat(client):
    async def test(tools):
        async def writes(value, **options):
            written = await tools.call_tool("debug_write", value, **options)
            return written.structured_content["writes"]

        before = await writes({"value": uuid4().hex})
        slow = {"value": uuid4().hex, "duration": "0.6s"}
        with pytest.raises(MCPError):
            await writes(slow, read_timeout_seconds=0.2)
        # Once the write has ended: while it is under way an equal call is its repeat in any case.
        await asyncio.sleep(1)
        assert await writes(slow) == before + 1
        assert await writes({"value": uuid4().hex}) == before + 2

    run(test, client)


@EVERY_WAY
def test_a_call_whose_client_leaves_stops(client):
    async def test(tools):
        begun = time.monotonic()
        call = asyncio.ensure_future(tools.call_tool("debug_sleep", {"duration": "30s"}))
        await asyncio.sleep(0.3)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        await tools.call_tool("get_quotes", {"symbol": "AAPL"})
        assert time.monotonic() - begun < 5

    run(test, client)


@EVERY_WAY
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_asks_what_is_served_is_told_how_to_use_it(ways, way, mode):
    async def test(tools):
        assert tools.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert tools.server_info.name == "toolwire"
        assert "get_technicals" in tools.instructions

    run(test, Client(ways[way], mode=mode, read_timeout_seconds=30))
