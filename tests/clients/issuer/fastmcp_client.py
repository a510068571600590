"""Signs in with FastMCP's client, unchanged, given only the URL of a server, and calls tools:
`fastmcp_client.py URL CALLS`, where CALLS is a JSON array of `[tool, arguments]`. It prints each result on a line."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url, calls):
    async with Client(url, auth="oauth") as client:
        for tool, arguments in json.loads(calls):
            result = await client.call_tool(tool, arguments)
            print(json.dumps(result.structured_content))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
