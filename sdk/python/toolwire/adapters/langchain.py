"""For LangChain and LangGraph: `create_agent(model, tools=langchain.tools(client, client.list_tools()))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.tools import StructuredTool

from toolwire.adapters import Client, answer, answer_blocking
from toolwire.client import ToolInfo


def tools(client: Client, listed: Iterable[ToolInfo]) -> list[StructuredTool]:
    """Those that were listed, called by the client."""
    return [_tool(client, it) for it in listed]


def _tool(client: Client, info: ToolInfo) -> StructuredTool:
    def call(**arguments: Any) -> str:
        return answer_blocking(client, info.name, arguments)

    async def call_async(**arguments: Any) -> str:
        return await answer(client, info.name, arguments)

    return StructuredTool(
        name=info.name, description=info.description, args_schema=info.input_schema, func=call, coroutine=call_async
    )
