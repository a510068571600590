"""For pydantic-ai: `Agent(model, tools=pydantic_ai.tools(client, client.list_tools()))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_ai import Tool

from toolwire.adapters import Client, answer
from toolwire.client import ToolInfo


def tools(client: Client, listed: Iterable[ToolInfo]) -> list[Tool[Any]]:
    """Those that were listed, called by the client."""
    return [_tool(client, it) for it in listed]


def _tool(client: Client, info: ToolInfo) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        return await answer(client, info.name, arguments)

    return Tool.from_schema(call, info.name, info.description, info.input_schema)
