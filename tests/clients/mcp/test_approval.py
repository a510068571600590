"""Calls that a person must approve, made by the Python clients of MCP and FastMCP."""

import asyncio
import json
import re
from uuid import uuid4

import pytest
from fastmcp import Client as FastClient
from fastmcp.client.elicitation import ElicitResult as FastResult
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp_types import ElicitResult

EVERY_WAY = pytest.mark.parametrize("way", ["http", "server", "own"])
BY_PROGRAM = pytest.mark.parametrize("way", ["server", "own"])
# The time-out of a call in the OpenAI Agents SDK, in seconds.
PATIENCE = 5


def run(test):
    asyncio.run(asyncio.wait_for(test(), 60))


def words(result):
    return "".join(block.text for block in result.content)


def confirmation(ways, way, value):
    """The confirmation of a call with this value, as the command line lists it; None before there is one."""
    listed = ways.run_for(way, "confirmations", "--all", "--json").splitlines()
    found = [it for it in map(json.loads, listed) if it["arguments"].get("value") == value]
    return found[0] if found else None


@EVERY_WAY
def test_a_client_without_progress_is_told_at_once_and_its_repeat_is_carried_out(ways, way, era):
    async def test():
        value = uuid4().hex
        async with Client(ways[way], mode=era, read_timeout_seconds=PATIENCE) as tools:
            told = await tools.call_tool("debug_confirm", {"value": value})
            assert told.is_error
            assert words(told).startswith("FAILED CONFIRMATION_REQUIRED: Waiting for approval: "), told
            command = re.search(r"`toolwire (approve \S+ --tool debug_confirm)", words(told))[1]
            key = re.search(r"call again with the same arguments and request_id ([0-9a-f-]{36})", words(told))[1]
            await asyncio.to_thread(ways.run_for, way, *command.split())
            done = await tools.call_tool("debug_confirm", {"value": value, "request_id": key})
            assert not done.is_error and done.structured_content["value"] == value

    run(test)


@pytest.mark.parametrize("way", ["http", "server"])
def test_a_client_that_follows_its_call_waits_for_the_person_and_goes_on(ways, way, era):
    async def test():
        value, heard = uuid4().hex, asyncio.Queue()

        async def hear(progress, total, message):
            await heard.put(message)

        async with Client(ways[way], mode=era, read_timeout_seconds=50) as tools:
            calling = asyncio.ensure_future(tools.call_tool("debug_confirm", {"value": value}, progress_callback=hear))
            waits = await heard.get()
            assert waits.startswith("Waiting for approval: "), waits
            command = re.search(r"`toolwire (approve \S+ --tool debug_confirm)", waits)[1]
            await asyncio.to_thread(ways.run, *command.split())
            done = await calling
            assert not done.is_error and done.structured_content["value"] == value

    run(test)


@EVERY_WAY
@pytest.mark.parametrize("content", [None, {}, {"look_again": True}, {"decision": "approve", "tool": "debug_confirm"}])
def test_a_library_that_accepts_by_itself_approves_nothing_and_is_asked_at_most_once(ways, way, era, content):
    async def test():
        value, asked = uuid4().hex, []

        async def accept(context, params):
            asked.append(params.message)
            return ElicitResult(action="accept", content=content)

        async with Client(ways[way], mode=era, elicitation_callback=accept, read_timeout_seconds=PATIENCE) as tools:
            for _ in range(3):
                told = await tools.call_tool("debug_confirm", {"value": value})
                assert words(told).startswith("FAILED CONFIRMATION_REQUIRED: "), told
        assert len(asked) == (0 if era == "legacy" else 1)
        assert all("in_client" in message for message in asked)
        assert (await asyncio.to_thread(confirmation, ways, way, value))["state"] == "CONFIRMATION_STATE_PENDING"

    run(test)


@BY_PROGRAM
def test_the_person_at_the_client_decides_where_it_was_started_for_that(ways, way, era):
    async def test():
        value, typed, asked = uuid4().hex, iter(["", "debug_confirm"]), []

        async def fill_in(context, params):
            asked.append(params.message)
            return ElicitResult(action="accept", content={"decision": "approve", "tool": next(typed), "reason": "mine"})

        program = ways.deciding(way)
        async with Client(program, mode=era, elicitation_callback=fill_in, read_timeout_seconds=PATIENCE) as tools:
            done = await tools.call_tool("debug_confirm", {"value": value})
            assert not done.is_error, done
        assert value in asked[0] and asked[1].startswith("Your decision was not taken: ")
        decided = await asyncio.to_thread(confirmation, ways, way, value)
        assert (decided["decided_via"], decided["reason"]) == ("mcp form", "mine")
        assert decided["state"] == "CONFIRMATION_STATE_USED"
        shown = await asyncio.to_thread(ways.run_for, way, "confirmations", decided["confirmation_id"])
        assert "via mcp form" in shown, shown

    run(test)


@BY_PROGRAM
def test_the_form_of_fastmcp_decides_too_and_its_empty_accept_does_not(ways, way, era):
    async def test():
        value, replies = uuid4().hex, []

        async def fill_in(message, response_type, params, context):
            return replies.pop()

        program = ways.deciding(way)
        config = {"mcpServers": {"toolwire": {"command": program.command, "args": program.args}}}
        async with FastClient(config, mode=era, elicitation_handler=fill_in, timeout=30) as tools:
            replies.append(FastResult(action="decline"))
            with pytest.raises(ToolError, match="FAILED CONFIRMATION_REQUIRED: Waiting for approval: "):
                await asyncio.wait_for(tools.call_tool("debug_confirm", {"value": value}), 25)
            replies.append({"decision": "approve", "tool": "debug_confirm"})
            done = await tools.call_tool("debug_confirm", {"value": value})
            assert done.structured_content["value"] == value

    run(test)
