"""For pydantic-ai: `Agent(model, tools=pydantic_ai.tools(client, client.list_tools()))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.adapters import Client, answer, check, extra
from toolwire.client import ToolInfo

with extra("pydantic-ai"):
    from pydantic_ai import Tool


def tools(client: Client, listed: Iterable[ToolInfo] | None = None) -> list[Tool[Any]]:
    """Those that were listed, called by the client."""
    return [_tool(client, it) for it in check(client, listed)]


def _tool(client: Client, info: ToolInfo) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        return await answer(client, info.name, arguments)

    return Tool.from_schema(call, info.name, info.description, info.input_schema)
