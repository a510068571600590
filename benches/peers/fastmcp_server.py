"""`get_quotes` as a tool of a FastMCP server: streamable HTTP, stateless, answered with JSON.

It reads its argument and looks each symbol up, as ours does, and answers with the same JSON text. It checks no
credentials, writes no log and knows no deadline.
"""

import json
import socket

from fastmcp import FastMCP
from fastmcp.tools import ToolResult

QUOTES = {
    "AAPL": {"symbol": "AAPL", "price": 193.12, "change_pct": 1.1},
    "VTI": {"symbol": "VTI", "price": 236.18, "change_pct": 0.7},
    "BND": {"symbol": "BND", "price": 72.85, "change_pct": 0.1},
    "MSFT": {"symbol": "MSFT", "price": 420.55, "change_pct": -0.6},
}

server = FastMCP("quotes")


@server.tool
async def get_quotes(symbol: str) -> ToolResult:
    """Returns the market quotes of one or several symbols."""
    quotes = [QUOTES[name] for name in symbol.split(",") if name in QUOTES]
    data = {"as_of": "2026-01-15", "quotes": quotes, "currency": "USD"}
    return ToolResult(content=json.dumps(data, separators=(",", ":")))


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"toolwire listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server.run(
        transport="http",
        path="/mcp",
        show_banner=False,
        stateless_http=True,
        json_response=True,
        sockets=[listener],
        # An access log would be another line than ours.
        uvicorn_config={"access_log": False, "log_level": "warning"},
    )
