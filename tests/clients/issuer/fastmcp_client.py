"""Signs in with FastMCP's client, unchanged, given only the URL of a server, and calls a tool: `fastmcp_client.py URL`."""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url):
    async with Client(url, auth="oauth") as client:
        result = await client.call_tool("get_fundamentals", {"symbol": "TCS"})
        print(json.dumps(result.structured_content))


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 60))
