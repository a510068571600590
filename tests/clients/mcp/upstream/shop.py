"""A server by FastMCP: over standard input and output, or at http://127.0.0.1:PORT/mcp with PORT."""

import asyncio
import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

shop = FastMCP("shop")


@shop.tool
def search(query: str) -> dict:
    """Searches the documents."""
    return {"query": query, "hits": len(query)}


@shop.tool(output_schema=None)
def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}!"


@shop.tool
def fail() -> str:
    """Fails."""
    raise ToolError("the shop is closed")


@shop.tool
async def wait(seconds: float) -> str:
    """Waits."""
    await asyncio.sleep(seconds)
    return "waited"


if __name__ == "__main__":
    if port := sys.argv[1:]:
        shop.run(transport="http", host="127.0.0.1", port=int(port[0]), path="/mcp", show_banner=False)
    else:
        shop.run(show_banner=False)
