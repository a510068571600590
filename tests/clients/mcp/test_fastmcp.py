"""FastMCP's client, as its page shows it: over HTTP, by a configuration, and the errors that it raises."""

import asyncio

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError


def run(test, *arguments, **settings):
    async def within():
        async with Client(*arguments, timeout=30, **settings) as tools:
            await test(tools)

    asyncio.run(asyncio.wait_for(within(), 60))


async def quotes(tools):
    names = [tool.name for tool in await tools.list_tools()]
    assert "get_quotes" in names
    result = await tools.call_tool("get_quotes", {"symbol": "AAPL"})
    assert result.structured_content["quotes"][0]["price"] == 193.12
    # Typed by the output schema.
    assert result.data.quotes[0].price == 193.12


async def failure(tools):
    with pytest.raises(ToolError, match="FAILED INVALID_ARGUMENT: .*"):
        await tools.call_tool("get_performance", {"timefram": "YTD"})


@pytest.mark.parametrize("test", [quotes, failure])
def test_over_http(test, ways, era):
    run(test, ways.url, mode=era)


@pytest.mark.parametrize("test", [quotes, failure])
@pytest.mark.parametrize("way", ["server", "own"])
def test_by_a_configuration_of_a_client(test, ways, way, era):
    program = ways[way]
    run(test, {"mcpServers": {"toolwire": {"command": program.command, "args": program.args}}}, mode=era)
